//! Loader tests: every kind of mistake points at the right bytes; the built-in files are whole.

use super::{PackError, Packs};
use crate::base::Language;
use crate::finding::Confidence;
use crate::model::{Access, ColumnClass, Role};
use crate::rule::{FaultKind, Placeholder, Severity, Values};

fn load(files: &[(&str, &str)]) -> Result<Packs, Vec<PackError>> {
    let files: Vec<(String, String)> =
        files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    Packs::load(&files, &[]).map_err(|errors| errors.0)
}

/// The complaints about one file: the text that each points at, its message and its help.
fn complaints(text: &str) -> Vec<(String, String, String)> {
    let errors = load(&[("my.toml", text)]).expect_err("the file is wrong");
    errors
        .iter()
        .map(|it| {
            let place = it.place.as_ref().expect("it comes from a file");
            let at = place.text[place.span.clone()].to_owned();
            (at, it.kind.to_string(), it.help.clone().unwrap_or_default())
        })
        .collect()
}

fn complaint(text: &str) -> (String, String, String) {
    let mut all = complaints(text);
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

#[track_caller]
fn assert_complaint(text: &str, at: &str, message: &str, help: &str) {
    let (found_at, found_message, found_help) = complaint(text);
    assert_eq!((&*found_at, &*found_message), (at, message));
    assert!(found_help.contains(help), "{found_help}");
}

/// A pack with one call row.
fn call(rows: &str) -> String {
    format!("[pack]\nid = \"mine\"\n\n[[call]]\n{rows}")
}

/// A rule without its texts.
fn rule(rows: &str) -> String {
    format!("id = \"my-rule\"\nfault = \"stale-check\"\n{rows}")
}

#[test]
fn broken_toml_is_pointed_at() {
    let (at, message, _) = complaint("[pack]\nid = mine\n");
    assert_eq!(at, "mine");
    assert!(message.contains("string values must be quoted"), "{message}");
}

#[test]
fn a_file_of_no_kind_is_refused() {
    let message = "this is neither a pack nor a rule";
    assert_complaint("title = 1\n", "title = 1", message, "a pack has `[pack]`");
}

#[test]
fn a_wrong_role_is_pointed_at() {
    let text = call("name = \"find\"\nrole = \"laod\"\n");
    assert_complaint(&text, "\"laod\"", "unknown role `laod`", "did you mean `load`?");
}

#[test]
fn a_wrong_key_is_pointed_at() {
    let text = call("name = \"find\"\nrole = \"load\"\ngives = \"row\"\nkye = \"arg0\"\n");
    assert_complaint(&text, "kye", "role `load` has no key `kye`", "did you mean `key`?");
}

#[test]
fn a_key_of_another_role_is_pointed_at() {
    let text = call("name = \"save\"\nrole = \"log\"\nrow = \"arg0\"\n");
    assert_complaint(&text, "row", "role `log` has no key `row`", "");
}

#[test]
fn a_missing_key_points_at_its_row() {
    let text = call("name = \"save\"\nrole = \"save\"\ngives = \"bool\"\n");
    assert_complaint(&text, "[[call]]", "role `save` needs `row`", "");
    let text = call("role = \"log\"\n");
    assert_complaint(&text, "[[call]]", "`[[call]]` needs `name`", "");
}

#[test]
fn a_wrong_access_path_is_pointed_at() {
    let text = call("name = \"save\"\nrole = \"same\"\nfrom = \"argument0\"\n");
    assert_complaint(&text, "\"argument0\"", "`argument0` is no access path", "`arg0`");
    let text = call("name = \"save\"\nargs = \"1-2\"\nrole = \"same\"\nfrom = \"arg2\"\n");
    let message = "`arg2` is beyond the 2 arguments of this row";
    assert_complaint(&text, "\"arg2\"", message, "");
}

#[test]
fn a_mistake_in_a_further_role_is_pointed_at() {
    let text =
        call("name = \"a\"\nrole = \"log\"\nalso = [{ role = \"same\", form = \"arg0\" }]\n");
    let (at, message, _) = complaint(&text);
    assert_eq!(at, "{ role = \"same\", form = \"arg0\" }");
    assert_eq!(message, "role `same` needs `from`");
}

#[test]
fn wrong_words_are_pointed_at() {
    for (rows, at, message) in [
        ("name = \"a\"\nrole = \"load\"\ngives = \"rowz\"\n", "\"rowz\"", "unknown result `rowz`"),
        ("name = \"a\"\nrole = \"acquire\"\nlock = \"nmed\"\n", "\"nmed\"", "unknown lock `nmed`"),
        ("name = \"a**b\"\nrole = \"log\"\n", "\"a**b\"", "`a**b` is no name pattern"),
        (
            "name = \"a\"\nargs = \"3-1\"\nrole = \"log\"\n",
            "\"3-1\"",
            "`3-1` is no number of arguments",
        ),
        (
            "name = \"a\"\nstatic = 1\nrole = \"log\"\n",
            "1",
            "`static` must be `true` or `false`, not integer",
        ),
        ("name = 7\nrole = \"log\"\n", "7", "`name` must be a string, not integer"),
    ] {
        let (found_at, found, _) = complaint(&call(rows));
        assert_eq!((&*found_at, &*found), (at, message));
    }
}

#[test]
fn a_wrong_type_row_is_pointed_at() {
    let text = "[pack]\nid = \"mine\"\n[[type]]\nname = \"A\"\nkind = \"rwo\"\n";
    assert_complaint(text, "\"rwo\"", "unknown kind of type `rwo`", "did you mean `row`?");
    let text = "[pack]\nid = \"mine\"\n[[type]]\nname = \"A\"\nparent = \"B\"\n";
    assert_complaint(text, "parent", "`[[type]]` has no key `parent`", "`parents`");
    let text = "[pack]\nid = \"mine\"\n[[type]]\nname = \"A\"\nmodel-from = [\"nam:X\"]\n";
    assert_complaint(text, "\"nam:X\"", "unknown source of a model `nam:X`", "");
}

#[test]
fn a_wrong_handler_is_pointed_at() {
    let text = "[pack]\nid = \"mine\"\n[[handler]]\nmethods = [\"run\"]\nverdict = \"ack\"\n";
    assert_complaint(text, "\"ack\"", "unknown verdict `ack`", "`ack-on-return`");
    let text = "[pack]\nid = \"mine\"\n[[handler]]\nmethods = [\"run\"]\n";
    assert_complaint(text, "[[handler]]", "`[[handler]]` needs `verdict`", "");
}

#[test]
fn a_wrong_head_is_pointed_at() {
    assert_complaint(
        "[pack]\nid = \"My Pack\"\n",
        "\"My Pack\"",
        "`My Pack` is no id",
        "lower-case",
    );
    let text = "[pack]\nid = \"mine\"\nlang = \"phq\"\n";
    assert_complaint(text, "\"phq\"", "unknown language `phq`", "did you mean `php`?");
    let text = "pack = 1\n[[call]]\nname = \"a\"\nrole = \"log\"\n";
    assert_complaint(text, "1", "`pack` must be a table, not integer", "");
    let text = "[pack]\nid = \"mine\"\n[calls]\n";
    assert_complaint(text, "calls", "the file has no key `calls`", "did you mean `call`?");
}

#[test]
fn a_wrong_rule_is_pointed_at() {
    let text = "id = \"my-rule\"\nfault = \"stale-chek\"\n";
    let message = "unknown fault `stale-chek`";
    assert_complaint(text, "\"stale-chek\"", message, "did you mean `stale-check`?");
    assert_complaint(
        &rule("[severity]\nhigh = \"fatal\"\n"),
        "\"fatal\"",
        "unknown severity `fatal`",
        "`error`, `warning`, `note`, `off`",
    );
    let text = rule("[text]\nmessage = \"a\"\nwhy = \"the {colum} is\"\nhelp = \"b\"\n");
    let message = "unknown placeholder `{colum}`";
    assert_complaint(&text, "{colum}", message, "did you mean `column`?");
    let text = rule("[text]\nmessage = \"a\"\nwhy = \"b\"\n");
    let (_, message, _) = complaint(&text);
    assert_eq!(message, "`[text]` needs `help`");
    let text = rule("[[bad]]\nlang = \"php\"\n");
    assert_complaint(&text, "[[bad]]", "`[[bad]]` needs `code`", "");
    assert_complaint(&rule("tabels = []\n"), "tabels", "the rule has no key `tabels`", "`tables`");
}

#[test]
fn wrong_columns_are_pointed_at() {
    let text = "[columns]\nstrong = ['^(status$']\n";
    let (at, message, _) = complaint(text);
    assert_eq!(at, "'^(status$'");
    assert_eq!(message, "this is no regular expression: unclosed group");
    let text = "[columns]\nstorng = []\n";
    assert_complaint(text, "storng", "`[columns]` has no key `storng`", "did you mean `strong`?");
    let text = "[words]\ntransiet = []\n";
    assert_complaint(text, "transiet", "`[words]` has no key `transiet`", "`transient`");
}

#[test]
fn all_mistakes_of_all_files_come_at_once() {
    let two = call("name = \"a\"\nrole = \"lod\"\n\n[[call]]\nname = \"b\"\nrole = \"sam\"\n");
    let errors = load(&[("a.toml", &two), ("b.toml", "x = 1")]).expect_err("they are wrong");
    let text: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let wanted = [
        "a.toml: unknown role `lod`",
        "a.toml: unknown role `sam`",
        "b.toml: this is neither a pack nor a rule",
    ];
    assert_eq!(text, wanted);
}

#[test]
fn nothing_may_be_defined_twice_by_a_user() {
    let pack = call("name = \"a\"\nrole = \"log\"\n");
    let errors = load(&[("a.toml", &pack), ("b.toml", &pack)]).expect_err("it is there twice");
    assert_eq!(errors[0].to_string(), "b.toml: pack `mine` is defined twice");
    let rule = rule("");
    let errors = load(&[("a.toml", &rule), ("b.toml", &rule)]).expect_err("it is there twice");
    assert_eq!(errors[0].to_string(), "b.toml: rule `my-rule` is defined twice");
}

#[test]
fn a_users_pack_takes_the_place_of_its_namesake() {
    let text =
        "[pack]\nid = \"pdo\"\nlang = \"php\"\n[[call]]\nname = \"my_pdo\"\nrole = \"log\"\n";
    let packs = load(&[("pdo.toml", text)]).unwrap();
    assert_eq!(packs.pack_ids, Packs::builtin().pack_ids);
    assert!(packs.vocabulary.type_fact(Language::Php, "PDO").is_none());
    assert!(packs.vocabulary.knows_name(Language::Php, "my_pdo"));
}

#[test]
fn a_pack_can_be_switched_off() {
    let packs = Packs::load(&[], &["pdo".to_owned()]).unwrap();
    assert!(packs.vocabulary.type_fact(Language::Php, "PDO").is_none());
    assert!(!packs.pack_ids.iter().any(|it| &**it == "pdo"));
    let errors = Packs::load(&[], &["pdoo".to_owned()]).expect_err("there is no such pack");
    assert_eq!(errors.to_string(), "there is no pack `pdoo` to switch off");
    assert_eq!(errors.0[0].help.as_deref(), Some("did you mean `pdo`?"));
}

#[test]
fn a_users_rule_takes_over_what_it_leaves_out() {
    let text = rule("tables = [\"jobs\"]\nmin-confidence = \"high\"\n");
    let packs = load(&[("a.toml", &text)]).unwrap();
    let builtin = Packs::builtin();
    let theirs = packs.rules_of("my-rule").next().expect("it was loaded");
    let ours = builtin.rules_of("stale-check").next().expect("it is built in");
    assert_eq!((&theirs.title, &theirs.texts), (&ours.title, &ours.texts));
    assert_eq!(theirs.severity(Confidence::High), Some(Severity::Error));
    assert_eq!(theirs.severity(Confidence::Medium), None);
    assert_ne!(packs.hash, builtin.hash);
    assert_eq!(packs.rules.len(), builtin.rules.len() + 1);
}

#[test]
fn a_users_rule_overrides_its_namesake() {
    let text = "id = \"stale-check\"\nfault = \"stale-check\"\n[severity]\nhigh = \"note\"\n\
                medium = \"off\"\nlow = \"off\"\n";
    let packs = load(&[("a.toml", text)]).unwrap();
    assert_eq!(packs.rules.len(), Packs::builtin().rules.len());
    let rule = packs.rules_of("stale-check").next().expect("it is there");
    assert_eq!(rule.severity(Confidence::High), Some(Severity::Note));
    assert_eq!(rule.severity(Confidence::Medium), None);
}

#[test]
fn a_call_that_gives_back_its_receiver_is_the_same() {
    let text = call(
        "on = \"Query\"\nname = [\"where\", \"andWhere\"]\nrole = \"where\"\ncolumn = \"arg0\"\n\
         returns = \"receiver\"\n",
    );
    let packs = load(&[("a.toml", &text)]).unwrap();
    let rows: Vec<_> = packs.vocabulary.calls().filter(|it| &*it.pack == "mine").collect();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[1].also, [Role::Same { from: Access::Receiver }]);
}

#[test]
fn columns_are_classified() {
    let mut packs = Packs::builtin();
    for (table, column, class) in [
        ("jobs", "status", ColumnClass::Strong),
        ("jobs", "jobStatus", ColumnClass::Strong),
        ("orders", "order_state", ColumnClass::Strong),
        ("jobs", "purchase_status_id", ColumnClass::Strong),
        ("jobs", "reserved_at", ColumnClass::Claim),
        ("jobs", "locked_by", ColumnClass::Claim),
        ("jobs", "worker_key", ColumnClass::Claim),
        ("mails", "sentAt", ColumnClass::Done),
        ("mails", "is_sent", ColumnClass::Done),
        ("tokens", "used_at", ColumnClass::Done),
        ("products", "stock", ColumnClass::Counter),
        ("coupons", "usage_count", ColumnClass::Counter),
        ("jobs", "attempts", ColumnClass::Plain),
        ("events", "seats_left", ColumnClass::Counter),
        ("jobs", "lock_version", ColumnClass::Version),
        ("jobs", "updated_at", ColumnClass::Version),
        ("users", "active", ColumnClass::Weak),
        ("jobs", "status_code", ColumnClass::Never),
        ("jobs", "last_status", ColumnClass::Never),
        ("customer_addresses", "state", ColumnClass::Never),
        ("orders", "billing_state", ColumnClass::Never),
        ("jobs", "created_at", ColumnClass::Never),
        ("jobs", "name", ColumnClass::Plain),
        ("jobs", "payload", ColumnClass::Plain),
    ] {
        assert_eq!(packs.columns.classify(table, column), class, "{table}.{column}");
    }
    packs.add_columns(ColumnClass::Strong, &["^[^.]*\\.payload$".to_owned()]).unwrap();
    assert_eq!(packs.columns.classify("jobs", "payload"), ColumnClass::Strong);
    assert!(packs.add_columns(ColumnClass::Strong, &["(".to_owned()]).is_err());
    assert_eq!(packs.columns.classify("jobs", "payload"), ColumnClass::Strong);
}

#[test]
fn words_are_filled() {
    let words = Packs::builtin().words;
    assert!(words.transient.matches("Job::STATUS_RUNNING"));
    assert!(!words.transient.matches("pending"));
    assert!(words.terminal.matches("done"));
    assert!(words.waiting.matches("QUEUED"));
    assert!(words.worker_classes.matches("App\\Message\\SendInvoiceHandler"));
    assert!(!words.worker_classes.matches("App\\Admin\\UserController"));
    assert!(words.worker_functions.matches("claimNext"));
    assert!(words.worker_paths.matches("src/Worker/run.php"));
    for name in ["JsonException", "ModelNotFoundException", "App\\InvalidPayload"] {
        assert!(words.permanent_errors.matches(name), "{name}");
    }
    for name in ["Throwable", "RuntimeException", "PDOException", "GuzzleException"] {
        assert!(!words.permanent_errors.matches(name), "{name}");
    }
    assert!(words.log_calls.matches("$this->logger"));
    assert!(words.courtesy_calls.matches("notifyCustomer"));
    assert!(words.at_most_once.matches("// at-most-once on purpose"));
    assert!(words.recovery_promises.matches("// stale recovery will re-queue it"));
    assert!(words.exclusive_locks.matches("LockMode::PESSIMISTIC_WRITE"));
    assert!(words.shared_locks.matches("LockMode::PESSIMISTIC_READ"));
    assert!(words.no_locks.matches("LockMode::OPTIMISTIC"));
}

#[test]
fn every_fault_has_a_rule() {
    let packs = Packs::builtin();
    for fault in FaultKind::ALL {
        assert!(packs.rules.iter().any(|it| it.fault == fault), "{fault}");
    }
}

#[test]
fn built_in_rules_read_well_whatever_is_known() {
    let full = Values::default()
        .with(Placeholder::Table, "orders")
        .with(Placeholder::Column, "status")
        .with(Placeholder::From, "pending")
        .with(Placeholder::To, "running")
        .with(Placeholder::Key, "id")
        .with(Placeholder::Call, "markRunning()")
        .with(Placeholder::Guard, "AND status = 'pending'")
        .with(Placeholder::Api, "`$statement->rowCount()`")
        .with(Placeholder::Queue, "orders")
        .with(Placeholder::Message, "$message")
        .with(Placeholder::Lock, "lockForUpdate()")
        .with(Placeholder::EngineNote, "MySQL counts changed rows.");
    for rule in Packs::builtin().rules {
        for values in [&full, &Values::default()] {
            let headline = rule.texts.message.render(values);
            assert!(headline.chars().count() < 80, "{}: {headline}", rule.id);
            assert!(!headline.ends_with('.'), "{}: {headline}", rule.id);
            for text in [&rule.texts.why, &rule.texts.help] {
                let text = text.render(values);
                assert!(text.ends_with('.'), "{}: {text}", rule.id);
                for wrong in ["  ", "``", " .", " ,", "{", "}", ".."] {
                    assert!(!text.contains(wrong), "{}: {text}", rule.id);
                }
            }
        }
    }
}

#[test]
fn built_in_rules_show_a_bad_and_a_good_program() {
    for rule in Packs::builtin().rules {
        let php =
            |list: &[crate::rule::Example]| list.iter().any(|it| it.language == Language::Php);
        assert!(php(&rule.bad) && php(&rule.good), "{}", rule.id);
        for bad in &rule.bad {
            let marker = format!("//~ {}", rule.id);
            let marks = |it: &&str| it.trim_end().ends_with(&marker);
            assert_eq!(bad.code.lines().filter(marks).count(), 1, "{}", rule.id);
        }
        assert!(rule.good.iter().all(|it| !it.code.contains("//~")), "{}", rule.id);
    }
}

/// Whatever a file holds, reading it ends, and each complaint points into it.
#[test]
fn broken_files_give_complaints_only() {
    for (path, text) in super::builtin::files() {
        for cut in (0..text.len()).step_by(211).filter(|it| text.is_char_boundary(*it)) {
            for broken in [text[..cut].to_owned(), text[cut..].to_owned()] {
                let (_, out) = super::load::load_file(path, &broken);
                for error in out.errors {
                    let place = error.place.expect("it comes from a file");
                    assert!(place.text.get(place.span).is_some(), "{path} at {cut}");
                }
            }
        }
    }
}

/// Each row of every pack stands in its fixture by its first name and its role.
#[test]
#[expect(clippy::disallowed_methods, reason = "tests read fixtures")]
fn fixtures_use_every_row() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/packs");
    let mut wrong = Vec::new();
    for (path, text) in super::builtin::files() {
        let Some(pack) = path.strip_prefix("packs/").and_then(|it| it.strip_suffix(".toml")) else {
            continue;
        };
        let endings = ["php", "rs"].map(|it| folder.join(format!("{pack}.{it}")));
        let fixture: String =
            endings.iter().filter_map(|it| std::fs::read_to_string(it).ok()).collect();
        let marked: Vec<(&str, &str)> =
            fixture.lines().filter_map(|it| it.split_once("//~")).collect();
        for (looks, role) in first_names(text) {
            let word = format!("role:{role}");
            let used = |(code, marker): &(&str, &str)| {
                looks.iter().any(|it| code.contains(it))
                    && marker.split_whitespace().any(|it| it == word)
            };
            if !marked.iter().any(used) {
                wrong.push(format!("{pack}: {} as {role}", looks[0]));
            }
        }
    }
    assert!(wrong.is_empty(), "no fixture has:\n{}\n", wrong.join("\n"));
}

/// How a use of the first name of each row can look, and the row's role.
fn first_names(text: &str) -> Vec<(Vec<String>, String)> {
    let document: toml::Table = text.parse().expect("it is TOML");
    let rows = document.get("call").and_then(toml::Value::as_array);
    rows.into_iter()
        .flatten()
        .map(|row| {
            let name = match &row["name"] {
                toml::Value::Array(names) => names[0].as_str(),
                name => name.as_str(),
            };
            let role = row["role"].as_str().expect("a word").to_owned();
            (looks(name.expect("a name")), role)
        })
        .collect()
}

fn looks(name: &str) -> Vec<String> {
    if name == "__construct" {
        return vec!["new ".to_owned()];
    }
    if let Some(property) = name.strip_prefix('$') {
        return ["->", ".", "::$"].map(|it| format!("{it}{property}")).to_vec();
    }
    if let Some(prefix) = name.strip_suffix('*') {
        return vec![prefix.to_owned()];
    }
    let path = name.trim_start_matches('*');
    let last = path.rsplit("::").next().unwrap_or(path);
    let endings = ["(", "!(", "![", "::<"];
    [path, last].iter().flat_map(|it| endings.map(|ending| format!("{it}{ending}"))).collect()
}
