//! Which markers would make a fixture say what is true today?

pub(crate) use rowrace::marker::{Correction, Found, Kind, Marker, corrections, markers};
use std::path::Path;

/// How far a finding may stand from its marker.
const TOLERANCE: usize = 2;
/// How many lines of a finding count.
const SPAN_LINES: usize = 12;

/// `text` of the file at `path` with the corrections that concern it.
pub(crate) fn corrected(path: &str, text: &str, corrections: &[Correction]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut marks = Vec::new();
    let mut added = Vec::new();
    for correction in corrections {
        match correction {
            Correction::Mark(marker, kind) if marker.path == path => marks.push((marker, *kind)),
            Correction::Add(found) if found.path == path => added.push(found),
            Correction::Mark(..) | Correction::Add(_) => (),
        }
    }
    // Additions first and everything from the end: places in front stay where they are.
    added.sort_by_key(|it| it.line);
    for found in added.iter().rev() {
        add_spurious(&mut lines, found, path);
    }
    marks.sort_by_key(|(marker, _)| (marker.at, marker.range.start));
    for (marker, kind) in marks.into_iter().rev() {
        rewrite(&mut lines, marker, kind);
    }
    let mut out = lines.join("\n");
    out.push('\n');
    out
}

fn rewrite(lines: &mut Vec<String>, marker: &Marker, kind: Option<Kind>) {
    let line = &mut lines[marker.at - 1];
    match kind {
        Some(Kind::Fires) => line.replace_range(marker.words.clone(), &marker.rule),
        Some(Kind::Missing) => {
            line.replace_range(marker.words.clone(), &format!("MISSING {}", marker.rule));
        }
        Some(Kind::Spurious) | None => {
            line.replace_range(marker.range.clone(), "");
            *line = line.trim_end().to_owned();
            if line.is_empty() {
                lines.remove(marker.at - 1);
            }
        }
    }
}

/// Marks a finding behind the end of a statement, where a comment can stand: a line of a string that runs
/// over several lines cannot hold one.
fn add_spurious(lines: &mut Vec<String>, found: &Found, path: &str) {
    let is_sql = Path::new(path).extension().is_some_and(|it| it == "sql");
    let opener = if is_sql { "--~" } else { "//~" };
    let ends = |it: &String| it.contains(opener) || it.trim_end().ends_with([';', '{', '}']);
    let start = found.line.saturating_sub(1).min(lines.len() - 1);
    let Some(at) = (start..lines.len()).find(|&it| ends(&lines[it])) else { return };
    let last = found.end_line.min(found.line + SPAN_LINES) + TOLERANCE;
    if at < last {
        lines[at] = format!("{} {opener} SPURIOUS {}", lines[at], found.rule);
    } else {
        let carets = "^".repeat(at + 2 - found.line);
        lines.insert(at + 1, format!("{opener}{carets} SPURIOUS {}", found.rule));
    }
}

#[test]
fn corrections_make_the_markers_true() {
    let text =
        "a(; //~ one\nx\n\n\nb; //~ SPURIOUS two\n\n\n\nc; //~ MISSING three\n\n\n\nd(\n  1);\n";
    let found = |line, rule: &str, is_note| Found {
        path: "a.php".to_owned(),
        line,
        end_line: line,
        rule: rule.to_owned(),
        is_note,
    };
    let all = [found(9, "three", false), found(13, "four", false), found(1, "five", true)];
    let after = corrected("a.php", text, &corrections(&markers("a.php", text), &all));
    let wanted =
        "a(; //~ MISSING one\nx\n\n\nb;\n\n\n\nc; //~ three\n\n\n\nd(\n  1); //~ SPURIOUS four\n";
    assert_eq!(after, wanted);
    assert_eq!(corrections(&markers("a.php", &after), &all), []);
}
