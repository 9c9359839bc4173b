//! Is what the formats for programs write what their published schemas ask for?

use crate::output::rendered;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use rowrace::report::Format;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn schema(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schemas").join(name)
}

/// What is wrong with `value` by the JSON Schema of that name.
fn complaints(name: &str, value: &Value) -> Vec<String> {
    let text = fs::read_to_string(schema(name)).expect("a schema");
    // A pattern of that edition is no regular expression; the final standard has it so.
    let text = text.replace("|^[a-zA-Z]{2}-[a-zA-Z]{2}]?$", "(-[a-zA-Z]{2})?$");
    let schema: Value = serde_json::from_str(&text).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    validator.iter_errors(value).map(|it| format!("{}: {it}", it.instance_path())).collect()
}

#[test]
fn sarif_is_valid() {
    let log: Value = serde_json::from_str(&rendered(Format::Sarif, false)).expect("JSON");
    assert_eq!(complaints("sarif-2.1.0-rtm.5.json", &log), Vec::<String>::new());
    let broken = serde_json::json!({ "version": "2.1.0", "runs": [{}] });
    assert!(!complaints("sarif-2.1.0-rtm.5.json", &broken).is_empty());
}

/// What GitHub asks for beyond the schema.
#[test]
fn sarif_has_what_code_scanning_reads() {
    let log: Value = serde_json::from_str(&rendered(Format::Sarif, false)).expect("JSON");
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    for rule in rules {
        for part in ["shortDescription", "fullDescription", "help"] {
            assert!(rule[part]["text"].as_str().is_some_and(|it| !it.is_empty()), "{rule}");
        }
        assert!(rule["help"]["markdown"].is_string(), "{rule}");
    }
    let results = run["results"].as_array().expect("results");
    for result in results {
        let idx = usize::try_from(result["ruleIndex"].as_u64().expect("an index")).expect("small");
        assert_eq!(rules[idx]["id"], result["ruleId"]);
        assert!(result["partialFingerprints"]["primaryLocationLineHash"].is_string());
        let uri = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
        let uri = uri.as_str().expect("a URI");
        assert!(uri.bytes().all(|it| it.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&it)));
    }
    let (suppressed, open): (Vec<_>, Vec<_>) =
        results.iter().partition(|it| it["suppressions"] != serde_json::json!([]));
    assert_eq!((suppressed.len(), open.len()), (1, 3));
    assert_eq!(suppressed[0]["suppressions"][0]["justification"], "one cron job");
    let flows = open[0]["codeFlows"].as_array().expect("flows");
    assert_eq!(flows[1]["threadFlows"].as_array().map(Vec::len), Some(2));
    let fix = &open[1]["fixes"][0]["artifactChanges"][0]["replacements"][0];
    assert_eq!(fix["insertedContent"]["text"], "final class Jobs");
}

#[test]
fn gitlab_code_quality_is_valid() {
    let entries: Value = serde_json::from_str(&rendered(Format::Gitlab, false)).expect("JSON");
    let entries = entries.as_array().expect("a list");
    let mut prints = BTreeSet::new();
    for entry in entries {
        assert_eq!(complaints("gitlab-code-quality.json", entry), Vec::<String>::new());
        let severity = entry["severity"].as_str().expect("a word");
        assert!(["info", "minor", "major", "critical", "blocker"].contains(&severity));
        assert!(prints.insert(entry["fingerprint"].to_string()), "twice: {entry}");
    }
    assert_eq!(entries.len(), 3);
}

#[test]
fn checkstyle_is_valid() {
    expect_valid("checkstyle.xsd", &rendered(Format::Checkstyle, false));
}

#[test]
fn junit_is_valid() {
    expect_valid("junit-10.xsd", &rendered(Format::Junit, false));
}

/// Asks the structure that the schema declares, and `xmllint` for the rest where there is one.
fn expect_valid(name: &str, text: &str) {
    let declared = declared(&fs::read_to_string(schema(name)).expect("a schema"));
    assert_eq!(disagreements(text, &declared), Vec::<String>::new());
    let folder = tempfile::TempDir::new().expect("a folder");
    let path = folder.path().join("report.xml");
    fs::write(&path, text).expect("written");
    let mut lint = Command::new("xmllint");
    lint.args(["--noout", "--schema"]).arg(schema(name)).arg(&path);
    let Ok(output) = lint.output() else { return };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Elements of a schema, each with its attributes (true: required) and the elements inside.
type Declared = BTreeMap<String, (BTreeMap<String, bool>, BTreeSet<String>)>;

fn declared(schema: &str) -> Declared {
    let mut out = Declared::new();
    let mut reader = Reader::from_str(schema);
    // Names of the elements that are open; an inner one of its own type has none.
    let mut open: Vec<Option<String>> = Vec::new();
    loop {
        let event = reader.read_event().expect("a schema");
        let (start, is_empty) = match &event {
            Event::Start(start) => (start, false),
            Event::Empty(start) => (start, true),
            Event::End(end) if end.name().as_ref() == "xs:element" => {
                open.pop();
                continue;
            }
            Event::Eof => return out,
            _ => continue,
        };
        match (start.name().as_ref(), attribute(start, "name"), attribute(start, "ref")) {
            ("xs:element", Some(name), _) if !is_empty || open.is_empty() => {
                out.entry(name.clone()).or_default();
                if !is_empty {
                    open.push(Some(name));
                }
            }
            ("xs:element", _, Some(inner)) => {
                if let Some(Some(name)) = open.last() {
                    out.entry(name.clone()).or_default().1.insert(inner);
                }
            }
            ("xs:attribute", Some(inner), _) => {
                let is_required = attribute(start, "use").is_some_and(|it| it == "required");
                if let Some(Some(name)) = open.last() {
                    out.entry(name.clone()).or_default().0.insert(inner, is_required);
                }
            }
            _ => (),
        }
    }
}

fn attribute(start: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = start.attributes().flatten().find(|it| it.key.as_ref() == name)?;
    Some(found.value.into_owned())
}

/// Where a document has an element or attribute that is not declared, or lacks a required one.
fn disagreements(text: &str, declared: &Declared) -> Vec<String> {
    let mut out = Vec::new();
    let mut reader = Reader::from_str(text);
    let mut open: Vec<String> = Vec::new();
    loop {
        let event = reader.read_event().unwrap_or_else(|error| panic!("{error} in {text}"));
        let (start, is_empty) = match &event {
            Event::Start(start) => (start, false),
            Event::Empty(start) => (start, true),
            Event::End(_) => {
                open.pop();
                continue;
            }
            Event::Eof => return out,
            _ => continue,
        };
        let name = start.name().as_ref().to_owned();
        let Some((attributes, _)) = declared.get(&name) else {
            out.push(format!("<{name}> is not declared"));
            continue;
        };
        if let Some(parent) = open.last()
            && !declared[parent].1.contains(&name)
        {
            out.push(format!("<{name}> may not stand in <{parent}>"));
        }
        let given: BTreeSet<String> = start
            .attributes()
            .map(|it| it.expect("an attribute").key.as_ref().to_owned())
            .collect();
        let strange = given.iter().filter(|it| !attributes.contains_key(*it));
        out.extend(strange.map(|it| format!("{it} is no attribute of <{name}>")));
        let missing = attributes.iter().filter(|it| *it.1 && !given.contains(it.0));
        out.extend(missing.map(|it| format!("<{name}> lacks {}", it.0)));
        if !is_empty {
            open.push(name);
        }
    }
}
