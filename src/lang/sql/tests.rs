//! Texts in, dumps out: `fixtures/lang/sql/texts.txt` holds a text per block and, behind `=>`, what
//! it says. `‹name›` is a hole, `‹#name›` one that is known to be a number.

use super::*;
use crate::base::{Language, Name, Source, SourceId, Span};
use crate::ir::dump::dump_statement;
use crate::ir::{Assign, SqlExpr, StatementKind};
use std::fmt::Write as _;

const TEXTS: &str = include_str!("../../../fixtures/lang/sql/texts.txt");

/// The pieces of a marked text; spans point into the marked text.
fn marked(text: &str) -> SqlText {
    let mut pieces = Vec::new();
    let mut at = 0;
    let span = |start, end| Span::new(SourceId(0), start, end);
    let literal = |from: usize, to: usize| SqlPiece::Lit {
        value: Name::from(&text[from..to]),
        span: span(from, to),
        offsets: Vec::new(),
    };
    while let Some(open) = text[at..].find('‹').map(|it| at + it) {
        let Some(close) = text[open..].find('›').map(|it| open + it + '›'.len_utf8()) else {
            break;
        };
        pieces.push(literal(at, open));
        let numeric = text[open + '‹'.len_utf8()..].starts_with('#');
        pieces.push(SqlPiece::Hole { numeric, span: span(open, close) });
        at = close;
    }
    pieces.push(literal(at, text.len()));
    SqlText { pieces }
}

/// Each text of the fixture, with the lines that it must give.
fn texts() -> impl Iterator<Item = (String, Vec<&'static str>)> {
    TEXTS.split("\n\n").map(str::trim).filter(|it| !it.is_empty() && !it.starts_with('#')).map(
        |block| {
            let is_dump = |it: &&str| it.starts_with("=> ");
            let text: Vec<&str> = block.lines().filter(|it| !is_dump(it)).collect();
            let dumps = block.lines().filter(is_dump).map(|it| &it[3..]).collect();
            (text.join("\n"), dumps)
        },
    )
}

fn one(text: &str) -> Statement {
    let mut found = parse(&marked(text), None);
    assert_eq!(found.len(), 1, "{text}");
    found.remove(0)
}

#[test]
fn every_text_says_what_the_fixture_says() {
    let mut wrong = String::new();
    let mut count = 0;
    for (text, wanted) in texts() {
        let found: Vec<String> = parse(&marked(&text), None).iter().map(dump_statement).collect();
        if found != wanted {
            let lines: Vec<String> = found.iter().map(|it| format!("=> {it}")).collect();
            let _ = writeln!(wrong, "\n{text}\n{}", lines.join("\n"));
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "these texts say now:\n{wrong}");
    assert!(count > 180, "{count} texts");
}

#[test]
fn every_place_is_where_the_word_stands() {
    for (text, _) in texts() {
        let slice = |span: Span| &text[span.range()];
        for stmt in parse(&marked(&text), None) {
            let verb = slice(stmt.verb_span).to_uppercase();
            assert!(verb.chars().all(char::is_alphabetic), "{text}: verb at `{verb}`");
            assert!(stmt.span.contains(stmt.verb_span), "{text}");
            for set in &stmt.sets {
                let name = set.column.split("->").next().unwrap_or_default();
                assert!(slice(set.span).contains(name), "{text}: set `{}`", slice(set.span));
                assert!(stmt.span.contains(set.span), "{text}");
            }
            for condition in stmt.conditions.iter().filter(|it| !it.column.is_empty()) {
                let place = slice(condition.span);
                let name = condition.column.split("->").next().unwrap_or_default();
                assert!(place.contains(name), "{text}: {name} at `{place}`");
            }
        }
    }
}

#[test]
fn conditions_reach_to_their_ends() {
    let text = "UPDATE t SET a = f(1, 2), b = 3 WHERE x IN (1, 2) AND y BETWEEN 1 AND 5 AND NOT z AND w IS NOT NULL";
    let stmt = one(text);
    let at = |it: Span| &text[it.range()];
    let sets: Vec<&str> = stmt.sets.iter().map(|it| at(it.span)).collect();
    assert_eq!(sets, ["a = f(1, 2)", "b = 3"]);
    let conditions: Vec<&str> = stmt.conditions.iter().map(|it| at(it.span)).collect();
    assert_eq!(conditions, ["x IN (1, 2)", "y BETWEEN 1 AND 5", "NOT z", "w IS NOT NULL"]);
}

#[test]
fn a_text_of_pieces_from_several_places_points_into_each() {
    // const WHERE = " WHERE id = 1";  ...  "UPDATE t SET s = 'r'" . WHERE
    let span = |start, end| Span::new(SourceId(0), start, end);
    let piece = |value: &str, start: usize| SqlPiece::Lit {
        value: value.into(),
        span: span(start, start + value.len()),
        offsets: Vec::new(),
    };
    let text =
        SqlText { pieces: vec![piece("UPDATE t SET s = 'r'", 500), piece(" WHERE id = 1", 20)] };
    let found = parse(&text, None);
    assert_eq!(found[0].verb_span, span(500, 506));
    assert_eq!(found[0].sets[0].span, span(513, 520));
    assert_eq!(found[0].conditions[0].span, span(27, 33));
}

#[test]
fn an_indented_heredoc_points_at_its_lines() {
    // Four blanks of indentation are stripped from every line of the value.
    let source = "    UPDATE t\n    SET s = 'r'\n    WHERE id = 1";
    let value = "UPDATE t\nSET s = 'r'\nWHERE id = 1";
    let offsets = vec![(0, 4), (9, 17), (21, 33)];
    let span = Span::new(SourceId(0), 0, source.len());
    let text = SqlText { pieces: vec![SqlPiece::Lit { value: value.into(), span, offsets }] };
    let stmt = parse(&text, None).remove(0);
    assert_eq!(&source[stmt.verb_span.range()], "UPDATE");
    assert_eq!(&source[stmt.sets[0].span.range()], "s = 'r'");
    assert_eq!(&source[stmt.conditions[0].span.range()], "id = 1");
}

#[test]
fn upsert_actions_have_a_place() {
    for (text, wanted) in [
        ("INSERT INTO t (a) VALUES (1) ON CONFLICT (a) DO UPDATE SET a = 2", "DO UPDATE"),
        ("INSERT INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE a = 2", "ON DUPLICATE"),
    ] {
        let place = one(text).upsert.and_then(|it| it.span).expect("a place");
        assert_eq!(&text[place.range()], wanted);
    }
}

#[test]
fn a_hole_is_told_by_its_number() {
    let stmt = one("UPDATE t SET s = ‹a› WHERE id = ‹b› ‹c›");
    assert_eq!(stmt.condition_holes, [2]);
    let stmt = one("UPDATE t SET s = 1 WHERE ‹a› AND ‹b›");
    assert_eq!(stmt.condition_holes, [0, 1]);
    let stmt = one("SELECT * FROM t ‹a›");
    assert_eq!(stmt.condition_holes, [0]);
    assert!(!stmt.complete);
}

#[test]
fn positions_run_through_the_text() {
    let found = parse(&marked("UPDATE a SET x = ? WHERE id = ?; UPDATE b SET y = ?"), None);
    let last: &Assign = &found[1].sets[0];
    assert_eq!(last.value, SqlExpr::Param(crate::ir::ParamRef::Position(2)));
    assert!(found.iter().all(|it| it.positions == 3));
}

#[test]
fn the_text_tells_its_engine() {
    for (text, wanted) in [
        ("UPDATE t SET a = $1 WHERE id = $2", Some(Engine::Postgres)),
        ("UPDATE `t` SET a = 1", Some(Engine::MySql)),
        ("INSERT INTO t (a) VALUES (?) ON DUPLICATE KEY UPDATE a = 1", Some(Engine::MySql)),
        ("UPDATE t SET a = ?1", Some(Engine::Sqlite)),
        ("UPDATE [t] SET a = 1", Some(Engine::MsSql)),
        ("UPDATE t SET a = :1 WHERE ROWNUM = 1", Some(Engine::Oracle)),
        ("UPDATE t SET a = ?", None),
    ] {
        assert_eq!(one(text).engine, wanted, "{text}");
    }
}

#[test]
fn double_quotes_are_texts_or_names_by_engine() {
    let value = |engine| {
        let text = "UPDATE t SET s = 1 WHERE s = \"new\"";
        parse(&marked(text), engine).remove(0).conditions.remove(0).values.remove(0)
    };
    assert_eq!(value(None), SqlExpr::Str("new".into()));
    assert_eq!(value(Some(Engine::MySql)), SqlExpr::Str("new".into()));
    assert_eq!(value(Some(Engine::Postgres)), SqlExpr::Column("new".into()));
}

#[test]
fn pipes_are_or_in_mysql_only() {
    let count = |engine| {
        let text = "UPDATE t SET s = 1 WHERE a || b";
        parse(&marked(text), engine).remove(0).conditions.remove(0).any.len()
    };
    assert_eq!(count(Some(Engine::MySql)), 2);
    assert_eq!(count(Some(Engine::Postgres)), 0);
}

#[test]
fn a_fragment_is_read_as_a_condition() {
    let read = |text: &str| {
        let (conditions, complete) = parse_condition(&marked(text), None);
        let columns: Vec<String> = conditions.iter().map(|it| it.column.to_string()).collect();
        (columns.join(" "), complete)
    };
    assert_eq!(read("id = :id AND state = :queued"), ("id state".to_owned(), true));
    assert_eq!(read("WHERE j.id = ? AND j.state IN (?, ?)"), ("id state".to_owned(), true));
    assert_eq!(read("AND id = ‹id› ORDER BY id"), ("id".to_owned(), true));
    assert_eq!(read("id = 1 AND "), ("id".to_owned(), false));
    assert_eq!(read("id = 1 AND ‹more›"), ("id ".to_owned(), false));
    assert_eq!(read("id = 1 ‹more›"), ("id".to_owned(), false));
    assert_eq!(read("OR id = 1"), (String::new(), false));
    assert_eq!(read(""), (String::new(), true));
    assert_eq!(read("id = 'open"), ("id".to_owned(), false));
}

fn script(text: &str) -> (Vec<String>, Vec<(usize, String)>) {
    let source = Source {
        id: SourceId(0),
        path: "a.sql".to_owned(),
        language: Language::Sql,
        text: text.to_owned(),
        exempt: false,
    };
    let file = lower(&source);
    let line = |span: Option<Span>| {
        span.map_or(0, |it| text[..it.start as usize].matches('\n').count() + 1)
    };
    let problems = file.problems.iter().map(|it| (line(it.span), it.message.clone())).collect();
    (file.statements.iter().map(dump_statement).collect(), problems)
}

#[test]
fn a_bad_statement_costs_itself_only() {
    let (found, problems) = script("UPDATE a SET x = 1;\n\nFROB the knob;\nUPDATE b SET y = 2;\n");
    assert_eq!(found.len(), 2);
    assert_eq!(problems, [(3, "no statement begins like this".to_owned())]);
}

#[test]
fn an_open_quote_costs_its_statement() {
    let (found, problems) =
        script("UPDATE a SET x = 1;\nUPDATE b SET y = 'oops;\nUPDATE c SET z = 3;\n");
    assert_eq!(problems, [(2, "a quote is not closed".to_owned())]);
    assert!(found[0].starts_with("Update a"), "{found:?}");
}

#[test]
fn comments_of_a_file_are_kept() {
    let text = "-- one\nUPDATE a SET x = 1 /* two */; # three\n";
    let source = Source {
        id: SourceId(0),
        path: "a.sql".to_owned(),
        language: Language::Sql,
        text: text.to_owned(),
        exempt: false,
    };
    let texts: Vec<String> = lower(&source).comments.into_iter().map(|it| it.text).collect();
    assert_eq!(texts, ["one", "two", "three"]);
}

/// Whatever is done to a text, it gives statements or none, and every place lies in the text.
fn survives(text: &str, engine: Option<Engine>) {
    for stmt in parse(&marked(text), engine) {
        for span in [stmt.verb_span, stmt.span] {
            assert!(text.get(span.range()).is_some(), "{text}: {span:?}");
        }
    }
    let _ = parse_condition(&marked(text), engine);
    let _ = looks_like_sql(text);
}

#[test]
fn truncated_texts_do_not_panic() {
    for (text, _) in texts() {
        for end in text.char_indices().map(|it| it.0).step_by(3) {
            survives(&text[..end], None);
        }
    }
}

#[test]
fn texts_with_a_word_missing_or_doubled_do_not_panic() {
    for (idx, (text, _)) in texts().enumerate() {
        let engines = [None, Some(Engine::Postgres), Some(Engine::MySql), Some(Engine::MsSql)];
        let engine = engines[idx % engines.len()];
        let words: Vec<&str> = text.split(' ').collect();
        for skipped in 0..words.len() {
            let mut fewer = words.clone();
            fewer.remove(skipped);
            survives(&fewer.join(" "), engine);
            let mut more = words.clone();
            more.insert(skipped, words[(skipped * 7 + 3) % words.len()]);
            survives(&more.join(" "), engine);
        }
    }
}

#[test]
fn texts_with_a_character_changed_do_not_panic() {
    let marks = [
        '\'', '"', '`', '(', ')', '[', '{', '$', '%', ':', '?', '\\', '‹', ';', '#', 'é',
        '\u{e000}',
    ];
    for (idx, (text, _)) in texts().enumerate() {
        for (number, (at, it)) in text.char_indices().enumerate().skip(idx % 5).step_by(5) {
            let mark = marks[(number + idx) % marks.len()];
            survives(&format!("{}{mark}{}", &text[..at], &text[at + it.len_utf8()..]), None);
        }
    }
}

#[test]
fn hostile_texts_end() {
    let deep = |open: &str, close: &str, count: usize| {
        format!("UPDATE t SET s = 1 WHERE {}a{} = 1", open.repeat(count), close.repeat(count))
    };
    let chain = |word: &str, count: usize| {
        format!("UPDATE t SET s = 1 WHERE {}", vec!["a = 1"; count].join(word))
    };
    for text in [
        deep("(", ")", 100_000),
        deep("NOT ", "", 100_000),
        deep("f(", ")", 10_000),
        deep("(SELECT ", ")", 5_000),
        deep("(UPDATE a SET b = ", ")", 5_000),
        chain(" AND ", 4_900),
        chain(" OR ", 4_900),
        chain(" AND ", 100_000),
        chain(" + ", 20_000),
        format!("UPDATE t SET s = 1 WHERE id IN ({})", vec!["1"; 100_000].join(",")),
        format!("UPDATE t SET {} WHERE id = 1", vec!["a = 1"; 20_000].join(",")),
        "/*".repeat(50_000),
        "'".repeat(50_001),
        "UPDATE ".repeat(20_000),
        "WITH a AS (".repeat(5_000),
        "{".repeat(50_000),
        "$".repeat(50_000),
        "%".repeat(50_000),
    ] {
        let span = Span::new(SourceId(0), 0, text.len());
        let _ = parse(&SqlText::literal(text.as_str(), span), None);
        let _ = script(&text);
    }
}

#[test]
fn a_long_chain_is_still_read() {
    let text = format!("UPDATE t SET s = 1 WHERE {}", vec!["a = 1"; 3_000].join(" AND "));
    let stmt = one(&text);
    assert_eq!(stmt.kind, StatementKind::Update);
    assert_eq!(stmt.conditions.len(), 3_000);
}
#[test]
fn scripts_of_every_engine() {
    for (name, text, wanted) in [
        (
            "mysql",
            include_str!("../../../fixtures/lang/sql/mysql.sql"),
            include_str!("../../../fixtures/lang/sql/mysql.ir"),
        ),
        (
            "postgres",
            include_str!("../../../fixtures/lang/sql/postgres.sql"),
            include_str!("../../../fixtures/lang/sql/postgres.ir"),
        ),
        (
            "sqlserver",
            include_str!("../../../fixtures/lang/sql/sqlserver.sql"),
            include_str!("../../../fixtures/lang/sql/sqlserver.ir"),
        ),
        (
            "sqlite",
            include_str!("../../../fixtures/lang/sql/sqlite.sql"),
            include_str!("../../../fixtures/lang/sql/sqlite.ir"),
        ),
    ] {
        let source = Source {
            id: SourceId(0),
            path: format!("{name}.sql"),
            language: Language::Sql,
            text: text.to_owned(),
            exempt: false,
        };
        let found = crate::ir::dump::dump_file(&lower(&source), text);
        assert_eq!(found.trim(), wanted.trim(), "{name} says now:\n{found}");
    }
}

#[test]
fn a_select_lists_its_columns() {
    let columns = |text: &str| {
        one(text).columns.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(columns("SELECT j.id, status AS s, now() AS t, j.* FROM jobs j"), "id status t *");
    assert_eq!(columns("SELECT COUNT(*) AS n FROM jobs"), "n");
    assert_eq!(columns("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"), "repeatable read");
}

#[test]
fn a_text_of_the_ir_keeps_its_holes() {
    let span = Span::new(SourceId(0), 0, 40);
    let hole = crate::ir::Hole {
        value: crate::ir::Operand::Const(crate::ir::Const::Unknown),
        span,
        numeric: true,
    };
    let text = crate::ir::Text {
        pieces: vec![
            crate::ir::Piece::Lit { value: "UPDATE t SET a = ".into(), span, offsets: Vec::new() },
            crate::ir::Piece::Hole(hole),
        ],
    };
    let stmt = parse(&SqlText::from(&text), None).remove(0);
    assert_eq!(stmt.sets[0].value, SqlExpr::Param(crate::ir::ParamRef::Hole(0)));
}
