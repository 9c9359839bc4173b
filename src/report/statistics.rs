//! How many findings are there of each rule?

use super::{Report, severity_word};
use crate::finding::Severity;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Findings of one rule and one severity.
#[derive(Serialize)]
struct Tally<'a> {
    rule: &'a str,
    severity: &'static str,
    count: usize,
}

/// Writes a line for each rule and severity, the most frequent first.
pub fn write_statistics(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let counts = counts(report);
    let width = counts.iter().map(|it| it.count.to_string().len()).max().unwrap_or(0);
    for Tally { rule, severity, count } in counts {
        writeln!(out, "{count:width$}  {severity:7}  {rule}")?;
    }
    Ok(())
}

/// Writes the same as an array of objects.
pub fn write_statistics_json(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &counts(report))?;
    writeln!(out)
}

fn counts<'a>(report: &Report<'a>) -> Vec<Tally<'a>> {
    let mut by_rule: BTreeMap<(&str, Severity), usize> = BTreeMap::new();
    for triaged in report.findings {
        *by_rule.entry((&triaged.finding.rule.0, triaged.finding.severity)).or_default() += 1;
    }
    let mut out: Vec<_> = by_rule.into_iter().collect();
    out.sort_by_key(|((rule, severity), count)| (Reverse(*count), *rule, Reverse(*severity)));
    let count =
        |((rule, severity), count)| Tally { rule, severity: severity_word(severity), count };
    out.into_iter().map(count).collect()
}
