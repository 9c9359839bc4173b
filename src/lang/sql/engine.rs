//! Which engine a text is for, by what only one of them takes.

use super::token::{Lexed, Mark};
use crate::ir::{Engine, ParamRef};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::Token;

/// The engine that has the most evidence; none when two have as much.
pub(super) fn evidence<'t>(text: &str, tokens: impl Iterator<Item = &'t Lexed>) -> Option<Engine> {
    let mut counts = [0_u32; 5];
    let mut prev = (Keyword::NoKeyword, Keyword::NoKeyword);
    for token in tokens {
        if let Some(engine) = of_token(text, token).or_else(|| of_words(prev, token.keyword())) {
            counts[engine as usize] += 1;
        }
        prev = (prev.1, token.keyword());
    }
    let best = *counts.iter().max()?;
    let mut leaders = ENGINES.iter().filter(|it| counts[**it as usize] == best);
    let leader = leaders.next().filter(|_| best > 0)?;
    leaders.next().is_none().then_some(*leader)
}

const ENGINES: [Engine; 5] =
    [Engine::Postgres, Engine::MySql, Engine::Sqlite, Engine::MsSql, Engine::Oracle];

fn of_token(text: &str, token: &Lexed) -> Option<Engine> {
    let written = text.get(token.start as usize..token.end as usize).unwrap_or_default();
    match &token.token {
        Token::DoubleColon
        | Token::LongArrow
        | Token::HashArrow
        | Token::HashLongArrow
        | Token::AtArrow
        | Token::ArrowAt
        | Token::DollarQuotedString(_) => Some(Engine::Postgres),
        Token::SingleQuotedString(_) if written.contains("\\'") => Some(Engine::MySql),
        Token::Word(word) => match word.quote_style {
            Some('`') => Some(Engine::MySql),
            Some('[') => Some(Engine::MsSql),
            Some(_) => None,
            None if token.is_param() => of_param(written, token),
            None => of_name(&word.value.to_lowercase()),
        },
        _ => None,
    }
}

fn of_param(written: &str, token: &Lexed) -> Option<Engine> {
    let [atom] = token.atoms.as_slice() else { return None };
    let Mark::Known(ParamRef::Position(_)) = atom.mark else { return None };
    match written.as_bytes() {
        [b'$', ..] => Some(Engine::Postgres),
        [b'?', _, ..] => Some(Engine::Sqlite),
        [b':', ..] => Some(Engine::Oracle),
        _ => None,
    }
}

fn of_name(name: &str) -> Option<Engine> {
    Some(match name {
        "ilike" | "jsonb_set" | "jsonb" | "timestamptz" | "to_jsonb" => Engine::Postgres,
        it if it.starts_with("pg_") => Engine::Postgres,
        "get_lock"
        | "release_lock"
        | "unix_timestamp"
        | "last_insert_id"
        | "date_sub"
        | "date_add"
        | "from_unixtime"
        | "utc_timestamp"
        | "straight_join"
        | "sql_calc_found_rows" => Engine::MySql,
        "strftime" | "julianday" | "unixepoch" | "glob" | "last_insert_rowid" => Engine::Sqlite,
        "getdate" | "getutcdate" | "sysutcdatetime" | "sysdatetime" | "updlock" | "readpast"
        | "rowlock" | "xlock" | "dateadd" | "sp_getapplock" | "newid" => Engine::MsSql,
        "sysdate" | "rownum" | "systimestamp" | "nvl" | "dual" => Engine::Oracle,
        _ => return None,
    })
}

fn of_words(prev: (Keyword, Keyword), keyword: Keyword) -> Option<Engine> {
    Some(match (prev.0, prev.1, keyword) {
        (_, Keyword::ON, Keyword::DUPLICATE)
        | (_, Keyword::INSERT, Keyword::IGNORE)
        | (_, Keyword::LOCK, Keyword::TABLES)
        | (Keyword::IN, Keyword::SHARE, Keyword::MODE) => Engine::MySql,
        (_, Keyword::INSERT | Keyword::UPDATE, Keyword::OR)
        | (_, Keyword::BEGIN, Keyword::IMMEDIATE) => Engine::Sqlite,
        (_, Keyword::SELECT | Keyword::UPDATE | Keyword::DELETE, Keyword::TOP)
        | (_, _, Keyword::OUTPUT) => Engine::MsSql,
        _ => return None,
    })
}
