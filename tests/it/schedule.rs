//! Is the schedule of a finding what the code can do: built from its own steps, in an order that happens?

use crate::run;
use rowrace::base::{Language, Lines, Source, SourceId};
use rowrace::engine::Engine;
use rowrace::finding::{Confidence, Finding, RowState, Schedule, ScheduleKind, Worker};
use rowrace::triage::triage;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// The findings in `sources`, in order.
fn findings(engine: &Engine, sources: &[Source]) -> Vec<Finding> {
    let outcome = engine.analyze(sources);
    let triage = triage(outcome.findings, sources, &rowrace::config::Config::default().into());
    triage.findings.into_iter().map(|it| it.finding).collect()
}

/// The schedule, one line for each moment: worker, role, line, state, effect.
fn lines(schedule: &Schedule, sources: &[Source]) -> String {
    let mut out = String::new();
    for moment in &schedule.moments {
        let source = &sources[moment.span.source.0 as usize];
        let line = Lines::of(&source.text).line_index(moment.span.start) + 1;
        let state = match &moment.row {
            RowState::Unknown => "?".to_owned(),
            RowState::Is(state) => state.clone(),
            RowState::IsNot(states) => format!("not {}", states.join(", ")),
        };
        let (worker, role) = (moment.worker.word(), moment.role.word());
        let effect = moment.effect.words();
        let _ = writeln!(out, "{}", format!("{worker} {role} {line} {state} {effect}").trim_end());
    }
    out + &schedule.end + "\n"
}

/// The schedule of the first finding of `rule` in a program of one PHP file.
fn php(rule: &str, body: &str) -> Option<String> {
    let text = format!("<?php\n{body}");
    let sources = [run::source("src/Worker.php", text, Language::Php)];
    let found = findings(&run::engine(), &sources).into_iter().find(|it| &*it.rule.0 == rule);
    let found = found.unwrap_or_else(|| panic!("no {rule} in {body}"));
    found.schedule.map(|it| lines(&it, &sources))
}

#[test]
fn two_workers_read_check_and_write() {
    let body = "\
function work(PDO $db, int $id): void {
    $read = $db->prepare('SELECT status FROM jobs WHERE id = ?');
    $read->execute([$id]);
    $job = $read->fetch();
    if ($job['status'] !== 'pending') { return; }
    $db->prepare(\"UPDATE jobs SET status = 'running' WHERE id = ?\")->execute([$id]);
    mail('a@b.c', 'started', '');
}
";
    let wanted = "\
A load 3 pending
B load 3 pending
A check 6 pending
B check 6 pending
A write 7 running 1 row
B write 7 running 1 row
both continue
";
    assert_eq!(php("unguarded-update", body).as_deref(), Some(wanted));
}

#[test]
fn a_load_that_is_not_known_is_left_out() {
    let body = "\
final class Worker {
    public function __construct(private Jobs $jobs, private Mailer $mailer) {}
    public function handle(Job $job): void {
        if ($job->status !== 'pending') { return; }
        $job->status = 'running';
        $this->jobs->update($job);
        $this->mailer->send($job);
    }
}
final class Jobs {
    public function __construct(private PDO $db) {}
    public function update(Job $job): void {
        $this->db->prepare('UPDATE jobs SET status = ? WHERE id = ?')
            ->execute([$job->status, $job->id]);
    }
}
final class Job { public int $id; public string $status; }
";
    let wanted = "\
A check 5 pending
B check 5 pending
A change 6 pending
A write 14 running 1 row
B change 6 running
B write 14 running 1 row
both continue
";
    assert_eq!(php("unguarded-transition", body).as_deref(), Some(wanted));
}

#[test]
fn a_loose_gate_lets_the_second_worker_in_later() {
    let body = "\
function work(PDO $db, int $id): void {
    $read = $db->prepare('SELECT status FROM jobs WHERE id = ?');
    $read->execute([$id]);
    $job = $read->fetch();
    if (!in_array($job['status'], ['pending', 'running'], true)) { return; }
    $db->prepare(\"UPDATE jobs SET status = 'running' WHERE id = ?\")->execute([$id]);
    mail('a@b.c', 'started', '');
}
";
    let wanted = "\
A load 3 pending
A check 6 pending
A write 7 running 1 row
B load 3 running
B check 6 running
B write 7 running 1 row
both continue
";
    assert_eq!(php("loose-gate", body).as_deref(), Some(wanted));
}

#[test]
fn of_a_claim_that_nobody_counts_the_loser_changes_nothing() {
    let mut programs = programs("cases");
    programs.retain(|it| it[0].path.starts_with("data-machine-gate-resumed-twice"));
    let sources = &programs[0];
    let findings = findings(&run::engine(), sources);
    let claim = findings.iter().find(|it| &*it.rule.0 == "ignored-claim").expect("a finding");
    let drawn = lines(claim.schedule.as_ref().expect("a schedule"), sources);
    let wanted = "\
A write 15 processing 1 row, not looked at
B write 15 processing 0 rows, not looked at
both continue
";
    assert!(drawn.ends_with(wanted), "{drawn}");
}

/// What no schedule may be: of statements that the finding does not show, of one worker who does more
/// than the other, or without a bad end.
#[test]
fn every_schedule_is_made_of_the_steps_of_its_finding() {
    let engine = run::engine();
    let mut count = 0;
    for sources in programs("cases") {
        for finding in findings(&engine, &sources) {
            let Some(schedule) = &finding.schedule else { continue };
            count += 1;
            assert_eq!(finding.confidence, Confidence::High, "{}", sources[0].path);
            let place = format!("{} {}", sources[0].path, finding.rule);
            assert!(!schedule.end.is_empty() && !schedule.moments.is_empty(), "{place}");
            for moment in &schedule.moments {
                let shown = finding.steps.iter().any(|it| it.span == moment.span);
                assert!(shown || moment.span == finding.primary, "{place}: {moment:?}");
            }
            let of = |worker: Worker| {
                let own = schedule.moments.iter().filter(move |it| it.worker == worker);
                own.map(|it| (it.role, it.span)).collect::<Vec<_>>()
            };
            let (one, other) = (of(Worker::A), of(Worker::B));
            match schedule.kind {
                ScheduleKind::Timeline => assert!(other.is_empty(), "{place}"),
                // A worker that comes later may stop where it has won.
                ScheduleKind::Race => assert!(one.starts_with(&other), "{place}"),
            }
        }
    }
    assert!(count > 20, "{count} schedules");
}

/// Of each bad example that a rule fires in with high confidence.
#[test]
fn the_schedules_of_the_rules() {
    let engine = run::engine();
    let mut out = String::new();
    for rule in &run::packs().rules {
        for (idx, example) in rule.bad.iter().enumerate() {
            let path = format!("src/{}-{idx}", rule.id);
            let sources = [run::source(&path, example.code.clone(), example.language)];
            let found = findings(&engine, &sources).into_iter().find(|it| it.rule == rule.id);
            let Some(finding) = found.filter(|it| it.confidence == Confidence::High) else {
                continue;
            };
            let drawn = finding.schedule.map_or("none\n".to_owned(), |it| lines(&it, &sources));
            let _ = writeln!(out, "== {path}\n{drawn}");
        }
    }
    insta::assert_snapshot!(out);
}

/// The programs below a folder of fixtures that hold a fault.
fn programs(folder: &str) -> Vec<Vec<Source>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(folder);
    let mut programs: Vec<Vec<Source>> = Vec::new();
    let mut last = None;
    for path in run::files(&root) {
        let Some(language) = run::language(&path) else { continue };
        let name = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
        let Some((case, _)) = name.split_once("/before/") else { continue };
        if last.as_deref() != Some(case) {
            programs.push(Vec::new());
            last = Some(case.to_owned());
        }
        let program = programs.last_mut().expect("one was begun");
        let id = SourceId(u32::try_from(program.len()).expect("few"));
        let text = fs::read_to_string(&path).expect("a fixture");
        program.push(Source { id, ..run::source(&name, text, language) });
    }
    programs
}
