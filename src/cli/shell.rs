//! `rowrace completions` and `rowrace man`: what a shell and `man` are told of the command line.

use super::args::Args;
use super::{Exit, Streams};
use anyhow::{Context as _, Result};
use clap::CommandFactory as _;
use clap_complete::Shell;

#[derive(Debug, clap::Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Debug, clap::Args)]
pub(super) struct ManArgs {
    /// The command to describe instead of the program
    command: Option<String>,
}

pub(super) fn completions(args: &CompletionsArgs, streams: Streams) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "rowrace", &mut script);
    streams.out(|out| out.write_all(&script))?;
    Ok(Exit::Clean)
}

pub(super) fn man(args: &ManArgs, streams: Streams) -> Result<Exit> {
    let mut program = Args::command();
    program.build();
    let command = match &args.command {
        Some(name) => {
            let found = program.find_subcommand(name);
            let found = found.with_context(|| format!("there is no command `{name}`"))?;
            found.clone()
        }
        None => program,
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    streams.out(|out| out.write_all(&page))?;
    Ok(Exit::Clean)
}
