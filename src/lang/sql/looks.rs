//! Whether a text is worth parsing: a verb at its beginning, and the verb's partner.

/// Cheap filter before [`super::parse`].
///
/// A verb in capitals is enough, so that the first piece of a text counts too; in small letters its
/// partner must follow (`update .. set`), which leaves prose out.
pub fn looks_like_sql(text: &str) -> bool {
    let text = skip_blank(text);
    let len = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (verb, rest) = text.split_at(len);
    if !(3..=9).contains(&len) || !rest.is_empty() && rest.starts_with(['-', '\'', ':', '=']) {
        return false;
    }
    let shouts = verb.bytes().all(|it| it.is_ascii_uppercase());
    let has = |words: &[&str]| words.iter().any(|it| has_word(rest, it));
    match verb.to_ascii_lowercase().as_str() {
        "update" => has(&["set"]) && !is_prose(rest) || shouts && !is_prose(rest),
        "insert" | "replace" => has(&["into"]) || shouts,
        "delete" => has(&["from"]) || shouts || rest.contains('\\') && has(&["where"]),
        "select" => {
            has(&["from"]) || shouts || ["lock(", "_lock("].iter().any(|it| rest.contains(it))
        }
        "merge" => has(&["using"]) || shouts,
        "with" => has(&["as"]) && has(&["select", "update", "delete", "insert"]),
        "begin" | "commit" | "rollback" | "start" | "savepoint" | "end" => is_control(verb, rest),
        "lock" | "unlock" => has_first(rest, &["table", "tables"]),
        "set" => {
            has_word(rest, "transaction") || has_word(rest, "autocommit") || rest.contains('=')
        }
        "exec" | "execute" | "call" => rest.contains("applock"),
        "prepare" | "declare" | "do" | "create" => {
            has(&["update", "delete", "insert", "select"]) && (shouts || has(&["as", "for"]))
        }
        _ => false,
    }
}

/// Blanks, comments and opening parentheses.
fn skip_blank(mut text: &str) -> &str {
    loop {
        text =
            text.trim_start_matches(|it: char| it.is_whitespace() || it == '(' || it == '\u{feff}');
        if let Some(rest) = text.strip_prefix("/*") {
            let Some(end) = rest.find("*/") else { return "" };
            text = &rest[end + 2..];
        } else if text.starts_with("--") || text.starts_with("# ") {
            let Some(end) = text.find('\n') else { return "" };
            text = &text[end + 1..];
        } else {
            return text;
        }
    }
}

/// Whether `word` stands in `text` as a word of its own, in any case.
fn has_word(text: &str, word: &str) -> bool {
    let bytes = text.as_bytes();
    let is_part = |it: Option<&u8>| it.is_some_and(|it| it.is_ascii_alphanumeric() || *it == b'_');
    (0..bytes.len().saturating_sub(word.len() - 1)).any(|at| {
        bytes[at..at + word.len()].eq_ignore_ascii_case(word.as_bytes())
            && !is_part(at.checked_sub(1).and_then(|it| bytes.get(it)))
            && !is_part(bytes.get(at + word.len()))
    })
}

fn has_first(rest: &str, words: &[&str]) -> bool {
    let first = rest.split_whitespace().next().unwrap_or_default();
    let first = first.trim_end_matches(';');
    words.iter().any(|it| first.eq_ignore_ascii_case(it))
}

/// `BEGIN`, `COMMIT;`, `START TRANSACTION`: nothing else follows.
fn is_control(verb: &str, rest: &str) -> bool {
    let alone = rest.trim().trim_end_matches(';').is_empty();
    let known = has_first(
        rest,
        &[
            "transaction",
            "tran",
            "work",
            "immediate",
            "exclusive",
            "deferred",
            "to",
            "and",
            "isolation",
        ],
    );
    let short = rest.len() < 120;
    match verb.to_ascii_lowercase().as_str() {
        "start" => has_first(rest, &["transaction"]),
        "savepoint" => !alone && short,
        _ => alone || (known && short) || rest.trim_start().starts_with(';'),
    }
}

/// `Update user settings`: the word behind the table is no part of an UPDATE.
fn is_prose(rest: &str) -> bool {
    let mut words = rest.split_whitespace();
    let modifiers = ["low_priority", "ignore", "only", "top", "or"];
    let table = words.find(|it| !modifiers.iter().any(|word| it.eq_ignore_ascii_case(word)));
    let is_plain = |it: &str| it.bytes().all(|it| it.is_ascii_alphabetic());
    let (Some(table), Some(second), Some(third)) = (table, words.next(), words.next()) else {
        return false;
    };
    let follows = |it: &str| {
        ["set", "as", "join", "inner", "left", "from", "use", "cross", "with", "partition"]
            .iter()
            .any(|word| it.eq_ignore_ascii_case(word))
    };
    let is_sentence = table.ends_with([':', '.', '!', '?']);
    is_sentence || (is_plain(table) && is_plain(second) && !follows(second) && !follows(third))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_pass() {
        for text in [
            "UPDATE jobs SET state = 'x'",
            "  update `jobs` set state = 'x'",
            "/* tag */ SELECT 1 FROM t",
            "(SELECT id FROM t)",
            "UPDATE ",
            "insert into t values (1)",
            "DELETE App\\Entity\\Job j WHERE j.id = 1",
            "WITH c AS (SELECT 1) UPDATE t SET a = 1",
            "BEGIN",
            "commit;",
            "START TRANSACTION",
            "BEGIN IMMEDIATE",
            "SELECT pg_advisory_xact_lock($1)",
            "LOCK TABLES jobs WRITE",
            "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
            "MERGE INTO t USING s ON (1=1) WHEN MATCHED THEN UPDATE SET a = 1",
            "UPDATE jobs j JOIN w ON w.id = j.w SET j.s = 1",
        ] {
            assert!(looks_like_sql(text), "{text}");
        }
    }

    #[test]
    fn prose_does_not() {
        for text in [
            "Update user settings",
            "Update failed: the set is empty",
            "Select a file",
            "Delete this job?",
            "Begin the work",
            "Commit message",
            "Lock the door",
            "",
            "update",
            "with love",
            "Start the queue",
            "Insert coin",
        ] {
            assert!(!looks_like_sql(text), "{text}");
        }
    }
}
