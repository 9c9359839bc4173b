//! Which findings do expect comments cover, and what is left when they are removed?

use super::super::own::OWN_RULES;
use super::*;
use crate::base::SourceId;
use crate::finding::Severity;

fn source(language: Language, text: &str) -> Source {
    let path = "a".to_owned();
    Source { id: SourceId(0), path, language, text: text.to_owned(), exempt: false }
}

/// What is left of findings of `rule` at every `@` of `text`, complaints included.
fn triaged(language: Language, text: &str) -> Vec<Triaged> {
    let starts: Vec<usize> = text.match_indices('@').map(|(at, _)| at).collect();
    let sources = [source(language, text)];
    let finding = |&start: &usize| {
        let span = Span::new(SourceId(0), start, start + 1);
        FindingBuilder::new(RuleId("rule".into()), Severity::Error, Confidence::High, span).build()
    };
    let findings = starts.iter().map(finding).collect();
    let findings = super::super::fingerprint::fingerprinted(findings, &sources);
    let (left, suppressed) = apply(findings, &sources);
    let expected = suppressed.len();
    let complaints = |it: &Triaged| OWN_RULES.iter().any(|r| *r.id == *it.finding.rule.0);
    assert_eq!(expected, starts.len() - left.iter().filter(|it| !complaints(it)).count());
    left
}

fn left(language: Language, text: &str) -> Vec<String> {
    triaged(language, text).iter().map(|it| it.finding.rule.to_string()).collect()
}

/// `text` without what the findings say to remove.
fn repaired(language: Language, text: &str) -> String {
    let mut out = text.to_owned();
    for it in triaged(language, text).iter().rev() {
        for edit in &it.finding.edits {
            out.replace_range(edit.span.range(), &edit.replacement);
        }
    }
    out
}

#[test]
fn an_expect_comment_covers_its_line_its_statement_and_its_function() {
    for (text, wanted) in [
        ("@; // rowrace: expect[rule] one cron", &[][..]),
        ("@; # rowrace: expect[other, rule] one cron", &["unused-expect"]),
        ("@; /* rowrace: expect[rule] one cron */", &[]),
        ("// rowrace: expect[rule] one cron\n@;", &[]),
        ("// rowrace: expect[rule] one cron\r\n\r\n// more\r\n@;", &[]),
        ("// rowrace: expect[rule] one cron\n@;\n@;", &["rule"]),
        ("// rowrace: expect[rule] one cron\n$a\n  ->b()\n  ->@();", &[]),
        ("$a\n  // rowrace: expect[rule] one cron\n  ->b()\n  ->@();", &[]),
        ("$a // rowrace: expect[rule] one cron\n  ->b()\n  ->@();", &[]),
        ("$a\n  ->@()\n  ->b(); // rowrace: expect[rule] one cron", &[]),
        ("// rowrace: expect[rule] x\nif (a(\n @)) {\n b();\n}", &[]),
        ("// rowrace: expect[rule] x\nif (a()) {\n @;\n}", &["unused-expect", "rule"]),
        ("// rowrace: expect[rule] x\nt(function () {\n  @;\n});", &["unused-expect", "rule"]),
        ("case 1:\n  // rowrace: expect[rule] x\n  @;", &[]),
        ("$a; // rowrace: expect[rule] one cron\n@;", &["unused-expect", "rule"]),
        ("/**\n * rowrace: expect[rule] x\n */\n#[A]\nfunction f() {\n\n@;\n}", &[]),
        (
            "// rowrace: expect[rule] x\nfunction g() {}\nfunction f() {\n@;}",
            &["unused-expect", "rule"],
        ),
        ("// rowrace: expect[rule] x\nclass A { function f() {\n@;} }", &["unused-expect", "rule"]),
        ("@; // rowrace: expect[rule]", &["rule", "expect-without-reason"]),
        ("@; // rowrace: expect[rule] -", &["rule", "expect-without-reason"]),
        ("$x = 'rowrace: expect[rule] one'; @", &["rule"]),
        ("$x = '// rowrace: expect[rule] one'; @", &["rule"]),
        ("// as in // rowrace: expect[rule] one\n@", &["rule"]),
        ("$x = '\n  -- rowrace: expect[rule] one\n  @';", &[]),
    ] {
        assert_eq!(left(Language::Php, text), wanted, "{text}");
    }
}

#[test]
fn a_misspelt_rule_gets_the_one_that_fires_there() {
    let left = triaged(Language::Php, "@; // rowrace: expect[rul, other] one cron");
    let messages: Vec<_> = left.iter().map(|it| &*it.finding.message).collect();
    let wanted = "no finding of `rul`, `other` for this expect comment, did you mean `rule`?";
    assert_eq!(messages, ["", wanted]);
}

#[test]
fn every_language_has_its_comments() {
    assert!(left(Language::Rust, "// rowrace: expect[rule] x\nasync fn f() {\n@}").is_empty());
    assert!(left(Language::Rust, "/// rowrace: expect[rule] x\nfn f<'a>() {\n@}").is_empty());
    assert!(left(Language::Sql, "-- rowrace: expect[rule] x\n@").is_empty());
    assert!(left(Language::Sql, "/* rowrace: expect[rule] x */ UPDATE a SET\n b = @;").is_empty());
    assert_eq!(left(Language::Rust, "@ # rowrace: expect[rule] x"), ["rule"]);
}

#[test]
fn an_unused_comment_comes_with_the_edit_that_removes_it() {
    for (text, wanted) in [
        ("a;\n  // rowrace: expect[rule] x\r\n  b;\n", "a;\n  b;\n"),
        ("a; // rowrace: expect[rule] x\nb;\n", "a;\nb;\n"),
        ("@; // rowrace: expect[other, rule] x\n", "@; // rowrace: expect[rule] x\n"),
        ("/* rowrace: expect[rule] x */ a;\n", "a;\n"),
        ("a(/* rowrace: expect[rule] x */);", "a();"),
        ("/**\n * rowrace: expect[rule] x\n */\nf();", "f();"),
        (
            "/**\n * Says more.\n * rowrace: expect[rule] x\n */\nf();",
            "/**\n * Says more.\n */\nf();",
        ),
        ("a;\n// rowrace: expect[rule] x", "a;\n"),
    ] {
        assert_eq!(repaired(Language::Php, text), wanted, "{text}");
    }
}
