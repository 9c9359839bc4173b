//! What does the command line do? Parses arguments, calls the library, prints, and gives an exit code.
//!
//! Findings go to standard output and everything else to standard error, so that output can be piped.
//! A reader who closes the pipe early ends nothing: the exit code is still that of the run.

mod args;
mod baseline;
mod check;
mod config;
mod contract;
mod coverage;
mod dump;
mod expect;
mod fresh;
mod input;
mod output;
mod packs;
mod progress;
mod rules;
mod setup;
mod shell;
mod test;
mod write;

use crate::report::{self, WriteColor};
use anyhow::Result;
use args::{Args, Color, Command};
use clap::Parser as _;
use std::ffi::OsString;
use std::io::{self, BufWriter, IsTerminal as _, Write as _};
use std::panic;
use std::process::ExitCode;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exit {
    /// Nothing to complain about.
    Clean = 0,
    /// Findings at the fail level or above.
    Findings = 1,
    /// Bad usage, bad configuration, or a fault of ours.
    Failure = 2,
}

/// Runs the program with the arguments and streams of this process.
pub fn main() -> ExitCode {
    let run = panic::catch_unwind(|| run(std::env::args_os()));
    let exit = run.unwrap_or_else(|_| {
        note(
            "this is a fault of rowrace, not of your code: please report it with the message above",
        );
        Exit::Failure
    });
    ExitCode::from(exit as u8)
}

fn run(args: impl IntoIterator<Item = OsString>) -> Exit {
    let args = match Args::try_parse_from(args) {
        Ok(args) => args,
        Err(error) => {
            // Help and version are no errors; clap knows where each of them goes.
            let _ = error.print();
            return if error.exit_code() == 0 { Exit::Clean } else { Exit::Failure };
        }
    };
    let streams = Streams { color: args.color };
    let result = match args.command {
        Command::Check(args) => check::run(&args, streams),
        Command::Baseline(args) => baseline::run(&args, streams),
        Command::Config(args) => config::run(&args, streams),
        Command::Init(args) => config::init(&args),
        Command::Rules(args) => rules::list(&args, streams),
        Command::Explain(args) => rules::explain(&args, streams),
        Command::Coverage(args) => coverage::run(&args, streams),
        Command::Dump(args) => dump::run(&args, streams),
        Command::Lsp => serve(),
        Command::Test(args) => test::run(&args, streams),
        Command::Completions(args) => shell::completions(&args, streams),
        Command::Man(args) => shell::man(&args, streams),
    };
    result.unwrap_or_else(|error| {
        note(&format!("error: {}", report::plain(&format!("{error:#}"))));
        Exit::Failure
    })
}

/// A client that goes without saying goodbye is a failure, as the protocol wants it.
fn serve() -> Result<Exit> {
    Ok(if crate::lsp::serve()? { Exit::Clean } else { Exit::Findings })
}

/// Writes a line to standard error. A closed stream is nobody's concern.
fn note(message: &str) {
    let _ = writeln!(io::stderr(), "{message}");
}

/// Standard output and error, and whether they are coloured.
#[derive(Clone, Copy)]
struct Streams {
    color: Color,
}

impl Streams {
    /// Lets `write` write to standard output. A reader who has gone away is no error.
    fn out(self, write: impl FnOnce(&mut dyn WriteColor) -> io::Result<()>) -> Result<()> {
        let stdout = io::stdout().lock();
        let color = self.is_colored(stdout.is_terminal());
        let mut out = report::colored(BufWriter::new(stdout), color);
        match write(&mut *out).and_then(|()| out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            result => Ok(result?),
        }
    }

    /// Lets `write` write to standard error, whose failure nobody could be told of.
    fn err(self, write: impl FnOnce(&mut dyn WriteColor) -> io::Result<()>) {
        let stderr = io::stderr().lock();
        let color = self.is_colored(stderr.is_terminal());
        let _ = write(&mut *report::colored(stderr, color));
    }

    /// What is asked for outright wins; then `NO_COLOR`, when it is set to anything, then
    /// `CLICOLOR_FORCE` and `CLICOLOR`, then what the stream is.
    fn is_colored(self, is_terminal: bool) -> bool {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|it| !it.is_empty());
        let is = |name: &str, value: &str| std::env::var_os(name).is_some_and(|it| it == value);
        match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto if is_set("NO_COLOR") => false,
            Color::Auto if is_set("CLICOLOR_FORCE") && !is("CLICOLOR_FORCE", "0") => true,
            Color::Auto => is_terminal && !is("CLICOLOR", "0") && !is("TERM", "dumb"),
        }
    }
}
