//! What does each format look like? Snapshots; regenerated with `INSTA_UPDATE=always`, read in review.

use rowrace::base::{Language, Problem, ProblemKind, Source, SourceId, Span};
use rowrace::finding::{Confidence, Finding, FindingBuilder, RuleId, Severity, StepRole};
use rowrace::report::{Format, Report, colored, write_report};
use rowrace::triage::Triaged;

const WORKER: &str = "<?php
function work(Jobs $repo, int $id): void
{
\t$job = $repo->find($id);
\tif ($job->isPending()) { // 状態 is checked
\t\t$job->start();
\t\tlog('\u{1b}[31m状態'); $repo->update($job);
\t}
}
";

const REPOSITORY: &str = "<?php
class Jobs
{
    function update(Job $job): void
    {
        $sql = <<<SQL
            UPDATE jobs
            SET status = :status
            WHERE id = :id
        SQL;
        $this->db->prepare($sql)->execute([$job->status, $job->id]);
    }
}
";

fn sources() -> Vec<Source> {
    let padding = "a,".repeat(400);
    let minified = format!("<?php {padding}\u{1b}save($job);{padding}");
    let texts = [("src/Worker.php", WORKER), ("src/Jobs.php", REPOSITORY), ("min.php", &minified)];
    let source = |(idx, (path, text)): (usize, (&str, &str))| Source {
        id: SourceId(u32::try_from(idx).expect("three")),
        path: path.to_owned(),
        language: Language::Php,
        text: text.to_owned(),
        exempt: false,
    };
    texts.into_iter().enumerate().map(source).collect()
}

/// The span of `needle` in the source at `idx`.
fn span(sources: &[Source], idx: usize, needle: &str) -> Span {
    let start = sources[idx].text.find(needle).expect("the needle is there");
    Span::new(sources[idx].id, start, start + needle.len())
}

fn builder(sources: &[Source], idx: usize, needle: &str, severity: Severity) -> FindingBuilder {
    let rule = RuleId("unguarded-transition".into());
    FindingBuilder::new(rule, severity, Confidence::High, span(sources, idx, needle))
        .subject("jobs", "status", "work")
}

fn findings(sources: &[Source]) -> Vec<Finding> {
    let at = |idx, needle| span(sources, idx, needle);
    let start = REPOSITORY.find("UPDATE").expect("a statement");
    let sql = REPOSITORY[start..].split("\n        SQL").next().expect("its text");
    let witness = builder(sources, 0, "$repo->update($job)", Severity::Error)
        .text(
            "`jobs.status` is checked on a copy and then written by id".to_owned(),
            "Two workers load the row as 'pending', both pass the check, both write.".to_owned(),
            "Add the guard to the UPDATE and look at the row count:\nAND status = 'pending'"
                .to_owned(),
        )
        .step(StepRole::Load, at(0, "$repo->find($id)"), "loaded here")
        .step(StepRole::Check, at(0, "$job->isPending()"), "checked here")
        .step(StepRole::Change, at(0, "$job->start()"), "changed to 'running' here")
        .step(StepRole::Write, at(0, "$repo->update($job)"), "written here")
        .step(StepRole::Sql, at(1, sql), "the SQL tests no state")
        .build();
    let bare = builder(sources, 1, "class Jobs", Severity::Warning)
        .text("a finding without steps".to_owned(), String::new(), String::new())
        .build();
    let minified = builder(sources, 2, "save($job)", Severity::Note)
        .text("a place in a very long line".to_owned(), String::new(), String::new())
        .step(StepRole::Write, at(2, "save($job)"), "written here")
        .step(StepRole::Sql, at(2, "a,"), "far in front")
        .build();
    vec![witness, bare, minified]
}

fn rendered(format: Format, color: bool) -> String {
    let sources = sources();
    let findings = findings(&sources).into_iter().enumerate();
    let findings: Vec<_> = findings
        .map(|(idx, finding)| Triaged { finding, fingerprint: format!("{idx:016x}") })
        .collect();
    let problems = [
        Problem {
            kind: ProblemKind::Syntax,
            path: "src/Jobs.php".to_owned(),
            span: Some(span(&sources, 1, "class")),
            message: "not understood".to_owned(),
        },
        Problem {
            kind: ProblemKind::Unreadable,
            path: "src/locked.php".to_owned(),
            span: None,
            message: "permission denied".to_owned(),
        },
    ];
    let report = Report {
        sources: &sources,
        findings: &findings,
        problems: &problems,
        stats: &[("files", 3), ("bytes", 1234)],
    };
    let mut out = Vec::new();
    write_report(&report, format, &mut *colored(&mut out, color)).expect("written to memory");
    String::from_utf8(out).expect("UTF-8")
}

#[test]
fn text() {
    insta::assert_snapshot!(rendered(Format::Text, false));
}

#[test]
fn concise() {
    insta::assert_snapshot!(rendered(Format::Concise, false));
}

#[test]
fn json() {
    insta::assert_snapshot!(rendered(Format::Json, false));
}

#[test]
fn colour_changes_no_character() {
    let mut plain = String::new();
    let colored = rendered(Format::Text, true);
    let mut chars = colored.chars();
    while let Some(it) = chars.next() {
        if it == '\u{1b}' {
            chars.by_ref().find(|it| *it == 'm');
        } else {
            plain.push(it);
        }
    }
    assert_ne!(colored, plain);
    assert_eq!(plain, rendered(Format::Text, false));
}
