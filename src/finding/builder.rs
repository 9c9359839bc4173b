//! The only way to make a [`Finding`]: a rule, a weight and exactly one primary place.

use super::{Confidence, Edit, Finding, RuleId, Schedule, Severity, Step, StepRole};
use crate::base::Span;

/// Collects the parts of a finding; `build` gives it.
#[derive(Debug)]
pub struct FindingBuilder {
    finding: Finding,
}

impl FindingBuilder {
    /// Starts a finding of `rule` that points at `primary`.
    pub fn new(rule: RuleId, severity: Severity, confidence: Confidence, primary: Span) -> Self {
        let finding = Finding {
            rule,
            severity,
            confidence,
            primary,
            message: String::new(),
            why: String::new(),
            help: String::new(),
            steps: Vec::new(),
            schedule: None,
            table: String::new(),
            column: String::new(),
            symbol: String::new(),
            edits: Vec::new(),
        };
        Self { finding }
    }

    /// Headline, reason and remedy.
    #[must_use]
    pub fn text(mut self, message: String, why: String, help: String) -> Self {
        self.finding.message = message;
        self.finding.why = why;
        self.finding.help = help;
        self
    }

    /// What the fault is about: table, column and enclosing function.
    #[must_use]
    pub fn subject(mut self, table: &str, column: &str, symbol: &str) -> Self {
        table.clone_into(&mut self.finding.table);
        column.clone_into(&mut self.finding.column);
        symbol.clone_into(&mut self.finding.symbol);
        self
    }

    /// Appends a step; one that repeats the place and role of an earlier step is dropped.
    #[must_use]
    pub fn step(mut self, role: StepRole, span: Span, message: impl Into<String>) -> Self {
        if !self.finding.steps.iter().any(|it| it.role == role && it.span == span) {
            self.finding.steps.push(Step { role, span, message: message.into() });
        }
        self
    }

    /// The order of statements that proves it.
    #[must_use]
    pub fn schedule(mut self, schedule: Option<Schedule>) -> Self {
        self.finding.schedule = schedule;
        self
    }

    /// Appends an edit that is part of the repair.
    #[must_use]
    pub fn edit(mut self, edit: Edit) -> Self {
        self.finding.edits.push(edit);
        self
    }

    /// The finished finding.
    pub fn build(self) -> Finding {
        self.finding
    }
}
