//! Runs the stages in order, once: sources in, findings and problems out.

mod contract;
mod isolate;
mod memo;
mod options;

use crate::analysis::{Program, Settled, Store, dump, gaps};
use crate::base::{Language, Problem, ProblemKind, Source, Span};
use crate::check::{self, Input};
use crate::finding::{Coverage, Finding};
use crate::ir::{self, FuncRef};
use crate::lang;
use crate::model::{self, Claim, ColumnClass, Lexica, Lexicon};
use crate::pack::Packs;
use crate::rule::Rule;
pub use memo::{Interrupt, Memo};
pub use options::Options;
use rayon::prelude::*;
use std::fmt::Write as _;

/// Stack of the threads that walk input: what nests in a source nests in the walk.
const STACK_BYTES: usize = 512 << 20;

/// A stage whose value can be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The IR of each file.
    Lower,
    /// What each call site was found to be.
    Bind,
    /// All files joined: types and functions.
    Program,
    /// What each function does to its caller's rows.
    Summaries,
}

/// Sizes of what was analysed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stats {
    /// Files.
    pub files: usize,
    /// Bytes of text.
    pub bytes: usize,
    /// Functions.
    pub functions: usize,
    /// Writes of rows that were found, each counted once.
    pub statements: usize,
    /// Calls whose callee is not known.
    pub unresolved_calls: usize,
}

/// What a run gives: findings are not yet triaged.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Findings in no order.
    pub findings: Vec<Finding>,
    /// What was not analysed.
    pub problems: Vec<Problem>,
    /// Sizes.
    pub stats: Stats,
    /// What was understood, and what was not.
    pub coverage: Coverage,
    /// Contracts, by position, whose function is not in the program, with the nearest that is.
    pub unfound: Vec<(usize, Option<String>)>,
}

/// The analysis, ready to run.
#[derive(Debug)]
pub struct Engine {
    tongues: Vec<Tongue>,
    /// For each source which of them it speaks; the first one when left out.
    of: Vec<usize>,
    claims: Vec<Claim>,
}

/// What the files of one configuration speak.
#[derive(Debug)]
struct Tongue {
    packs: Packs,
    dialect: Option<model::Engine>,
}

impl Tongue {
    fn lexicon(&self) -> Lexicon<'_> {
        Lexicon {
            vocabulary: &self.packs.vocabulary,
            columns: &self.packs.columns,
            words: &self.packs.words,
            dialect: self.dialect,
        }
    }
}

impl Engine {
    /// An engine that speaks the words of `packs`. Patterns of `options` that are no regular
    /// expressions are left out.
    pub fn new(packs: Packs, options: Options) -> Self {
        Self::of_many(vec![(packs, options)], Vec::new())
    }

    /// An engine for a program whose sources are configured differently: `of` has for each source
    /// which of `tongues` it speaks.
    pub fn of_many(tongues: Vec<(Packs, Options)>, of: Vec<usize>) -> Self {
        let tongue = |(mut packs, options): (Packs, Options)| {
            // The configuration makes these from names, so that they are valid.
            let _ = packs.add_columns(ColumnClass::Never, &options.never_columns);
            let _ = packs.add_columns(ColumnClass::Strong, &options.state_columns);
            Tongue { packs, dialect: options.dialect }
        };
        Self { tongues: tongues.into_iter().map(tongue).collect(), of, claims: Vec::new() }
    }

    /// The same, with contracts to keep.
    #[must_use]
    pub fn with_claims(mut self, claims: Vec<Claim>) -> Self {
        self.claims = claims;
        self
    }

    fn lexica(&self) -> Lexica<'_> {
        let mut all = self.tongues.iter().map(Tongue::lexicon);
        let first = all.next().expect("an engine has packs");
        Lexica::new(first, all.collect(), &self.of)
    }

    /// Analyses `sources` as one program.
    pub fn analyze(&self, sources: &[Source]) -> Outcome {
        self.analyze_again(sources, &mut Memo::default(), &Interrupt::default()).unwrap_or_default()
    }

    /// Analyses `sources` like [`Engine::analyze`], but lowers only what is not in `memo`. `None` when
    /// `interrupt` was raised meanwhile.
    pub fn analyze_again(
        &self,
        sources: &[Source],
        memo: &mut Memo,
        interrupt: &Interrupt,
    ) -> Option<Outcome> {
        on_big_stack(|| {
            memo.update(sources, lower_several);
            self.analyze_lowered(sources, memo, interrupt)
        })
    }

    /// Whether all of `source` can be read.
    pub fn parses(source: &Source) -> bool {
        on_big_stack(|| lower_one(source)).problems.iter().all(|it| it.kind != ProblemKind::Syntax)
    }

    fn analyze_lowered(
        &self,
        sources: &[Source],
        memo: &Memo,
        interrupt: &Interrupt,
    ) -> Option<Outcome> {
        let files = memo.files();
        let mut problems = memo.problems();
        let program = Program::link(files, sources);
        let lexica = self.lexica();
        let settled = settle(&program, &lexica, sources, &mut problems, interrupt)?;
        let input = Input {
            program: &program,
            settled: &settled,
            vocabulary: lexica.numbered(0).vocabulary,
            columns: lexica.numbered(0).columns,
            words: lexica.numbered(0).words,
            sources,
            lexica: &lexica,
            claims: &self.claims,
        };
        let rules: Vec<&[Rule]> = self.tongues.iter().map(|it| &*it.packs.rules).collect();
        let (findings, left_out) = isolate::run(|| check::check(&input, &rules))
            .unwrap_or_else(|message| (Vec::new(), vec![internal("rules", &message)]));
        problems.extend(left_out);
        let stats = stats(sources, files, &settled);
        let coverage = gaps(&program, &settled, lexica.numbered(0).words);
        let unfound = contract::unfound(&program, &self.claims);
        Some(Outcome { findings, problems, stats, coverage, unfound })
    }

    fn settle_whole(&self, program: &Program<'_>, sources: &[Source]) -> Settled {
        let (lexica, never) = (self.lexica(), Interrupt::default());
        let settled = settle(program, &lexica, sources, &mut Vec::new(), &never);
        settled.expect("nobody interrupts it")
    }

    /// What the packs say of each call and property in `sources`: where it stands, and the words of its
    /// roles.
    pub fn roles(&self, sources: &[Source]) -> Vec<(Span, Vec<&'static str>)> {
        on_big_stack(|| self.roles_here(sources))
    }

    fn roles_here(&self, sources: &[Source]) -> Vec<(Span, Vec<&'static str>)> {
        let files = lower_all(sources);
        let program = Program::link(&files, sources);
        let settled = self.settle_whole(&program, sources);
        let mut out = Vec::new();
        for (at, calls) in &settled.resolved {
            let blocks = &program.function(*at).cfg.blocks;
            for ((block, instr), site) in &calls.calls {
                let instr = blocks.get(*block).and_then(|it| it.instrs.get(*instr as usize));
                if let Some(ir::InstrKind::Call(call)) = instr.map(|it| &it.kind) {
                    out.push((call.name_span, site.roles.iter().map(|it| it.word()).collect()));
                }
            }
            for ((block, instr), role) in &calls.reads {
                let instr = blocks.get(*block).and_then(|it| it.instrs.get(*instr as usize));
                out.extend(instr.map(|it| (it.span, vec![*role])));
            }
        }
        out
    }

    /// The value of `stage` for `sources`, printed.
    pub fn dump(&self, stage: Stage, sources: &[Source]) -> String {
        on_big_stack(|| self.dump_here(stage, sources))
    }

    fn dump_here(&self, stage: Stage, sources: &[Source]) -> String {
        let files = lower_all(sources);
        let mut out = String::new();
        if stage == Stage::Lower {
            for (file, source) in files.iter().zip(sources) {
                let _ = writeln!(out, "== {}", source.path);
                out.push_str(&ir::dump::dump_file(file, &source.text));
            }
            return out;
        }
        let program = Program::link(&files, sources);
        if stage == Stage::Program {
            for at in program.all_functions() {
                let _ = writeln!(out, "{}", program.function(at).name);
            }
            return out;
        }
        let settled = self.settle_whole(&program, sources);
        dump_settled(stage, &program, &settled, &mut out);
        out
    }
}

/// Finds out what every function does; `None` when interrupted.
fn settle(
    program: &Program<'_>,
    lexica: &Lexica<'_>,
    sources: &[Source],
    problems: &mut Vec<Problem>,
    interrupt: &Interrupt,
) -> Option<Settled> {
    let store = Store::new(program, lexica);
    for at in program.all_functions() {
        if interrupt.is_raised() {
            return None;
        }
        let func = program.function(at);
        // What a test calls is not called by it in production; callees are read when asked for.
        if func.kind == ir::FunctionKind::Closure || func.exempt || program.file(at.source).exempt {
            continue;
        }
        if let Err(message) = isolate::run(|| store.summary(at)) {
            store.give_up(at);
            let path = path_of(sources, at);
            let name = &program.function(at).name;
            problems.push(internal(&path, &format!("{message} in `{name}`")));
        }
    }
    Some(store.finish())
}

fn dump_settled(stage: Stage, program: &Program<'_>, settled: &Settled, out: &mut String) {
    for (at, calls) in &settled.resolved {
        let _ = writeln!(out, "== {}", program.function(*at).name);
        if stage == Stage::Bind {
            for ((block, instr), site) in &calls.calls {
                let roles: Vec<_> = site.roles.iter().map(|it| it.word()).collect();
                let targets: Vec<_> =
                    site.targets.iter().map(|it| program.function(*it).name.to_string()).collect();
                let _ = writeln!(
                    out,
                    "  b{}.{instr} roles [{}] targets [{}] unknown {} receiver {} args [{}] -> {}",
                    block.0,
                    roles.join(", "),
                    targets.join(", "),
                    site.unknown,
                    dump::value(&site.receiver),
                    site.args.iter().map(dump::value).collect::<Vec<_>>().join(", "),
                    dump::value(&site.result)
                );
            }
            for (block, value) in &calls.tests {
                let _ = writeln!(out, "  b{} test {}", block.0, dump::value(value));
            }
        } else if let Some(summary) = settled.summaries.get(at) {
            out.push_str(&dump::summary(summary, &summary.writes));
        }
    }
}

/// Runs on a thread whose stack holds what deep sources need.
fn on_big_stack<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, run);
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(out)) => out,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => panic!("no thread could be started: {error}"),
        }
    })
}

fn lower_all(sources: &[Source]) -> Vec<ir::File> {
    lower_several(&sources.iter().collect::<Vec<_>>())
}

/// Lowers sources side by side; the order of the result is that of `sources`.
fn lower_several(sources: &[&Source]) -> Vec<ir::File> {
    if sources.len() < 2 {
        return sources.iter().map(|it| lower_one(it)).collect();
    }
    match pool() {
        Some(pool) => pool.install(|| sources.par_iter().map(|it| lower_one(it)).collect()),
        None => sources.iter().map(|it| lower_one(it)).collect(),
    }
}

fn pool() -> Option<rayon::ThreadPool> {
    rayon::ThreadPoolBuilder::new().stack_size(STACK_BYTES / 8).build().ok()
}

fn lower_one(source: &Source) -> ir::File {
    let lowered = isolate::run(|| match source.language {
        Language::Php => lang::php::lower(source),
        Language::Rust => lang::rust::lower(source),
        Language::Sql => lang::sql::lower(source),
    });
    match lowered {
        Ok(mut file) => {
            file.exempt |= source.exempt;
            file
        }
        Err(message) => {
            let mut empty = ir::File::empty(source.id, source.language);
            empty.problems.push(internal(&source.path, &message));
            empty
        }
    }
}

fn internal(path: &str, message: &str) -> Problem {
    Problem {
        kind: ProblemKind::Internal,
        path: path.to_owned(),
        span: None,
        message: format!("internal fault: {message}; please report it"),
    }
}

fn path_of(sources: &[Source], at: FuncRef) -> String {
    sources.get(at.source.0 as usize).map(|it| it.path.clone()).unwrap_or_default()
}

fn stats(sources: &[Source], files: &[ir::File], settled: &Settled) -> Stats {
    let calls = settled.resolved.values().flat_map(|it| it.calls.values());
    Stats {
        files: sources.len(),
        bytes: sources.iter().map(|it| it.text.len()).sum(),
        functions: files.iter().map(|it| it.functions.len()).sum(),
        statements: settled.written.len(),
        unresolved_calls: calls.filter(|it| it.unknown).count(),
    }
}
