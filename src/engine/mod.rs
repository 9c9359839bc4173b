//! Runs the stages in order, once: sources in, findings and problems out.

mod isolate;

use crate::analysis::{Program, Settled, Store, dump};
use crate::base::{Language, Problem, ProblemKind, Source, Span};
use crate::check::{self, Input};
use crate::finding::Finding;
use crate::ir::{self, FuncRef};
use crate::lang;
use crate::model::ColumnClass;
use crate::pack::Packs;
use rayon::prelude::*;
use std::fmt::Write as _;

/// Stack of the threads that walk input: what nests in a source nests in the walk.
const STACK_BYTES: usize = 512 << 20;

/// What a run can be told besides its packs.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Regular expressions for columns that are states besides the built-in ones.
    pub state_columns: Vec<String>,
    /// Regular expressions for columns that are never states.
    pub never_columns: Vec<String>,
}

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
}

/// The analysis, ready to run.
#[derive(Debug)]
pub struct Engine {
    packs: Packs,
}

impl Engine {
    /// An engine that speaks the words of `packs`. Patterns of `options` that are no regular
    /// expressions are left out.
    pub fn new(mut packs: Packs, options: Options) -> Self {
        for (class, patterns) in [
            (ColumnClass::Strong, options.state_columns),
            (ColumnClass::Never, options.never_columns),
        ] {
            for pattern in patterns {
                // The configuration makes these from names, so that they are valid.
                let _ = packs.add_columns(class, &[pattern]);
            }
        }
        Self { packs }
    }

    /// Analyses `sources` as one program.
    pub fn analyze(&self, sources: &[Source]) -> Outcome {
        on_big_stack(|| self.analyze_here(sources))
    }

    fn analyze_here(&self, sources: &[Source]) -> Outcome {
        let mut problems = Vec::new();
        let files = lower_all(sources, &mut problems);
        let program = Program::link(&files, sources);
        let settled = self.settle(&program, sources, &mut problems);
        let input = Input {
            program: &program,
            settled: &settled,
            vocabulary: &self.packs.vocabulary,
            columns: &self.packs.columns,
            words: &self.packs.words,
            sources,
        };
        let (findings, left_out) = isolate::run(|| check::check(&input, &self.packs.rules))
            .unwrap_or_else(|message| (Vec::new(), vec![internal("rules", &message)]));
        problems.extend(left_out);
        let stats = stats(sources, &files, &settled);
        Outcome { findings, problems, stats }
    }

    /// Finds out what every function does.
    fn settle(
        &self,
        program: &Program<'_>,
        sources: &[Source],
        problems: &mut Vec<Problem>,
    ) -> Settled {
        let packs = &self.packs;
        let store = Store::new(program, &packs.vocabulary, &packs.columns, &packs.words);
        for at in program.all_functions() {
            let func = program.function(at);
            // What a test calls is not called by it in production; callees are read when asked for.
            if func.kind == ir::FunctionKind::Closure
                || func.exempt
                || program.file(at.source).exempt
            {
                continue;
            }
            if let Err(message) = isolate::run(|| store.summary(at)) {
                store.give_up(at);
                let path = path_of(sources, at);
                let name = &program.function(at).name;
                problems.push(internal(&path, &format!("{message} in `{name}`")));
            }
        }
        store.finish()
    }

    /// What the packs say of each call and property in `sources`: where it stands, and the words of its
    /// roles.
    pub fn roles(&self, sources: &[Source]) -> Vec<(Span, Vec<&'static str>)> {
        on_big_stack(|| self.roles_here(sources))
    }

    fn roles_here(&self, sources: &[Source]) -> Vec<(Span, Vec<&'static str>)> {
        let mut problems = Vec::new();
        let files = lower_all(sources, &mut problems);
        let program = Program::link(&files, sources);
        let settled = self.settle(&program, sources, &mut problems);
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
        let mut problems = Vec::new();
        let files = lower_all(sources, &mut problems);
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
        let settled = self.settle(&program, sources, &mut problems);
        dump_settled(stage, &program, &settled, &mut out);
        out
    }
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

/// Lowers all sources side by side; the order of the result is that of `sources`.
fn lower_all(sources: &[Source], problems: &mut Vec<Problem>) -> Vec<ir::File> {
    let lowered: Vec<(ir::File, Option<Problem>)> = match pool() {
        Some(pool) => pool.install(|| sources.par_iter().map(lower_one).collect()),
        None => sources.iter().map(lower_one).collect(),
    };
    let mut files = Vec::with_capacity(lowered.len());
    for (file, problem) in lowered {
        problems.extend(file.problems.iter().cloned());
        problems.extend(problem);
        files.push(file);
    }
    files
}

fn pool() -> Option<rayon::ThreadPool> {
    rayon::ThreadPoolBuilder::new().stack_size(STACK_BYTES / 8).build().ok()
}

fn lower_one(source: &Source) -> (ir::File, Option<Problem>) {
    let lowered = isolate::run(|| match source.language {
        Language::Php => lang::php::lower(source),
        Language::Rust => lang::rust::lower(source),
        Language::Sql => lang::sql::lower(source),
    });
    match lowered {
        Ok(mut file) => {
            file.exempt |= source.exempt;
            (file, None)
        }
        Err(message) => {
            let empty = ir::File::empty(source.id, source.language);
            (empty, Some(internal(&source.path, &message)))
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
