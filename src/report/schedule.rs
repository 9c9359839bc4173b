//! How is a schedule drawn: a column for each worker, the row in the margin?

use super::Places;
use super::plain::plain_line;
use super::statement::{cut, statement};
use crate::base::Span;
use crate::finding::{Effect, Finding, Moment, RowState, Schedule, ScheduleKind, Worker};
use std::fmt::Write as _;

/// Widest place and widest statement in the drawing, in characters.
const PLACE: usize = 30;
const STATEMENT: usize = 36;
const GAP: &str = "  ";

/// The schedule of a finding as lines of text, the first one a heading.
pub(super) fn draw(finding: &Finding, schedule: &Schedule, places: &mut Places<'_>) -> Vec<String> {
    let rows: Vec<[String; 4]> =
        std::iter::once(heads(finding, schedule)).chain(cells(schedule, places)).collect();
    let width = |idx: usize| rows.iter().map(|it| it[idx].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    let mut out = vec![title(finding, schedule)];
    for row in &rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths).filter(|it| it.1 > 0) {
            let _ = write!(line, "{cell:width$}{GAP}");
        }
        line.push_str(&row[3]);
        out.push(line.trim_end().to_owned());
    }
    out.push(plain_line(&schedule.end).into_owned());
    out
}

/// `running`, `not done`, or nothing.
pub(super) fn state_words(row: &RowState) -> String {
    match row {
        RowState::Unknown => String::new(),
        RowState::Is(state) => plain_line(state).into_owned(),
        RowState::IsNot(states) => format!("not {}", plain_line(&states.join(", "))),
    }
}

fn title(finding: &Finding, schedule: &Schedule) -> String {
    let row = if finding.table.is_empty() {
        "row".to_owned()
    } else {
        format!("row of `{}`", plain_line(&finding.table))
    };
    match schedule.kind {
        ScheduleKind::Race => format!("schedule: two workers, one {row}"),
        ScheduleKind::Timeline => "timeline:".to_owned(),
    }
}

/// The heads of the columns: place, worker, other worker, margin.
fn heads(finding: &Finding, schedule: &Schedule) -> [String; 4] {
    let knows_row = schedule.moments.iter().any(|it| it.row != RowState::Unknown);
    let column = match (knows_row, &*finding.column) {
        (false, _) => String::new(),
        (true, "") => "row".to_owned(),
        (true, column) => format!("`{}`", plain_line(column)),
    };
    let (workers, other) = match schedule.kind {
        ScheduleKind::Race => (["worker A", "worker B"], ""),
        ScheduleKind::Timeline => (["worker", ""], "message"),
    };
    let holds = schedule.moments.iter().any(|it| matches!(it.effect, Effect::Held | Effect::Gone));
    let parts = [&*column, if holds { other } else { "" }];
    let margin = parts.iter().filter(|it| !it.is_empty()).copied().collect::<Vec<_>>().join(", ");
    let [one, two] = workers;
    ["at".to_owned(), one.to_owned(), two.to_owned(), margin]
}

fn cells(schedule: &Schedule, places: &mut Places<'_>) -> Vec<[String; 4]> {
    let mut out = Vec::with_capacity(schedule.moments.len());
    for moment in &schedule.moments {
        let text = cut(&statement(moment.span, places), STATEMENT);
        let (one, two) = match moment.worker {
            Worker::A => (text, String::new()),
            Worker::B => (String::new(), text),
        };
        out.push([place(moment.span, places), one, two, margin(moment)]);
    }
    out
}

fn margin(moment: &Moment) -> String {
    let parts = [state_words(&moment.row), moment.effect.words()];
    parts.iter().filter(|it| !it.is_empty()).cloned().collect::<Vec<_>>().join(", ")
}

/// `src/Worker.php:17`, cut in front when it is long.
fn place(span: Span, places: &mut Places<'_>) -> String {
    let text = format!("{}:{}", plain_line(places.path(span.source)), places.start(span).line);
    let excess = text.chars().count().saturating_sub(PLACE);
    if excess == 0 {
        return text;
    }
    // A whole folder goes rather than half of its name.
    let tail: String = text.chars().skip(excess + 1).collect();
    let tail = tail.split_once('/').map_or(&*tail, |it| it.1);
    format!("…/{tail}")
}
