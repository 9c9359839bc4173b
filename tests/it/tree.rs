//! A folder of sources to run the binary in.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Fires `unguarded-transition` in `Runner::start`, at the line of `save`.
pub(crate) const RACE: &str = "\
<?php

use Illuminate\\Database\\Eloquent\\Model;

class Job extends Model
{
}

class Runner
{
    public function start(int $id): void
    {
        $job = Job::findOrFail($id);
        if ($job->status !== 'pending') {
            return;
        }
        $job->status = 'running';
        $job->save();
        $this->work($job);
    }
}
";

/// A folder to run in.
pub(crate) struct Tree {
    folder: TempDir,
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Tree {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let tree = Self { folder: TempDir::new().expect("a folder") };
        for (path, text) in files {
            tree.write(path, text);
        }
        tree
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        fs::write(path, text).expect("written");
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).expect("readable")
    }

    pub(crate) fn run(&self, args: &[&str]) -> Run {
        run_in(self.folder.path(), args)
    }

    pub(crate) fn run_in(&self, folder: &str, args: &[&str]) -> Run {
        run_in(&self.path(folder), args)
    }

    /// The report of `rowrace check`, as JSON has it.
    pub(crate) fn json(&self, args: &[&str]) -> serde_json::Value {
        let run = self.run(&[&["check", "--format", "json"], args].concat());
        assert!(matches!(run.code, Some(0 | 1)), "{run:?}");
        serde_json::from_str(&run.out).expect("JSON")
    }

    /// `path rule severity` of each finding.
    pub(crate) fn found(&self, args: &[&str]) -> Vec<String> {
        let report = self.json(args);
        let word = |it: &serde_json::Value, key: &str| it[key].as_str().expect("a word").to_owned();
        let findings = report["findings"].as_array().expect("a list").iter();
        let shown = |it| ["path", "rule", "severity"].map(|key| word(it, key)).join(" ");
        findings.map(shown).collect()
    }
}

fn run_in(folder: &Path, args: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rowrace"));
    command.args(args).current_dir(folder).env_remove("NO_COLOR").stdin(Stdio::null());
    let output = command.output().expect("the binary starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}
