//! Which contracts name a function that is not in the program?

use crate::analysis::Program;
use crate::base::last_segment;
use crate::check::contract;
use crate::config::nearest;
use crate::ir::FunctionKind;
use crate::model::Claim;
use std::collections::BTreeSet;

/// Positions of such contracts, each with the nearest name that exists.
pub(super) fn unfound(program: &Program<'_>, claims: &[Claim]) -> Vec<(usize, Option<String>)> {
    let lost = claims.iter().enumerate().filter(|it| contract::places(program, it.1).is_empty());
    let lost: Vec<(usize, &Claim)> = lost.collect();
    if lost.is_empty() {
        return Vec::new();
    }
    let names = names(program);
    let known: Vec<&str> = names.iter().map(|it| &**it).collect();
    let near = |claim: &Claim| {
        // The method may have moved to another class.
        let short = |it: &str| last_segment(it).to_lowercase();
        let moved = known.iter().find(|it| short(it) == short(&claim.at));
        moved.copied().or_else(|| nearest(&claim.at, &known)).map(str::to_owned)
    };
    lost.into_iter().map(|(position, claim)| (position, near(claim))).collect()
}

/// `Class::method`, or the name, of every function that a contract can name; sorted.
fn names(program: &Program<'_>) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for at in program.all_functions().filter(|it| !program.is_exempt(*it)) {
        let func = program.function(at);
        if func.is_abstract || matches!(func.kind, FunctionKind::Closure | FunctionKind::Script) {
            continue;
        }
        out.insert(match &func.class {
            Some(class) => format!("{}::{}", last_segment(class), func.short),
            None => func.short.to_string(),
        });
    }
    out
}
