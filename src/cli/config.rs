//! `rowrace config` and `rowrace init`: what holds for a file, what can be written, what to begin with?

use super::args::SetupArgs;
use super::setup::{Setup, accept, shown, working_directory};
use super::{Exit, Streams, note, write};
use crate::base::Lines;
use crate::config::{self, FILE_NAME, FileNumber};
use crate::discover::{self, Workspace};
use crate::report::plain;
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};

/// Arguments of `rowrace config`.
#[derive(Debug, clap::Args)]
pub(super) struct ConfigArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show what holds for a file, and where each value is written
    Show(ShowArgs),
    /// Print the JSON Schema of `rowrace.toml`
    Schema,
}

#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// A file or folder
    #[arg(default_value = ".")]
    file: PathBuf,

    #[command(flatten)]
    setup: SetupArgs,
}

/// Arguments of `rowrace init`.
#[derive(Debug, clap::Args)]
pub(super) struct InitArgs {
    /// Where to
    #[arg(default_value = ".")]
    folder: PathBuf,
}

pub(super) fn run(args: &ConfigArgs, streams: Streams) -> Result<Exit> {
    match &args.command {
        Command::Show(args) => show(args, streams),
        Command::Schema => {
            streams.out(|out| out.write_all(config::schema().as_bytes()))?;
            Ok(Exit::Clean)
        }
    }
}

fn show(args: &ShowArgs, streams: Streams) -> Result<Exit> {
    let mut setup = Setup::load(&args.setup, streams)?;
    let path = setup.workspace.path_of(&args.file.to_string_lossy());
    if !path.exists() {
        bail!("cannot read `{}`: there is no such file", args.file.display());
    }
    let folder = if path.is_dir() { path.clone() } else { parent(&path).to_owned() };
    let origin = accept(setup.workspace.nearest(&folder), streams)?;
    let fitting = setup.workspace.fitting(origin, &path);
    let excluded = accept(setup.workspace.excluded(&path, path.is_dir()), streams)?;
    let workspace = &setup.workspace;
    let whole = workspace.config(origin);
    let name = shown(&path, workspace.cwd());
    let name = if name.is_empty() { "." } else { &name };
    let mut lines = vec![format!("# What holds for {name}")];
    lines.push(match workspace.file(origin) {
        Some(it) => format!("# from {}", it.shown),
        None => format!("# no {FILE_NAME} above it: everything is as built in"),
    });
    for it in &whole.extends {
        lines.push(format!(
            "# extends {}  # {}",
            it.value,
            place(workspace, it.file, it.range.start)
        ));
    }
    for it in fitting.iter().filter_map(|it| whole.overrides[*it].paths.first()) {
        lines
            .push(format!("# [[overrides]] fits  # {}", place(workspace, it.file, it.range.start)));
    }
    if let Some(it) = excluded.map(|it| workspace.file(Some(it))) {
        let by = it.map_or("", |it| &it.shown);
        lines.push(format!("# left out by `exclude` of {by}, unless it is named"));
    }
    let config = whole.for_source(&fitting);
    lines.push(config::show(&config, &|file, at| place(workspace, file, at)));
    streams.out(|out| out.write_all(plain(&lines.join("\n")).as_bytes()))?;
    Ok(Exit::Clean)
}

/// `rowrace.toml:3`.
fn place(workspace: &Workspace, file: FileNumber, at: usize) -> String {
    let file = workspace.text(file);
    let at = u32::try_from(at).unwrap_or(u32::MAX);
    format!("{}:{}", file.shown, Lines::of(&file.text).line_index(at) + 1)
}

fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

/// Writes a first `rowrace.toml`.
pub(super) fn init(args: &InitArgs) -> Result<Exit> {
    let folder = working_directory()?.join(&args.folder);
    let target = folder.join(FILE_NAME);
    let shown = args.folder.join(FILE_NAME);
    let shown = shown.strip_prefix(".").unwrap_or(&shown).display().to_string();
    if target.exists() {
        bail!("`{}` is already there; nothing was written", plain(&shown));
    }
    let mut uses = config::Uses::default();
    for (path, text) in discover::manifests(&folder) {
        match path.rsplit('/').next() {
            Some("composer.json") => uses.composer(&path, &text),
            _ => uses.cargo(&path, &text),
        }
    }
    write::create(&target, &config::starter(&uses))?;
    note(&format!("Wrote `{}`", plain(&shown)));
    Ok(Exit::Clean)
}
