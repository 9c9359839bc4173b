//! Names as code writes them, and the few ways in which they are compared.

use std::borrow::Cow;
use std::sync::Arc;

/// A shared, immutable name: `App\Model\Job`, `crate::job::Job`, `markStarted`, `status`.
pub type Name = Arc<str>;

/// The part behind the last `\`, `::`, `.` or `/`.
pub fn last_segment(name: &str) -> &str {
    name.rsplit(['\\', ':', '.', '/']).next().unwrap_or(name)
}

/// `JobStatus`, `jobStatus`, `Job-Status` and `job_status` all become `job_status`.
/// Quotes (`` ` ``, `"`, `[`, `]`) and a leading `_` are dropped.
pub fn snake_case(name: &str) -> String {
    folded(name).into_owned()
}

/// The same as [`snake_case`]; a name that is spelled so already is not copied.
pub fn folded(name: &str) -> Cow<'_, str> {
    let plain = |it: u8| {
        it.is_ascii() && !matches!(it, b'A'..=b'Z' | b'`' | b'"' | b'[' | b']' | b'-' | b' ')
    };
    if name.bytes().all(plain) {
        return Cow::Borrowed(name.trim_start_matches('_'));
    }
    Cow::Owned(fold(name))
}

fn fold(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    let mut previous_lower = false;
    let mut chars = name.chars().filter(|it| !matches!(it, '`' | '"' | '[' | ']')).peekable();
    while let Some(it) = chars.next() {
        let next_lower = chars.peek().is_some_and(|it| it.is_lowercase());
        if it.is_uppercase() {
            if previous_lower || (next_lower && !out.is_empty() && !out.ends_with('_')) {
                out.push('_');
            }
            out.extend(it.to_lowercase());
            previous_lower = false;
        } else if it == '-' || it == ' ' {
            out.push('_');
            previous_lower = false;
        } else {
            out.push(it);
            previous_lower = it.is_lowercase() || it.is_ascii_digit();
        }
    }
    let leading = out.len() - out.trim_start_matches('_').len();
    out.drain(..leading);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snake_case_folds_every_spelling() {
        for (given, wanted) in [
            ("JobStatus", "job_status"),
            ("jobStatus", "job_status"),
            ("`job_status`", "job_status"),
            ("_status", "status"),
            ("HTTPStatus", "http_status"),
            ("TicketState", "ticket_state"),
            ("ID", "id"),
            ("choreID", "chore_id"),
            ("__status", "status"),
            ("Job-Status", "job_status"),
            ("ÄnderungsDatum", "änderungs_datum"),
        ] {
            assert_eq!(snake_case(given), wanted, "{given}");
        }
    }

    #[test]
    fn last_segment_of_both_languages() {
        assert_eq!(last_segment("App\\Model\\Job"), "Job");
        assert_eq!(last_segment("crate::job::Job"), "Job");
        assert_eq!(last_segment("Job"), "Job");
    }
}
