//! Rules over what the analysis found: each fault is decided once, from the evidence that a write
//! gathered on its way up the call graph.

mod column;
pub mod contract;
mod guard;
mod index;
mod judge;
mod message;
mod protect;
mod schedule;
mod script;
mod twin;
mod witness;

use crate::analysis::{Program, Settled};
use crate::base::{Problem, Source, SourceId, Span};
use crate::finding::{Confidence, Finding, FindingBuilder, Schedule, StepRole};
use crate::ir::FuncRef;
use crate::model::{Claim, ColumnRules, Lexica, Lexicon, Vocabulary, Words};
use crate::rule::{FaultKind, Rule, Values};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The name of what stands in a file outside of all functions.
const SCRIPT: &str = "{script}";

/// What the checks are given.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The program.
    pub program: &'a Program<'a>,
    /// What is known of its functions.
    pub settled: &'a Settled,
    /// Packs.
    pub vocabulary: &'a Vocabulary,
    /// What columns are.
    pub columns: &'a ColumnRules,
    /// What names speak of.
    pub words: &'a Words,
    /// Sources by position, for texts in messages.
    pub sources: &'a [Source],
    /// All packs, columns and names, for programs whose files are configured differently.
    pub lexica: &'a Lexica<'a>,
    /// Contracts.
    pub claims: &'a [Claim],
}

impl Input<'_> {
    /// The same, in the words of a source.
    fn at(&self, source: SourceId) -> Self {
        self.with(self.lexica.number_of(source))
    }

    /// The words of a source at `span`, blanks made one.
    fn said_at(&self, span: Span) -> String {
        let source = self.sources.get(span.source.0 as usize);
        let text = source.and_then(|it| it.text.get(span.range())).unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn with(&self, number: usize) -> Self {
        let Lexicon { vocabulary, columns, words, dialect: _ } = self.lexica.numbered(number);
        Self { vocabulary, columns, words, ..*self }
    }
}

/// A fault before a rule gives it words.
#[derive(Clone, Debug)]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// How strong the evidence is.
    pub confidence: Confidence,
    /// Where the finding points.
    pub primary: Span,
    /// Table or model.
    pub table: String,
    /// Column.
    pub column: String,
    /// The new state, empty when not known.
    pub to: String,
    /// Words for the templates.
    pub values: Values,
    /// The witness in order of time.
    pub steps: Vec<(StepRole, Span, String)>,
    /// The order of statements that proves it; for high confidence only.
    pub schedule: Option<Schedule>,
    /// The function that holds the primary place.
    pub symbol: FuncRef,
}

/// All findings, and what was too large to be checked; `rules` has those for each lexicon.
pub fn check(input: &Input<'_>, rules: &[&[Rule]]) -> (Vec<Finding>, Vec<Problem>) {
    let mut faults = judge::faults(input);
    faults.extend(contract::faults(input));
    let mut problems = Vec::new();
    for number in 0..input.lexica.count() {
        let (found, left_out) = message::faults(&input.with(number));
        let is_own = |source| input.lexica.number_of(source) == number;
        faults.extend(found.into_iter().filter(|it| is_own(it.primary.source)));
        let of_own = |it: &Problem| it.span.is_none_or(|it| is_own(it.source));
        problems.extend(left_out.into_iter().filter(of_own));
    }
    let rules_of = |it: &Fault| rules.get(input.lexica.number_of(it.primary.source)).copied();
    let report = |it: &Fault| report(input, rules_of(it).unwrap_or_default(), it);
    (faults.iter().flat_map(report).collect(), problems)
}

/// The findings that the rules make of a fault.
pub fn report(input: &Input<'_>, rules: &[Rule], fault: &Fault) -> Vec<Finding> {
    let function = input.program.functions_of(fault.symbol.source).get(fault.symbol.func);
    let symbol = function.map_or_else(|| SCRIPT.into(), |it| it.name.clone());
    rules
        .iter()
        .filter(|rule| rule.fault == fault.kind)
        .filter(|rule| rule.filter.admits(&fault.table, &fault.column, &fault.to))
        .filter_map(|rule| {
            let severity = rule.severity(fault.confidence)?;
            let mut builder =
                FindingBuilder::new(rule.id.clone(), severity, fault.confidence, fault.primary)
                    .text(
                        rule.texts.message.render(&fault.values),
                        rule.texts.why.render(&fault.values),
                        rule.texts.help.render(&fault.values),
                    )
                    .subject(&fault.table, &fault.column, &symbol)
                    .schedule(fault.schedule.clone());
            for (role, span, message) in &fault.steps {
                builder = builder.step(*role, *span, message.clone());
            }
            Some(builder.build())
        })
        .collect()
}

/// Whether `fault` says more than `known`, which is of the same kind and place.
fn is_better(input: &Input<'_>, fault: &Fault, known: &Fault) -> bool {
    let checks = |it: &Fault| -> (bool, Vec<String>) {
        let checks = it.steps.iter().filter(|it| it.0 == StepRole::Check);
        let checks: Vec<String> = checks.map(|it| input.said_at(it.1)).collect();
        (checks.is_empty(), checks)
    };
    match fault.confidence.cmp(&known.confidence) {
        Ordering::Equal => checks(fault) < checks(known),
        order => order == Ordering::Greater,
    }
}

/// One fault for each kind and place, the strongest; a special kind takes the place of the general one.
/// Of equal ones that whose check reads first: which file it stands in must not matter to a baseline.
fn settle(input: &Input<'_>, faults: Vec<Fault>) -> Vec<Fault> {
    let mut best: BTreeMap<(Span, FaultKind), Fault> = BTreeMap::new();
    for fault in faults {
        let key = (fault.primary, fault.kind);
        match best.get(&key) {
            Some(known) if !is_better(input, &fault, known) => (),
            _ => {
                best.insert(key, fault);
            }
        }
    }
    let special = |span: Span| {
        [FaultKind::StaleCheck, FaultKind::StaleWriteBack, FaultKind::IgnoredClaim]
            .iter()
            .any(|kind| best.get(&(span, *kind)).is_some_and(|it| it.confidence > Confidence::Low))
    };
    best.iter()
        .filter(|((span, kind), _)| {
            let general =
                matches!(kind, FaultKind::UnguardedTransition | FaultKind::UnguardedStatement);
            !(general && special(*span))
        })
        .map(|(_, fault)| fault.clone())
        .collect()
}
