//! Laws of the front end that no fixture pins: places in texts, types of locals, `finally` copies,
//! and what happens on absurd input.

use super::lower;
use crate::base::{Language, ProblemKind, Source, SourceId};
use crate::ir::{Callee, File, Function, InstrKind, Piece, Rvalue, Text, dump};

fn source(text: &str) -> Source {
    Source {
        id: SourceId(0),
        path: "test.php".to_owned(),
        language: Language::Php,
        text: text.to_owned(),
        exempt: false,
    }
}

fn lower_text(text: &str) -> File {
    lower(&source(text))
}

fn function<'f>(file: &'f File, short: &str) -> &'f Function {
    file.functions.iter().find(|it| &*it.short == short).expect("the function is declared")
}

fn texts(func: &Function) -> Vec<&Text> {
    let instrs = func.cfg.blocks.iter().flat_map(|it| &it.instrs);
    instrs
        .filter_map(|it| match &it.kind {
            InstrKind::Assign(_, Rvalue::Text(text)) => Some(text),
            _ => None,
        })
        .collect()
}

/// Every word of every literal piece must stand where its offset says.
fn check_places(text: &str, words: &[&str]) {
    let file = lower_text(text);
    let all: Vec<&Text> = file.functions.iter().flat_map(texts).collect();
    for word in words {
        let found = all.iter().flat_map(|it| &it.pieces).find_map(|piece| match piece {
            Piece::Lit { value, .. } => value.find(word).map(|at| (piece, at)),
            Piece::Hole(_) => None,
        });
        let (piece, at) = found.unwrap_or_else(|| panic!("{word} is in no text"));
        let place = piece.source_offset(u32::try_from(at).expect("small")) as usize;
        assert!(text[place..].starts_with(word), "{word} at {:?}", &text[place..]);
    }
}

#[test]
fn places_in_heredocs_are_true() {
    check_places(
        "<?php\n$sql = <<<\"SQL\"\n      UPDATE jobs\n        SET a = '{$x->y}',\n\t\n          \
         b = \\\"2\\\\\n      WHERE id = ${id} LIMIT 1\n      SQL;",
        &["UPDATE", "jobs", "SET", "b =", "2", "WHERE", "LIMIT"],
    );
    check_places(
        "<?php\n$sql = <<<'SQL'\n\tSELECT *\n\tFROM jobs\n\tSQL . ' WHERE \\'a\\' = ' . $b . \"\\n \\x41 LIMIT\";",
        &["SELECT", "FROM", "WHERE", "= ", "LIMIT"],
    );
    check_places("<?php $s = <<<A\r\n  a b\r\n  c d\r\n  A;", &["a b", "c d"]);
}

#[test]
fn heredocs_lose_their_indentation() {
    for (text, wanted) in [
        ("<?php $s = <<<A\n  a b\n   c\n  A;", "\"a b\\n c\""),
        ("<?php $s = <<<A\na b\nA;", "\"a b\""),
        ("<?php $s = <<<A\nA;", "''"),
        ("<?php $s = <<<A\n\nA;", "''"),
        ("<?php $s = <<<A\n  $a b\n  c $d\n  A;", "\"{a} b\\nc {d}\""),
        ("<?php $s = <<<'A'\n  $a b\\n\n  A;", "\"$a b\\\\n\""),
    ] {
        let file = lower_text(text);
        let dump = dump::dump_file(&file, text);
        assert!(dump.contains(&format!("s = {wanted}\n")), "{text:?}\n{dump}");
    }
}

#[test]
fn constants_keep_their_text() {
    let text = "<?php class A { const SQL = 'UPDATE jobs ' . self::SET . ' WHERE id = 1'; }";
    let file = lower_text(text);
    let pieces = &file.types[0].consts[0].text.as_ref().expect("a text").pieces;
    assert_eq!(pieces.len(), 3);
    assert_eq!(&text[pieces[2].source_offset(1) as usize..][..5], "WHERE");
}

#[test]
fn locals_get_documented_types() {
    let file = lower_text(
        "<?php namespace App; use Lib\\Queue;
        class Worker {
            function run(Queue $queue, $rest) {
                /** @var Job $job */
                $job = $queue->pop();
                foreach ($queue as $task) { /** @var Task|null $task */ $task->run(); }
                /** @var $db \\PDO */
                /** @var list<Task> */
                $tasks = $db->all();
                try { $db->begin(); } catch (A | \\B $e) { } catch (C $e) { }
                return function () use ($job) { return $this->stop($job); };
            }
        }",
    );
    let types = |func: &Function| {
        let typed = func.locals.iter().filter(|it| !it.name.is_empty());
        let typed = typed
            .filter_map(|it| Some(format!("{}: {}", it.name, dump::type_ref(it.ty.as_ref()?))));
        typed.collect::<Vec<_>>().join("; ")
    };
    assert_eq!(
        types(function(&file, "run")),
        "this: App\\Worker; queue: Lib\\Queue; job: App\\Job; task: App\\Task; tasks: list<App\\Task>; db: PDO; \
         e: App\\A|B|App\\C"
    );
    let closure = function(&file, "{closure#0}");
    assert_eq!(types(closure), "job: App\\Job; this: App\\Worker");
    assert_eq!(closure.class.as_deref(), Some("App\\Worker"));
    assert_eq!(closure.captures.len(), 2);
    let imports: Vec<_> = file.imports.iter().map(|it| &**it).collect();
    assert_eq!(imports, ["App\\A", "App\\C", "App\\Job", "App\\Task", "B", "Lib\\Queue", "PDO"]);
}

fn calls_of(func: &Function, name: &str) -> usize {
    let reachable = func.cfg.reverse_post_order();
    let instrs = reachable.into_iter().flat_map(|it| &func.cfg.blocks[it].instrs);
    instrs
        .filter(|it| match &it.kind {
            InstrKind::Call(call) => call.callee == Callee::Function(name.into()),
            _ => false,
        })
        .count()
}

#[test]
fn finally_is_copied_for_each_way_out() {
    for (body, copies) in [
        ("try { work(); } finally { ack(); }", 2),
        ("try { return; } finally { ack(); }", 1),
        ("try { if (a()) { return; } work(); } finally { ack(); }", 3),
        ("while (a()) { try { if (b()) break; if (c()) continue; } finally { ack(); } }", 4),
        ("try { work(); } catch (E $e) { return; } finally { ack(); }", 3),
        ("try { try { work(); } finally { ack(); } } finally { ack(); }", 4),
        ("try { exit; } finally { ack(); }", 0),
        ("try { work(); } catch (E $e) { throw $e; } finally { ack(); }", 2),
    ] {
        let file = lower_text(&format!("<?php function f() {{ {body} }}"));
        assert_eq!(calls_of(function(&file, "f"), "ack"), copies, "{body}");
    }
}

#[test]
fn nested_finally_copies_are_bounded() {
    let depth = 100;
    let text = format!(
        "<?php {} a(); {}",
        "try { a(); } finally { try { b(); } finally { ".repeat(depth),
        "} }".repeat(depth)
    );
    let file = on_big_stack(text);
    assert!(file.problems.iter().any(|it| it.kind == ProblemKind::Limit));
}

/// Lowers on a stack as large as those of the engine's threads, and checks the graphs.
fn on_big_stack(text: String) -> File {
    let run = move || {
        let file = lower_text(&text);
        for func in &file.functions {
            func.cfg.validate().expect("a valid graph");
        }
        file
    };
    let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(run);
    thread.expect("a thread").join().expect("lowering does not panic")
}

#[test]
fn deep_nesting_is_a_problem_not_a_crash() {
    for (open, middle, close) in [
        ("[", "1", "]"),
        ("!", "1", ""),
        ("f(", "1", ")"),
        ("$a[", "1", "]"),
        ("fn () => ", "1", ""),
        ("$a = ", "1", ""),
        ("$a ? 1 : (", "1", ")"),
        ("new class { function f() { return ", "1", "; } }"),
        ("\"{$a[", "1", "]}\""),
        ("match (1) { 1 => ", "1", "}"),
    ] {
        for n in [300, 10_000] {
            let text = format!("<?php $x = {}{middle}{};", open.repeat(n), close.repeat(n));
            let file = on_big_stack(text);
            assert!(!file.problems.is_empty(), "{open} {n}");
        }
    }
    for (open, close) in
        [("{", "}"), ("if ($a) ", ""), ("try {", "} finally {}"), ("while (1) {", "}")]
    {
        let n = 20_000;
        let file = on_big_stack(format!("<?php {};{}", open.repeat(n), close.repeat(n)));
        assert!(!file.problems.is_empty(), "{open}");
    }
}

#[test]
fn long_chains_are_no_nesting() {
    let n = 5_000;
    for text in [
        format!("<?php $x = 'a b'{};", " . 'c' . $d".repeat(25_000)),
        format!("<?php $x = 1{};", " + $y".repeat(n)),
        format!("<?php $x = {}1{};", "(".repeat(100_000), ")".repeat(100_000)),
        format!("<?php if ($a) {{}} {}", "elseif ($b) {} ".repeat(n)),
        format!("<?php if ($a) {{}} {}", "else if ($b) {} ".repeat(n)),
        format!("<?php if ($a{}) {{}}", " && $b".repeat(n)),
        format!("<?php $x = $a{};", "->b($c)['d']".repeat(n)),
        format!("<?php $x = $a{} ?? 1;", "?->b".repeat(n)),
        format!("<?php $x = $a{};", " ?? $b".repeat(n)),
        format!("<?php switch ($a) {{ {} }}", "case 1: f(); ".repeat(n)),
        format!("<?php $x = [{}];", "'a' => 'b c', ".repeat(n)),
        format!("<?php $x = \"{}\";", "a $b {$c} ".repeat(n)),
        format!("<?php class A {{ const B = ['a'{}]; }}", ", 'b'".repeat(n)),
        format!("<?php {}", "/** @var A $x */ ".repeat(n)),
        format!("<?php echo 1{};", ", 2".repeat(n)),
    ] {
        let head: String = text.chars().take(40).collect();
        let file = on_big_stack(text);
        assert_eq!(file.problems, [], "{head}");
    }
}

#[test]
fn any_text_can_be_lowered() {
    for text in [
        "",
        "<",
        "<?php",
        "no code",
        "<?php $",
        "<?php class",
        "<?php function f(",
        "<?php $x = \"a $",
        "<?php <<<A",
        "<?php <<<A\n",
        "<?php <<<A\nB",
        "<?php \u{0}\u{fffd}ü",
        "<?php match (1) {",
        "<?= 1",
        "<?php goto a; a: goto a;",
        "<?php break 3; continue;",
        "<?php [, $a] = $b; [] = $c; list() = $d;",
        "<?php $a->; $b::; new; clone; yield;",
        "<?php __halt_compiler(); ]]}} binary",
    ] {
        on_big_stack(text.to_owned());
    }
}
