//! What does each format look like? Snapshots; regenerated with `INSTA_UPDATE=always`, read in review.

use rowrace::base::{Language, Problem, ProblemKind, Source, SourceId, Span};
use rowrace::finding::{
    Confidence, Edit, Effect, Finding, FindingBuilder, Moment, RowState, RuleId, Schedule,
    ScheduleKind, Severity, StepRole, Worker,
};
use rowrace::report::{Format, Report, RuleCard, colored, write_report, write_summary};
use rowrace::triage::{Suppressed, SuppressedBy, Triaged};

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
    let texts = [
        ("src/Worker.php", WORKER),
        ("src/Jobs.php", REPOSITORY),
        ("src/min 100%, [1]:\u{1b}[1m.php", &minified),
    ];
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
        .schedule(Some(schedule(sources)))
        .build();
    let replacement = "final class Jobs".to_owned();
    let bare = builder(sources, 1, "class Jobs", Severity::Warning)
        .text("a finding without steps".to_owned(), String::new(), "make it final".to_owned())
        .edit(Edit { span: at(1, "class Jobs"), replacement })
        .build();
    let minified = builder(sources, 2, "save($job)", Severity::Note)
        .text("a place in a very long line".to_owned(), String::new(), String::new())
        .step(StepRole::Write, at(2, "save($job)"), "written here")
        .step(StepRole::Sql, at(2, "a,"), "far in front")
        .build();
    vec![witness, bare, minified]
}

/// Two workers on one row.
fn schedule(sources: &[Source]) -> Schedule {
    let at = |needle| span(sources, 0, needle);
    let update = span(sources, 1, "UPDATE");
    let (pending, running) = (RowState::Is("pending".into()), RowState::Is("running".into()));
    let one = Effect::Matches(1);
    let mut moments = Vec::new();
    for (worker, role, span, row, effect) in [
        (Worker::A, StepRole::Load, at("$repo->find($id)"), &pending, Effect::None),
        (Worker::B, StepRole::Load, at("$repo->find($id)"), &pending, Effect::None),
        (Worker::A, StepRole::Sql, update, &running, one),
        (Worker::B, StepRole::Sql, update, &running, one),
    ] {
        moments.push(Moment { worker, role, span, row: row.clone(), effect });
    }
    Schedule { kind: ScheduleKind::Race, moments, end: "both continue".to_owned() }
}

fn card() -> RuleCard<'static> {
    RuleCard {
        id: "unguarded-transition",
        title: "A loaded row is checked and then written back by its key",
        severity: [Some(Severity::Error), Some(Severity::Warning), Some(Severity::Note)],
        why: "Two workers both win.".to_owned(),
        help: "Put the old state into the WHERE.".to_owned(),
        bad: vec![(Language::Php, "$repo->update($job);\n")],
        good: Vec::new(),
        can_be_expected: true,
    }
}

/// The sample in that format.
pub(crate) fn rendered(format: Format, color: bool) -> String {
    with_report(|report, out| write_report(report, format, &mut *colored(out, color)))
}

fn with_report(write: impl FnOnce(&Report<'_>, &mut Vec<u8>) -> std::io::Result<()>) -> String {
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
    let expected = Suppressed {
        triaged: Triaged { fingerprint: "f".repeat(16), ..findings[1].clone() },
        by: SuppressedBy::Comment,
        reason: "one cron job".to_owned(),
    };
    let report = Report {
        sources: &sources,
        findings: &findings,
        problems: &problems,
        stats: &[("files", 3), ("bytes", 1234)],
        suppressed: &[expected],
        rules: &[card()],
        root: "/home/me/my app",
    };
    let mut out = Vec::new();
    write(&report, &mut out).expect("written to memory");
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
fn jsonl() {
    insta::assert_snapshot!(rendered(Format::Jsonl, false));
}

#[test]
fn sarif() {
    let version = format!("\"{}\"", env!("CARGO_PKG_VERSION"));
    insta::assert_snapshot!(rendered(Format::Sarif, false).replace(&version, "\"VERSION\""));
}

#[test]
fn github() {
    insta::assert_snapshot!(rendered(Format::Github, false));
}

#[test]
fn gitlab() {
    insta::assert_snapshot!(rendered(Format::Gitlab, false));
}

#[test]
fn checkstyle() {
    insta::assert_snapshot!(rendered(Format::Checkstyle, false));
}

#[test]
fn junit() {
    insta::assert_snapshot!(rendered(Format::Junit, false));
}

#[test]
fn lsp() {
    insta::assert_snapshot!(rendered(Format::Lsp, false));
}

#[test]
fn summary() {
    insta::assert_snapshot!(with_report(|report, out| write_summary(report, out)));
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
