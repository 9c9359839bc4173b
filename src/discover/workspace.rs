//! Which `rowrace.toml` holds for which file?
//!
//! The nearest one upwards from the file, laid over those that it extends; or one that was named
//! outright, for all files. Globs are relative to the folder of the file that they are written in. A
//! file that is extended from elsewhere than below speaks of the folder of the one that extends it.

use super::globs::{Globs, glob_error};
use super::{DiscoverError, files};
use crate::config::{self, Config, ConfigError, ConfigErrorKind, FileNumber, Located};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// How many files may stand on each other.
const MAX_EXTENDS: usize = 16;

/// A `rowrace.toml` as read.
#[derive(Clone, Debug)]
pub struct ConfigText {
    /// Its canonical path.
    pub path: PathBuf,
    /// Its path for people.
    pub shown: String,
    /// What it says.
    pub text: String,
}

impl ConfigText {
    /// The folder that it stands in.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }
}

/// What is wrong with a `rowrace.toml`.
#[derive(Clone, Debug, thiserror::Error)]
#[error("`{}` is not valid", .file.shown)]
pub struct ConfigFault {
    /// The file.
    pub file: ConfigText,
    /// Everything that is wrong with it.
    pub errors: Vec<ConfigError>,
}

/// A configuration with its globs.
#[derive(Debug)]
struct Layered {
    file: FileNumber,
    config: Config,
    exclude: Globs,
    overrides: Vec<Globs>,
}

/// All configurations that were met, and which holds where.
#[derive(Debug)]
pub struct Workspace {
    cwd: PathBuf,
    mode: Mode,
    texts: Vec<ConfigText>,
    layered: Vec<Layered>,
    /// The nearest one by folder, as far as it was asked for.
    nearest: BTreeMap<PathBuf, Option<usize>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Each file has its own.
    Nearest,
    /// One was named.
    Named,
    /// None is read.
    Isolated,
}

/// Where one configuration, without its overrides, comes from: none for the built-in one.
pub type Origin = Option<usize>;

/// Which configuration, with which of its overrides, holds for each of several paths.
#[derive(Clone, Debug, Default)]
pub struct Holding {
    /// Those that differ, in the order in which they were met.
    pub keys: Vec<(Origin, Vec<usize>)>,
    /// For each path the position of its own.
    pub of: Vec<usize>,
    known: BTreeMap<(Origin, Vec<usize>), usize>,
}

impl Holding {
    /// Adds what holds for the next path.
    pub fn add(&mut self, key: (Origin, Vec<usize>)) {
        let next = self.keys.len();
        let number = *self.known.entry(key.clone()).or_insert(next);
        if number == next {
            self.keys.push(key);
        }
        self.of.push(number);
    }
}

impl Workspace {
    /// What holds for each of the sources shown under `paths`.
    pub fn holding<'p>(
        &mut self,
        paths: impl IntoIterator<Item = &'p str>,
    ) -> Result<Holding, DiscoverError> {
        let mut out = Holding::default();
        for shown in paths {
            let path = self.path_of(shown);
            let folder = path.parent().unwrap_or(&path).to_owned();
            let origin = self.nearest(&folder)?;
            out.add((origin, self.fitting(origin, &path)));
        }
        Ok(out)
    }

    /// Looks upwards from each file; only the file named outright when there is one.
    pub fn open(cwd: &Path, given: Option<&Path>) -> Result<Self, DiscoverError> {
        let mut out = Self::isolated(cwd);
        out.mode = Mode::Nearest;
        if let Some(given) = given {
            out.mode = Mode::Named;
            let path = out.cwd.join(given);
            let failed = |source| DiscoverError::Path { path: files::shown(given), source };
            let path = fs::canonicalize(path).map_err(failed)?;
            out.read(&path)?;
        }
        Ok(out)
    }

    /// Reads no file at all.
    pub fn isolated(cwd: &Path) -> Self {
        Self {
            cwd: fs::canonicalize(cwd).unwrap_or_else(|_| cwd.to_owned()),
            mode: Mode::Isolated,
            texts: Vec::new(),
            layered: Vec::new(),
            nearest: BTreeMap::new(),
        }
    }

    /// The canonical working directory.
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// A file that was read.
    pub fn text(&self, file: FileNumber) -> &ConfigText {
        &self.texts[file.0 as usize]
    }

    /// Whether that file was named outright, so that whoever named it answers for it.
    pub fn is_named(&self) -> bool {
        self.mode == Mode::Named
    }

    /// Whether no file is read.
    pub fn is_isolated(&self) -> bool {
        self.mode == Mode::Isolated
    }

    /// The path for a source that is shown as `shown`, `.` and `..` resolved.
    pub fn path_of(&self, shown: &str) -> PathBuf {
        let mut out = PathBuf::new();
        for part in self.cwd.join(shown).components() {
            match part {
                Component::CurDir => (),
                Component::ParentDir => {
                    out.pop();
                }
                part => out.push(part),
            }
        }
        out
    }

    /// Which configuration holds in `folder`.
    pub fn nearest(&mut self, folder: &Path) -> Result<Origin, DiscoverError> {
        match self.mode {
            Mode::Named => return Ok(Some(0)),
            Mode::Isolated => return Ok(None),
            Mode::Nearest => (),
        }
        let known = folder.ancestors().find(|it| self.nearest.contains_key(*it));
        let mut origin = known.and_then(|it| self.nearest[it]);
        let mut unknown: Vec<&Path> =
            folder.ancestors().take_while(|it| Some(*it) != known).collect();
        while let Some(folder) = unknown.pop() {
            let path = folder.join(config::FILE_NAME);
            if path.is_file() {
                origin = Some(self.read(&path)?);
            }
            self.nearest.insert(folder.to_owned(), origin);
        }
        Ok(origin)
    }

    /// The configuration of an origin, overrides still in it.
    pub fn config(&self, origin: Origin) -> Config {
        origin.map_or_else(Config::default, |it| self.layered[it].config.clone())
    }

    /// The file of an origin.
    pub fn file(&self, origin: Origin) -> Option<&ConfigText> {
        origin.map(|it| self.text(self.layered[it].file))
    }

    /// Positions of the overrides that fit the file at `path`.
    pub fn fitting(&self, origin: Origin, path: &Path) -> Vec<usize> {
        let Some(origin) = origin else { return Vec::new() };
        let overrides = self.layered[origin].overrides.iter().enumerate();
        overrides.filter(|(_, it)| it.picks(path, false)).map(|it| it.0).collect()
    }

    /// Whether the file or folder at `path` is left out, and by which configuration: by its own, or
    /// because an outer one does not let anybody into the folder of its own.
    pub fn excluded(&mut self, path: &Path, is_dir: bool) -> Result<Origin, DiscoverError> {
        let folder = path.parent().unwrap_or(path).to_owned();
        let Some(origin) = self.nearest(&folder)? else { return Ok(None) };
        if self.layered[origin].exclude.picks(path, is_dir) {
            return Ok(Some(origin));
        }
        let own = self.text(self.layered[origin].file).folder().to_owned();
        let is_inner = self.mode == Mode::Nearest && own.parent().is_some();
        if is_inner { self.excluded(&own, true) } else { Ok(None) }
    }

    /// What the configuration of the working directory leaves out.
    pub(super) fn pruned(&mut self) -> Result<Globs, DiscoverError> {
        let origin = self.nearest(&self.cwd.clone())?;
        Ok(origin.map_or_else(Globs::default, |it| self.layered[it].exclude.clone()))
    }

    /// A complaint about one file.
    pub fn fault(&self, errors: Vec<ConfigError>) -> ConfigFault {
        let file = errors.first().map_or(FileNumber(0), |it| it.file);
        let errors = errors.into_iter().filter(|it| it.file == file).collect();
        ConfigFault { file: self.text(file).clone(), errors }
    }

    /// The folder that a path in a configuration file is relative to.
    pub fn folder_of<T>(&self, value: &Located<T>) -> &Path {
        self.text(value.file).folder()
    }

    /// The folders of own rules that `config` names; each must lie in the repository of its file, so
    /// that a tree from elsewhere leads nobody out of it.
    pub fn rule_folders(&self, config: &Config) -> Result<Vec<PathBuf>, DiscoverError> {
        let mut folders = Vec::new();
        for named in &config.rules {
            let folder = self.rule_folder(named).map_err(|message| {
                let kind = ConfigErrorKind::Rules(message);
                self.complaint(named, kind)
            })?;
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        Ok(folders)
    }

    fn rule_folder(&self, named: &Located<String>) -> Result<PathBuf, String> {
        let own = self.folder_of(named);
        let folder = fs::canonicalize(own.join(&named.value)).map_err(|it| it.to_string())?;
        if !folder.is_dir() {
            return Err("not a folder".to_owned());
        }
        let is_inside = self.is_named() || folder.starts_with(repository_of(own));
        is_inside.then_some(folder).ok_or_else(|| "it lies outside of the tree".to_owned())
    }

    fn complaint<T>(&self, at: &Located<T>, kind: ConfigErrorKind) -> DiscoverError {
        let error = ConfigError { kind, file: at.file, range: at.range.clone() };
        DiscoverError::Config(Box::new(self.fault(vec![error])))
    }

    /// Reads the file at `path` with all that it extends.
    fn read(&mut self, path: &Path) -> Result<usize, DiscoverError> {
        let (file, config) = self.read_layers(path, &mut Vec::new())?;
        let own = self.text(file).folder().to_owned();
        let exclude = self.globs(&own, &config.exclude)?;
        let overrides = config.overrides.iter().map(|it| self.globs(&own, &it.paths));
        let overrides = overrides.collect::<Result<_, _>>()?;
        self.layered.push(Layered { file, config, exclude, overrides });
        Ok(self.layered.len() - 1)
    }

    fn read_layers(
        &mut self,
        path: &Path,
        below: &mut Vec<PathBuf>,
    ) -> Result<(FileNumber, Config), DiscoverError> {
        let (file, config) = self.read_one(path)?;
        below.push(path.to_owned());
        let mut base = Config::default();
        for named in config.extends.clone() {
            let next = self
                .extended(&named, below)
                .map_err(|message| self.complaint(&named, ConfigErrorKind::Extends(message)))?;
            base = self.read_layers(&next, below)?.1.over(base);
        }
        below.pop();
        Ok((file, config.over(base)))
    }

    fn extended(&self, named: &Located<String>, below: &[PathBuf]) -> Result<PathBuf, String> {
        let path = self.folder_of(named).join(&named.value);
        let path = if path.is_dir() { path.join(config::FILE_NAME) } else { path };
        let path = fs::canonicalize(path).map_err(|it| it.to_string())?;
        if path.extension().is_none_or(|it| it != "toml") || !path.is_file() {
            return Err("not a TOML file".to_owned());
        }
        if below.contains(&path) {
            return Err("it extends this file itself".to_owned());
        }
        if below.len() >= MAX_EXTENDS {
            return Err(format!("more than {MAX_EXTENDS} files stand on each other"));
        }
        Ok(path)
    }

    fn read_one(&mut self, path: &Path) -> Result<(FileNumber, Config), DiscoverError> {
        let text = files::read_text(path)?;
        let shown = files::shown(path.strip_prefix(&self.cwd).unwrap_or(path));
        let file = FileNumber(u32::try_from(self.texts.len()).unwrap_or(u32::MAX));
        self.texts.push(ConfigText { path: path.to_owned(), shown, text });
        let parsed = Config::parse_file(&self.text(file).text, file);
        let config =
            parsed.map_err(|errors| DiscoverError::Config(Box::new(self.fault(errors))))?;
        Ok((file, config))
    }

    fn globs(&self, own: &Path, named: &[Located<String>]) -> Result<Globs, DiscoverError> {
        let mut globs = Globs::default();
        for it in named {
            let folder = self.folder_of(it);
            let root = if own.starts_with(folder) { folder } else { own };
            globs.add(root, &it.value).map_err(|error| self.complaint(it, glob_error(&error)))?;
        }
        globs.finish().map_err(|error| match named.first() {
            Some(first) => self.complaint(first, glob_error(&error)),
            None => DiscoverError::NoGlobs { message: error.to_string() },
        })
    }
}

/// The folder that holds everything which belongs to `folder`: its repository, or itself.
fn repository_of(folder: &Path) -> &Path {
    folder.ancestors().find(|it| it.join(".git").exists()).unwrap_or(folder)
}
