//! What do expect comments do in whole sources, and how do `--add-expect` and `--fix` write them?

use crate::tree::{RACE, Tree};

const REASON: &str = "one cron process runs this";

#[test]
fn a_comment_answers_on_the_line_the_statement_and_the_function() {
    let comment = "// rowrace: expect[unguarded-transition] one cron process runs this\n";
    for (at, behind) in [
        ("        $job->save();", false),
        ("        $job->save();", true),
        ("    public function start", false),
    ] {
        let text = if behind {
            RACE.replace(at, &format!("{at} {}", comment.trim_end()))
        } else {
            RACE.replace(at, &format!("{comment}{at}"))
        };
        let tree = Tree::new(&[("run.php", &text)]);
        let report = tree.json(&[]);
        assert_eq!(report["findings"].as_array().map(Vec::len), Some(0), "{text}");
        assert_eq!(report["stats"]["expected"], 1);
    }
}

#[test]
fn comments_are_added_once_in_the_style_of_the_file() {
    let rust = "\
use sea_orm::{ActiveModelTrait, DatabaseConnection, DbErr, EntityTrait, IntoActiveModel, Set};

pub async fn ship(db: &DatabaseConnection, carrier: &Carrier, id: i64) -> Result<(), DbErr> {
    let Some(order) = order::Entity::find_by_id(id).one(db).await? else { return Ok(()) };
    if order.status != \"paid\" {
        return Ok(());
    }
    let mut order = order.into_active_model();
    order.status = Set(\"shipped\".to_owned());
    order
        .update(db)
        .await?;
    carrier.collect(id).await;
    Ok(())
}
";
    let crlf = RACE.replace('\n', "\r\n").replace("Job", "JobB").replace("Runner", "RunnerB");
    let tree = Tree::new(&[("a.php", RACE), ("b.php", &crlf), ("c.rs", rust)]);
    let before = tree.found(&[]).len();
    let run = tree.run(&["check", "--add-expect", REASON]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.err.contains("Added 3 comments for 3 findings in 3 files"), "{before} {run:?}");
    let comment = format!("// rowrace: expect[unguarded-transition] {REASON}");
    let wanted =
        RACE.replace("        $job->save();", &format!("        {comment}\n        $job->save();"));
    assert_eq!(tree.read("a.php"), wanted);
    let crlf = crlf
        .replace("        $job->save();", &format!("        {comment}\r\n        $job->save();"));
    assert_eq!(tree.read("b.php"), crlf);
    let rust = rust.replace("    order\n", &format!("    {comment}\n    order\n"));
    assert_eq!(tree.read("c.rs"), rust);

    assert_eq!(tree.run(&["check"]).code, Some(0));
    let run = tree.run(&["check", "--add-expect", "something else"]);
    assert!(run.err.contains("Added 0 comments"), "{run:?}");
    assert_eq!((tree.read("a.php"), tree.read("b.php"), tree.read("c.rs")), (wanted, crlf, rust));
}

#[test]
fn comments_stand_between_what_shares_a_line_and_in_sql() {
    let page = "<p>it's</p>\n<b><?php $o = Order::find($id); if ($o->status === 'paid') { $o->status = 'shipped'; $o->save(); send($o); } ?></b>\n";
    let model = "<?php\nclass Order extends \\Illuminate\\Database\\Eloquent\\Model {}\n";
    let script = "UPDATE jobs\n   SET status = 'running'\n WHERE id = (SELECT id FROM jobs WHERE status = 'pending' LIMIT 1);\n";
    let tree = Tree::new(&[("page.php", page), ("Order.php", model), ("claim.sql", script)]);
    tree.run(&["check", "--notes", "--add-expect", REASON]);
    let found = tree.found(&["--min-confidence", "medium"]);
    assert_eq!(found, [""; 0]);
    let page = tree.read("page.php");
    assert!(
        page.contains(
            "/* rowrace: expect[unguarded-transition] one cron process runs this */ $o->save();"
        ),
        "{page}"
    );
    let script = tree.read("claim.sql");
    assert!(script.starts_with("-- rowrace: expect[unguarded-update] one cron"), "{script}");
}

#[test]
fn what_cannot_be_written_is_left_alone() {
    let tree = Tree::new(&[]);
    for reason in ["", "-", "two\nlines", "ends */ here", "?>"] {
        let run = tree.run(&["check", "--add-expect", reason]);
        assert_eq!(run.code, Some(2), "{reason}");
        assert!(run.err.contains("the reason must be"), "{reason}: {run:?}");
    }
    let latin: Vec<u8> =
        RACE.replace("class Runner", "// é\nclass Runner").chars().map(|it| it as u8).collect();
    std::fs::write(tree.path("a.php"), &latin).expect("written");
    let run = tree.run(&["check", "--add-expect", REASON]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.err.contains("`a.php` is not in UTF-8"), "{run:?}");
    assert_eq!(std::fs::read(tree.path("a.php")).expect("read"), latin);
    let leftovers = std::fs::read_dir(tree.path("")).expect("a folder").count();
    assert_eq!(leftovers, 1);
}

#[test]
fn an_unused_comment_is_reported_and_fixed() {
    let stale = "        // rowrace: expect[loose-gate, unguarded-transition] one cron\n        $job->save();";
    let text = RACE
        .replace("        $job->save();", stale)
        .replace("class Job ", "// rowrace: expect[stale-check] x\nclass Job ");
    let tree = Tree::new(&[("run.php", &text)]);
    let run = tree.run(&["check", "--format", "concise"]);
    assert_eq!(run.code, Some(1));
    let wanted = "\
run.php:5:4: warning[unused-expect] no finding of `stale-check` for this expect comment
run.php:19:12: warning[unused-expect] no finding of `loose-gate` for this expect comment
";
    assert_eq!(run.out, wanted);
    let run = tree.run(&["check", "--fix"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.err.contains("Fixed 2 findings in 1 file"), "{run:?}");
    let fixed = RACE.replace("        $job->save();", &stale.replace("loose-gate, ", ""));
    assert_eq!(tree.read("run.php"), fixed);
    assert_eq!(tree.run(&["check"]).code, Some(0));
}
