//! Which configuration and packs does a run use? Complaints are printed where they arise.

use super::args::SetupArgs;
use super::input::NothingToAnalyse;
use super::{Streams, note};
use crate::config::{self, Config, ConfigError, ConfigErrorKind};
use crate::discover::{self, DiscoverError, Discovered, Request};
use crate::engine::{Engine, Options};
use crate::pack::{PackError, Packs, Place};
use crate::report::{Complaint, count, plain, write_complaints};
use crate::triage::EXPECT_RULES;
use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};

/// Everything that is settled before a source is read.
pub(super) struct Setup {
    pub(super) cwd: PathBuf,
    pub(super) packs: Packs,
    pub(super) config: Config,
    file: ConfigFile,
}

/// The file that the configuration came from; all empty when there is none.
#[derive(Default)]
struct ConfigFile {
    folder: PathBuf,
    shown: String,
    text: String,
}

impl Setup {
    /// Reads configuration and packs.
    pub(super) fn load(args: &SetupArgs, streams: Streams) -> Result<Self> {
        #[expect(
            clippy::disallowed_methods,
            reason = "the command line knows where it was started"
        )]
        let cwd = std::env::current_dir().context("the working directory cannot be read")?;
        let file = read_config(&cwd, args.config.as_deref())?;
        let config = Config::parse(&file.text).or_else(|errors| file.reject(&errors, streams))?;
        let packs = load_packs(&args.rules, &config, streams)?;
        let setup = Self { cwd, packs, config, file };
        let unknown = setup.config.unknown_rules(&setup.rule_ids());
        if !unknown.is_empty() {
            setup.file.reject(&unknown, streams)?;
        }
        Ok(setup)
    }

    /// Ids of all rules that can be configured, sorted.
    pub(super) fn rule_ids(&self) -> Vec<&str> {
        let packs = self.packs.rules.iter().map(|it| &*it.id.0);
        let mut ids: Vec<&str> = packs.chain(EXPECT_RULES.iter().map(|it| it.id)).collect();
        ids.sort_unstable();
        ids
    }

    /// The analysis, as configured.
    pub(super) fn engine(&self) -> Engine {
        let patterns = |names: &[String]| names.iter().map(|it| column_pattern(it)).collect();
        let options = Options {
            state_columns: patterns(&self.config.state_columns),
            never_columns: patterns(&self.config.never_columns),
        };
        Engine::new(self.packs.clone(), options)
    }

    /// Reads the sources below `paths`; there must be at least one.
    pub(super) fn discover(&self, paths: &[PathBuf], streams: Streams) -> Result<Discovered> {
        let exclude: Vec<String> = self.config.exclude.iter().map(|it| it.value.clone()).collect();
        let exclude_root = if exclude.is_empty() { &self.cwd } else { &self.file.folder };
        let request = Request { cwd: &self.cwd, paths, exclude: &exclude, exclude_root };
        let found = match discover::discover(&request) {
            Err(DiscoverError::Glob { index, message, .. }) => {
                let range = self.config.exclude.get(index).map_or(0..0, |it| it.range.clone());
                let kind = ConfigErrorKind::Glob(message);
                self.file.reject(&[ConfigError { kind, range }], streams)?
            }
            found => found?,
        };
        if found.sources.is_empty() {
            for problem in &found.problems {
                note(&format!("{}: {}", plain(&problem.path), plain(&problem.message)));
            }
            let shown: Vec<_> = paths.iter().map(|it| format!("`{}`", it.display())).collect();
            return Err(NothingToAnalyse(shown.join(", ")).into());
        }
        Ok(found)
    }
}

fn read_config(cwd: &Path, given: Option<&Path>) -> Result<ConfigFile> {
    let path = match given {
        Some(path) => cwd.join(path),
        None => match discover::find_upwards(cwd, config::FILE_NAME) {
            Some(path) => path,
            None => return Ok(ConfigFile::default()),
        },
    };
    let text = discover::read_text(&path)?;
    let shown = path.strip_prefix(cwd).unwrap_or(&path).display().to_string();
    let folder = path.parent().unwrap_or(cwd).to_owned();
    Ok(ConfigFile { folder, shown, text })
}

impl ConfigFile {
    /// Shows `errors` in the file; never gives a value.
    fn reject<T>(&self, errors: &[ConfigError], streams: Streams) -> Result<T> {
        let complaints: Vec<_> = errors
            .iter()
            .map(|it| Complaint {
                message: it.kind.to_string(),
                range: it.range.clone(),
                help: it.kind.help(),
            })
            .collect();
        streams.err(|out| write_complaints(&self.shown, &self.text, &complaints, out));
        bail!("`{}` is not valid", self.shown)
    }
}

fn load_packs(folders: &[PathBuf], config: &Config, streams: Streams) -> Result<Packs> {
    let mut files = Vec::new();
    for folder in folders {
        files.extend(discover::read_toml_folder(folder)?);
    }
    let off: Vec<String> = config.packs_off.iter().map(|it| it.value.clone()).collect();
    Packs::load(&files, &off).or_else(|errors| {
        let number = count(errors.0.len(), "mistake");
        errors.0.into_iter().for_each(|it| show(it, streams));
        bail!("{number} in the rules and packs")
    })
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

/// A column name of the configuration, in which `*` stands for anything, as a regular expression.
fn column_pattern(name: &str) -> String {
    let mut pattern = String::from("^");
    for it in name.chars() {
        match it {
            '*' => pattern.push_str(".*"),
            it if it.is_alphanumeric() || it == '_' => pattern.extend(it.to_lowercase()),
            it => {
                pattern.push('\\');
                pattern.push(it);
            }
        }
    }
    pattern.push('$');
    pattern
}

#[cfg(test)]
mod tests {
    use super::column_pattern;

    #[test]
    fn a_column_name_means_itself() {
        assert_eq!(column_pattern("Phase"), "^phase$");
        assert_eq!(column_pattern("*_state"), "^.*_state$");
        assert_eq!(column_pattern("a.b"), "^a\\.b$");
    }
}
