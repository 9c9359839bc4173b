//! Store: what is known of each function, found out when it is first asked for.
//!
//! A function's callees are settled before it, depth first. A call back into a function that is still
//! under way is taken as unknown, so that recursion ends. Functions are asked for in the order of files
//! and declarations, so that the same program gives the same summaries.

use super::Program;
use super::fact::{CheckKind, LoadFact, WriteFact};
use super::interp::{self, Shared};
use super::stem::stem;
use super::summary::{Resolved, Summary};
use crate::base::{Language, Name, SourceId, Span};
use crate::ir::{Engine, File, FuncRef, TypeRef};
use crate::model::Lexica;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A write is not handed on any more behind so many calls.
pub(crate) const MAX_TRACE: usize = 6;

/// How deep calls are followed before they are taken as unknown.
const MAX_DEPTH: u32 = 64;

/// What was found out of one function besides its summary.
#[derive(Clone, Debug)]
pub struct Facts {
    /// All its writes, those of callees included.
    pub writes: Vec<WriteFact>,
    /// All its loads, those of callees included.
    pub loads: Vec<Arc<LoadFact>>,
}

/// Summaries and facts of a program's functions.
#[derive(Debug)]
pub struct Store<'p> {
    /// The program.
    pub program: &'p Program<'p>,
    lexica: &'p Lexica<'p>,
    summaries: RefCell<FxHashMap<FuncRef, Arc<Summary>>>,
    facts: RefCell<BTreeMap<FuncRef, Facts>>,
    resolved: RefCell<BTreeMap<FuncRef, Resolved>>,
    under_way: RefCell<FxHashSet<FuncRef>>,
    imported: RefCell<FxHashSet<FuncRef>>,
    written: RefCell<BTreeSet<Span>>,
    tested: RefCell<Tested>,
    engines: BTreeMap<SourceId, Engine>,
    depth: Cell<u32>,
    pub(super) properties: RefCell<FxHashMap<(Name, Name), Vec<TypeRef>>>,
    pub(super) lineages: RefCell<FxHashMap<(Language, Name), Arc<Vec<Name>>>>,
}

impl<'p> Store<'p> {
    /// An empty store.
    pub fn new(program: &'p Program<'p>, lexica: &'p Lexica<'p>) -> Self {
        Self {
            program,
            lexica,
            summaries: RefCell::default(),
            facts: RefCell::default(),
            resolved: RefCell::default(),
            under_way: RefCell::default(),
            imported: RefCell::default(),
            written: RefCell::default(),
            tested: RefCell::default(),
            engines: engines_of(program, lexica),
            depth: Cell::new(0),
            properties: RefCell::default(),
            lineages: RefCell::default(),
        }
    }

    /// The engine that a file's statements go to, by the libraries it names, or that all others name.
    pub(super) fn engine(&self, source: SourceId) -> Option<Engine> {
        self.engines.get(&source).copied()
    }

    /// The summary of a callee, and the note that `caller` took it over; none for recursion. What only
    /// tests call is judged as if nobody did.
    pub(super) fn callee(&self, at: FuncRef, caller: FuncRef) -> Option<Arc<Summary>> {
        let summary = self.summary(at)?;
        let is_test = self.program.is_exempt(caller) && !self.program.is_exempt(at);
        if !is_test
            && self.imported.borrow_mut().insert(at)
            && let Some(facts) = self.facts.borrow_mut().get_mut(&at)
        {
            // The callers judge the rest; what may be a claim is asked for by table.
            facts.loads = Vec::new();
            facts.writes.retain(|it| it.trace.len() >= MAX_TRACE || it.may_claim());
            facts.writes.shrink_to_fit();
        }
        Some(summary)
    }

    /// The summary of a function; none while it is under way, or too deep.
    pub fn summary(&self, at: FuncRef) -> Option<Arc<Summary>> {
        if let Some(found) = self.summaries.borrow().get(&at) {
            return Some(Arc::clone(found));
        }
        if self.depth.get() >= MAX_DEPTH || !self.under_way.borrow_mut().insert(at) {
            return None;
        }
        self.depth.set(self.depth.get() + 1);
        let lexicon = self.lexica.of(at.source);
        let shared = Shared {
            program: self.program,
            vocabulary: lexicon.vocabulary,
            columns: lexicon.columns,
            words: lexicon.words,
            store: self,
        };
        let outcome = interp::interpret(shared, at);
        self.depth.set(self.depth.get() - 1);
        self.under_way.borrow_mut().remove(&at);
        let summary = Arc::new(outcome.summary);
        self.summaries.borrow_mut().insert(at, Arc::clone(&summary));
        let mut resolved = self.resolved.borrow_mut();
        for (closure, it) in outcome.nested {
            resolved.entry(closure).or_insert(it);
        }
        resolved.insert(at, outcome.resolved);
        let facts = Facts { writes: outcome.writes, loads: outcome.loads };
        self.written.borrow_mut().extend(facts.writes.iter().map(|it| it.primary));
        self.tested.borrow_mut().note(&facts);
        self.facts.borrow_mut().insert(at, facts);
        Some(summary)
    }

    /// After a panic in a function: it has no summary, and the count of open calls begins anew.
    pub fn give_up(&self, at: FuncRef) {
        self.depth.set(0);
        self.under_way.borrow_mut().clear();
        self.summaries.borrow_mut().insert(at, Arc::default());
    }

    /// Ends the search: everything by function, and which functions some caller took over.
    pub fn finish(self) -> Settled {
        Settled {
            summaries: self.summaries.into_inner().into_iter().collect(),
            facts: self.facts.into_inner(),
            resolved: self.resolved.into_inner(),
            imported: self.imported.into_inner(),
            written: self.written.into_inner(),
            tested: self.tested.into_inner(),
        }
    }
}

/// For each file the one engine whose types and crates it names; for a file that names none, the one
/// that the files of its language name. What the configuration says comes before all that.
fn engines_of(program: &Program<'_>, lexica: &Lexica<'_>) -> BTreeMap<SourceId, Engine> {
    let named = |file: &File| -> BTreeSet<Engine> {
        let lexicon = lexica.of(file.source);
        if let Some(dialect) = lexicon.dialect {
            return BTreeSet::from([dialect]);
        }
        let vocabulary = lexicon.vocabulary;
        let types = file.imports.iter().filter_map(|it| vocabulary.engine_of(file.language, it));
        let found: BTreeSet<Engine> = types.collect();
        if found.len() == 1 || file.language != Language::Rust {
            return found;
        }
        let words = words_of(program.path(file.source), &file.imports);
        if words.len() == 1 { words } else { found }
    };
    let all: Vec<(&File, BTreeSet<Engine>)> = program.files().map(|it| (it, named(it))).collect();
    let mut out = BTreeMap::new();
    for (file, own) in &all {
        let found = if own.is_empty() {
            let same = all.iter().filter(|it| it.0.language == file.language && !it.0.exempt);
            same.flat_map(|it| it.1.iter().copied()).collect()
        } else {
            own.clone()
        };
        if let ([engine], true) = (Vec::from_iter(&found).as_slice(), found.len() == 1) {
            out.insert(file.source, **engine);
        }
    }
    out
}

/// Engines by the names of folders, files and modules: `db/sqlite.rs`, `crate::db::postgres::Pool`.
fn words_of(path: &str, imports: &[Name]) -> BTreeSet<Engine> {
    let engine = |it: &str| match it.trim_end_matches(".rs") {
        "sqlite" | "rusqlite" | "libsql" => Some(Engine::Sqlite),
        "postgres" | "postgresql" | "pg" | "psql" => Some(Engine::Postgres),
        "mysql" | "mariadb" => Some(Engine::MySql),
        _ => None,
    };
    let own: BTreeSet<Engine> = path.split('/').filter_map(engine).collect();
    if own.is_empty() {
        imports.iter().flat_map(|it| it.split("::")).filter_map(engine).collect()
    } else {
        own
    }
}

/// What is known of every function of a program.
#[derive(Debug, Default)]
pub struct Settled {
    /// For callers.
    pub summaries: BTreeMap<FuncRef, Arc<Summary>>,
    /// For the rules; of functions with callers only what is not handed on to them.
    pub facts: BTreeMap<FuncRef, Facts>,
    /// For rules that walk bodies.
    pub resolved: BTreeMap<FuncRef, Resolved>,
    /// Functions that have a caller in the program.
    pub imported: FxHashSet<FuncRef>,
    /// Where rows are written.
    pub written: BTreeSet<Span>,
    /// Which columns the program tests.
    pub tested: Tested,
}

/// Which columns of which tables the whole program tests: a write of such a column matters even where
/// no test is in sight.
#[derive(Debug, Default)]
pub struct Tested {
    columns: BTreeSet<(String, String)>,
}

impl Tested {
    fn note(&mut self, facts: &Facts) {
        for write in &facts.writes {
            let Some(table) = write.table.stem() else { continue };
            for check in write.checks.iter().filter(|it| it.kind != CheckKind::Vague) {
                self.columns.insert((table.clone(), check.column.to_lowercase()));
            }
        }
        for load in facts.loads.iter().filter(|it| !it.filters.is_empty()) {
            let Some(table) = load.table.stem() else { continue };
            for filter in load.filters.iter().filter(|it| !it.vague) {
                self.columns.insert((table.clone(), filter.column.to_lowercase()));
            }
        }
    }

    /// Whether the program tests that column of that table somewhere.
    pub fn has(&self, table: &str, column: &str) -> bool {
        self.columns.contains(&(stem(table).to_string(), column.to_lowercase()))
    }
}
