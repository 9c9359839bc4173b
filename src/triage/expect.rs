//! Which findings does the code itself answer for?
//!
//! ```text
//! // rowrace: expect[unguarded-update] only one cron process runs this
//! ```
//!
//! The comment stands on the line of the finding, on a line of its own above it, or above the function
//! that holds it. The reason is required. A comment without one silences nothing and is itself a finding;
//! so is a comment that nothing answers to. Comments are found in the text, line by line: this stage
//! sees no syntax tree, and the form is strict enough to stand only in comments.

use super::{Suppressed, SuppressedBy, Triaged};
use crate::base::{Language, Source, SourceId, Span, last_segment};
use crate::finding::{Confidence, Finding, FindingBuilder, RuleId, Severity};

/// A rule about expect comments; no TOML file defines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpectRule {
    /// Its id.
    pub id: &'static str,
    /// The fault in one line.
    pub title: &'static str,
    /// How much it weighs.
    pub severity: Severity,
    /// Why it matters.
    pub why: &'static str,
    /// What to do.
    pub help: &'static str,
}

/// The rules about expect comments, by id.
pub static EXPECT_RULES: [ExpectRule; 2] = [WITHOUT_REASON, UNUSED];

const WITHOUT_REASON: ExpectRule = ExpectRule {
    id: "expect-without-reason",
    title: "an expect comment gives no reason",
    severity: Severity::Warning,
    why: "Whoever meets the comment later cannot tell whether the race is still harmless.",
    help: "Say behind the bracket why two workers cannot meet here.",
};

const UNUSED: ExpectRule = ExpectRule {
    id: "unused-expect",
    title: "an expect comment matches no finding",
    severity: Severity::Note,
    why: "The fault is gone, or the comment stands in the wrong place and hides the next one.",
    help: "Remove the comment, or the rule from its brackets.",
};

const MARK: &str = "rowrace: expect[";

/// One expect comment.
#[derive(Debug)]
struct Expect<'a> {
    span: Span,
    rules: Vec<&'a str>,
    has_reason: bool,
    reason: &'a str,
    /// Line of the comment, from 0.
    line: usize,
    /// First line of code below, when the comment has a line of its own.
    below: Option<usize>,
}

/// Takes out what is expected, and adds what is wrong with the comments themselves.
/// Gives the remaining findings, in order, and those that were taken out.
pub(super) fn apply(findings: Vec<Triaged>, sources: &[Source]) -> (Vec<Triaged>, Vec<Suppressed>) {
    let commented: Vec<&Source> =
        sources.iter().filter(|it| !it.exempt && it.text.contains(MARK)).collect();
    if commented.is_empty() {
        return (findings, Vec::new());
    }
    let mut kept = findings;
    let mut suppressed = Vec::new();
    let mut complaints = Vec::new();
    for source in commented {
        apply_in(source, &mut kept, &mut suppressed, &mut complaints);
    }
    kept.extend(super::fingerprint::fingerprinted(complaints, sources));
    (super::order::reordered(kept, sources), suppressed)
}

fn apply_in(
    source: &Source,
    findings: &mut Vec<Triaged>,
    suppressed: &mut Vec<Suppressed>,
    complaints: &mut Vec<Finding>,
) {
    let page = Page::of(source);
    for expect in page.expects() {
        if !expect.has_reason {
            complaints.push(complaint(
                &WITHOUT_REASON,
                &expect,
                "an expect comment needs a reason",
            ));
            continue;
        }
        for rule in &expect.rules {
            let before = suppressed.len();
            let answers = |it: &Finding| *it.rule.0 == **rule && page.covers(&expect, it);
            let taken = findings.extract_if(.., |it| answers(&it.finding));
            suppressed.extend(taken.map(|triaged| {
                let reason = expect.reason.to_owned();
                Suppressed { triaged, by: SuppressedBy::Comment, reason }
            }));
            if suppressed.len() == before {
                let message = format!("no finding of `{rule}` for this expect comment");
                complaints.push(complaint(&UNUSED, &expect, &message));
            }
        }
    }
}

fn complaint(rule: &ExpectRule, expect: &Expect<'_>, message: &str) -> Finding {
    let id = RuleId(rule.id.into());
    FindingBuilder::new(id, rule.severity, Confidence::High, expect.span)
        .text(message.to_owned(), rule.why.to_owned(), rule.help.to_owned())
        .build()
}

/// A source cut into lines.
struct Page<'a> {
    id: SourceId,
    language: Language,
    /// First byte and text of each line.
    lines: Vec<(usize, &'a str)>,
}

impl<'a> Page<'a> {
    fn of(source: &'a Source) -> Self {
        let mut start = 0;
        let mut lines = Vec::new();
        for line in source.text.split_inclusive('\n') {
            lines.push((start, line.trim_end_matches(['\n', '\r'])));
            start += line.len();
        }
        Self { id: source.id, language: source.language, lines }
    }

    fn expects(&self) -> Vec<Expect<'a>> {
        (0..self.lines.len()).filter_map(|line| self.expect_at(line)).collect()
    }

    fn expect_at(&self, line: usize) -> Option<Expect<'a>> {
        let (start, text) = self.lines[line];
        let at = text.find(MARK)?;
        let code = self.before_opener(&text[..at])?;
        let (rules, reason) = text[at + MARK.len()..].split_once(']')?;
        let reason = reason.split("*/").next().unwrap_or_default();
        let end = at + MARK.len() + rules.len() + 1 + reason.trim_end().len();
        Some(Expect {
            span: Span::new(self.id, start + at, start + end),
            rules: rules.split(',').map(str::trim).collect(),
            has_reason: reason.chars().any(char::is_alphanumeric),
            reason: reason.trim(),
            line,
            below: code.trim().is_empty().then(|| self.code_below(line)),
        })
    }

    /// The code in front of a comment opener that ends `text`; `None` when there is no opener, or when
    /// it stands in a string or is quoted in another comment.
    fn before_opener<'t>(&self, text: &'t str) -> Option<&'t str> {
        let text = text.trim_end();
        let openers: &[&str] = match self.language {
            Language::Php => &["///", "//", "/**", "/*", "#"],
            Language::Rust => &["///", "//", "/**", "/*"],
            Language::Sql => &["--", "#", "/*"],
        };
        let code = openers.iter().find_map(|it| text.strip_suffix(it));
        // A line inside of a block comment begins with its star.
        let code = code.or_else(|| text.strip_suffix('*').filter(|it| it.trim().is_empty()))?;
        let is_quoted = self.is_in_string(code) || self.is_comment(code.trim());
        (code.trim().is_empty() || !is_quoted).then_some(code)
    }

    /// Whether a quote is open at the end of `code`. An apostrophe in Rust is mostly a lifetime.
    fn is_in_string(&self, code: &str) -> bool {
        let is_open = |quote: char| code.matches(quote).count() % 2 == 1;
        is_open('"') || (self.language != Language::Rust && is_open('\''))
    }

    /// The first line below `line` that is neither comment, attribute nor blank.
    fn code_below(&self, line: usize) -> usize {
        let is_code = |&it: &usize| !self.is_comment(self.lines[it].1.trim_start());
        (line + 1..self.lines.len()).find(is_code).unwrap_or(self.lines.len())
    }

    fn is_comment(&self, text: &str) -> bool {
        let common = ["//", "#", "/*", "* ", "*/"];
        text.is_empty()
            || text == "*"
            || common.iter().any(|it| text.starts_with(it))
            || (self.language == Language::Sql && text.starts_with("--"))
    }

    /// Whether `expect` speaks of `finding`, apart from its rule.
    fn covers(&self, expect: &Expect<'_>, finding: &Finding) -> bool {
        if finding.primary.source != self.id {
            return false;
        }
        let first = self.line_of(finding.primary.start as usize);
        let last = self.line_of(finding.primary.end.saturating_sub(1) as usize).max(first);
        let Some(below) = expect.below else { return (first..=last).contains(&expect.line) };
        (first..=last).contains(&below) || self.is_function_of(below, first, finding)
    }

    /// Whether line `at` declares the function that `finding`, further down in line `first`, lies in.
    fn is_function_of(&self, at: usize, first: usize, finding: &Finding) -> bool {
        if at >= first {
            return false;
        }
        // Another function of that name in between is the one that holds the finding.
        finding.symbol.split("::").map(last_segment).any(|name| {
            let declares = |line: usize| declares_function(self.lines[line].1, name);
            declares(at) && !(at + 1..=first).any(declares)
        })
    }

    fn line_of(&self, offset: usize) -> usize {
        self.lines.partition_point(|(start, _)| *start <= offset).saturating_sub(1)
    }
}

/// Whether `line` has `function name` or `fn name` in it.
fn declares_function(line: &str, name: &str) -> bool {
    let is_word = |it: &str| it == "function" || it == "fn";
    let mut words = line.split(|it: char| !(it.is_alphanumeric() || it == '_'));
    !name.is_empty()
        && words.any(is_word)
        && words.find(|it| !it.is_empty()).is_some_and(|it| it.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rules that are left of findings of `rule` at every `@` of `text`, inside function `f`.
    fn left(language: Language, text: &str) -> Vec<String> {
        let starts: Vec<usize> = text.match_indices('@').map(|(at, _)| at).collect();
        let id = SourceId(0);
        let path = "a".to_owned();
        let source = Source { id, path, language, text: text.to_owned(), exempt: false };
        let finding = |&start: &usize| {
            let span = Span::new(id, start, start + 1);
            FindingBuilder::new(RuleId("rule".into()), Severity::Error, Confidence::High, span)
                .subject("", "", "App\\Job::f")
                .build()
        };
        let findings = starts.iter().map(finding).collect();
        let sources = [source];
        let findings = super::super::fingerprint::fingerprinted(findings, &sources);
        let (left, suppressed) = apply(findings, &sources);
        let expected = suppressed.len();
        let complaints = |it: &Triaged| EXPECT_RULES.iter().any(|r| *r.id == *it.finding.rule.0);
        assert_eq!(expected, starts.len() - left.iter().filter(|it| !complaints(it)).count());
        left.iter().map(|it| it.finding.rule.to_string()).collect()
    }

    #[test]
    fn an_expect_comment_covers_its_line_the_line_below_and_the_function() {
        for (text, wanted) in [
            ("@; // rowrace: expect[rule] one cron", &[][..]),
            ("@; # rowrace: expect[other, rule] one cron", &["unused-expect"]),
            ("@; /* rowrace: expect[rule] one cron */", &[]),
            ("// rowrace: expect[rule] one cron\n@;", &[]),
            ("// rowrace: expect[rule] one cron\r\n\r\n// more\r\n@;", &[]),
            ("// rowrace: expect[rule] one cron\n@;\n@;", &["rule"]),
            ("$a; // rowrace: expect[rule] one cron\n@;", &["unused-expect", "rule"]),
            ("/**\n * rowrace: expect[rule] x\n */\n#[A]\nfunction f() {\n\n@;\n@;}", &[]),
            ("// rowrace: expect[rule] x\nfunction g() {\n\n@;}", &["unused-expect", "rule"]),
            (
                "// rowrace: expect[rule] x\nfunction f(){}\nfunction f() {\n@;}",
                &["unused-expect", "rule"],
            ),
            ("@; // rowrace: expect[rule]", &["rule", "expect-without-reason"]),
            ("@; // rowrace: expect[rule] -", &["rule", "expect-without-reason"]),
            ("$x = 'rowrace: expect[rule] one'; @", &["rule"]),
            ("$x = '// rowrace: expect[rule] one'; @", &["rule"]),
            ("// as in // rowrace: expect[rule] one\n@", &["rule"]),
        ] {
            assert_eq!(left(Language::Php, text), wanted, "{text}");
        }
    }

    #[test]
    fn every_language_has_its_comments() {
        assert!(left(Language::Rust, "// rowrace: expect[rule] x\nasync fn f() {\n@}").is_empty());
        assert!(left(Language::Sql, "-- rowrace: expect[rule] x\n@").is_empty());
        assert_eq!(left(Language::Rust, "@ # rowrace: expect[rule] x"), ["rule"]);
    }
}
