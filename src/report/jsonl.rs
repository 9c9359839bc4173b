//! The result as one JSON object a line, for readers that take it line by line: findings and problems
//! as in [`super::json`], then the sizes.

use super::json::{JsonFinding, JsonProblem, VERSION, finding, problem};
use super::{Places, Report};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line<'a> {
    Finding(JsonFinding<'a>),
    Problem(JsonProblem<'a>),
    End { version: u32, stats: BTreeMap<&'static str, usize> },
}

pub(super) fn write<'a, W: Write + ?Sized>(
    report: &Report<'a>,
    places: &mut Places<'a>,
    out: &mut W,
) -> io::Result<()> {
    for it in report.findings {
        write_line(&Line::Finding(finding(it, places)), out)?;
    }
    for it in report.problems {
        write_line(&Line::Problem(problem(it, places)), out)?;
    }
    let stats = report.stats.iter().copied().collect();
    write_line(&Line::End { version: VERSION, stats }, out)
}

fn write_line<W: Write + ?Sized>(line: &Line<'_>, out: &mut W) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    writeln!(out)
}
