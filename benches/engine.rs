//! How long do the stages take over a folder?
//!
//! ```text
//! cargo bench -- path/to/code
//! ```
//!
//! Without a path the cases of this repository are measured. Each stage is timed with everything before
//! it, the best of a few runs; `dump` makes it print its value, so the time of printing is included.

#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock and its arguments")]
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

use rowrace::base::Source;
use rowrace::discover::{Request, Workspace, discover};
use rowrace::engine::{Engine, Options, Stage};
use rowrace::pack::Packs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const RUNS: usize = 3;

fn main() {
    // Cargo passes `--bench` along.
    let folder = std::env::args_os().skip(1).find(|it| !it.to_string_lossy().starts_with("--"));
    let folder = folder.map_or_else(|| PathBuf::from("fixtures/cases"), PathBuf::from);
    let cwd = std::env::current_dir().expect("a working directory");
    let paths = [folder];
    let request = Request { cwd: &cwd, paths: &paths };
    let start = Instant::now();
    let sources =
        discover(&request, &mut Workspace::isolated(&cwd)).expect("a folder of sources").sources;
    let bytes: usize = sources.iter().map(|it| it.text.len()).sum();
    println!("{} files, {} kB", sources.len(), bytes / 1000);
    show("discover", start.elapsed(), bytes);
    time_stages(&sources, bytes);
}

fn time_stages(sources: &[Source], bytes: usize) {
    let packs = Packs::load(&[], &[]).unwrap_or_else(|errors| panic!("built-in packs: {errors}"));
    let engine = Engine::new(packs, Options::default());
    for (name, stage) in [
        ("lower", Stage::Lower),
        ("bind", Stage::Bind),
        ("program", Stage::Program),
        ("summarize", Stage::Summaries),
    ] {
        show(name, best(|| engine.dump(stage, sources).len()), bytes);
    }
    show("whole run", best(|| engine.analyze(sources).findings.len()), bytes);
}

/// The shortest of a few runs.
fn best(mut run: impl FnMut() -> usize) -> Duration {
    let times = (0..RUNS).map(|_| {
        let start = Instant::now();
        std::hint::black_box(run());
        start.elapsed()
    });
    times.min().unwrap_or_default()
}

fn show(name: &str, time: Duration, bytes: usize) {
    let seconds = time.as_secs_f64();
    let mb = f64::from(u32::try_from(bytes / 1000).unwrap_or(u32::MAX)) / 1000.0;
    println!("{name:10} {:9.1} ms  {:8.1} MB/s", seconds * 1000.0, mb / seconds.max(1e-9));
}
