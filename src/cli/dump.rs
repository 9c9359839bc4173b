//! `rowrace dump`: the value of a stage, printed.

use super::args::{DumpArgs, StageArg};
use super::setup::Setup;
use super::{Exit, Streams};
use crate::engine::Stage;
use crate::report::plain;
use anyhow::Result;

pub(super) fn run(args: &DumpArgs, streams: Streams) -> Result<Exit> {
    let mut setup = Setup::load(&args.setup, streams)?;
    let found = setup.discover(&args.files, streams)?;
    let plan = setup.plan(found.sources.iter().map(|it| &*it.path), streams)?;
    let dump = plan.engine.dump(args.stage.into(), &found.sources);
    streams.out(|out| out.write_all(plain(&dump).as_bytes()))?;
    Ok(Exit::Clean)
}

impl From<StageArg> for Stage {
    fn from(arg: StageArg) -> Self {
        match arg {
            StageArg::Lower => Self::Lower,
            StageArg::Bind => Self::Bind,
            StageArg::Program => Self::Program,
            StageArg::Summaries => Self::Summaries,
        }
    }
}
