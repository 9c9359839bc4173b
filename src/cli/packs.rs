//! Which rules and packs does a configuration ask for? Each combination is loaded once.

use super::setup::accept;
use super::{Streams, note};
use crate::config::{Config, ConfigError, ConfigErrorKind, Located};
use crate::discover::{self, DiscoverError, Workspace};
use crate::pack::{PackError, PackErrorKind, Packs, Place};
use crate::report::{Complaint, count, plain, write_complaints};
use anyhow::{Result, bail};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Folders of rules, and packs that are off.
type Wanted = (Vec<PathBuf>, Vec<String>);

/// Loads packs and keeps them.
pub(super) struct Loader {
    /// Folders that the command line names.
    given: Vec<PathBuf>,
    loaded: BTreeMap<Wanted, Packs>,
}

impl Loader {
    pub(super) fn new(given: &[PathBuf]) -> Self {
        Self { given: given.to_vec(), loaded: BTreeMap::new() }
    }

    /// The packs that `config` asks for.
    pub(super) fn packs(
        &mut self,
        config: &Config,
        workspace: &Workspace,
        streams: Streams,
    ) -> Result<Packs> {
        let mut folders = accept(workspace.rule_folders(config), streams)?;
        folders.extend(self.given.iter().cloned());
        let off = config.packs_off();
        let wanted = (folders, off.iter().map(|it| it.value.clone()).collect());
        if let Some(known) = self.loaded.get(&wanted) {
            return Ok(known.clone());
        }
        let packs = load(&wanted, &off, workspace, streams)?;
        let unknown =
            config.packs_on.iter().find(|it| !packs.pack_ids.iter().any(|id| **id == *it.value));
        if let Some(unknown) = unknown {
            let message = format!("there is no pack `{}` to switch on", unknown.value);
            return accept(Err(complaint(unknown, message, workspace)), streams);
        }
        self.loaded.insert(wanted, packs.clone());
        Ok(packs)
    }
}

fn load(
    (folders, ids): &Wanted,
    off: &[Located<String>],
    workspace: &Workspace,
    streams: Streams,
) -> Result<Packs> {
    let mut files = Vec::new();
    for folder in folders {
        let shown = folder.strip_prefix(workspace.cwd()).unwrap_or(folder);
        files.extend(discover::read_toml_folder(shown)?);
    }
    Packs::load(&files, ids).or_else(|errors| {
        let number = count(errors.0.len(), "mistake");
        for error in errors.0 {
            let named = match &error.kind {
                PackErrorKind::NoPack(id) => off.iter().find(|it| it.value == *id),
                _ => None,
            };
            let Some(named) = named else {
                show(error, streams);
                continue;
            };
            let help = error.help.map(|it| format!("; {it}")).unwrap_or_default();
            let message = format!("{}{help}", error.kind);
            return accept(Err(complaint(named, message, workspace)), streams);
        }
        bail!("{number} in the rules and packs")
    })
}

fn complaint(at: &Located<String>, message: String, workspace: &Workspace) -> DiscoverError {
    let kind = ConfigErrorKind::Pack(message);
    let error = ConfigError { kind, file: at.file, range: at.range.clone() };
    DiscoverError::Config(Box::new(workspace.fault(vec![error])))
}

/// Shows a complaint where it points, or in one line when it points nowhere.
fn show(error: PackError, streams: Streams) {
    let message = error.kind.to_string();
    if let Some(Place { path, text, span: range }) = error.place {
        let complaints = [Complaint { message, range, help: error.help }];
        streams.err(|out| write_complaints(&path, &text, &complaints, out));
    } else {
        let help = error.help.map(|it| format!("; {it}")).unwrap_or_default();
        note(&format!("error: {}{}", plain(&message), plain(&help)));
    }
}
