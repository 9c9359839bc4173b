//! Statements of `.sql` files that no code was seen to run: what they do by themselves.

use super::Input;
use crate::analysis::fact::{Context, Look, Table, WriteFact, WriteKind};
use crate::analysis::value::Identity;
use crate::base::Span;
use crate::ir::{FuncId, FuncRef, Statement, StatementKind};
use crate::model::Yield;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The writes of all scripts, without those that code runs.
pub(super) fn writes(input: &Input<'_>) -> Vec<WriteFact> {
    let run: BTreeSet<Span> = input
        .settled
        .facts
        .values()
        .flat_map(|it| &it.writes)
        .filter_map(|it| it.statement.as_ref().map(|(stmt, _)| stmt.verb_span))
        .collect();
    let mut out = Vec::new();
    for file in input.program.files().filter(|it| !it.exempt) {
        let symbol = FuncRef { source: file.source, func: FuncId(0) };
        for stmt in &file.statements {
            let writes = matches!(stmt.kind, StatementKind::Update | StatementKind::Upsert);
            if writes && !run.contains(&stmt.verb_span) {
                out.push(write(stmt, symbol));
            }
        }
    }
    out
}

fn write(stmt: &Statement, symbol: FuncRef) -> WriteFact {
    WriteFact {
        id: Identity(u64::from(stmt.verb_span.start)),
        kind: WriteKind::Statement,
        row: None,
        fresh: false,
        whole: false,
        table: Table { table: Some(stmt.table.clone()), model: None, value: None },
        statement: Some((Arc::new(stmt.clone()), Arc::default())),
        primary: stmt.verb_span,
        symbol,
        run: None,
        sql: None,
        changes: Vec::new(),
        checks: Vec::new(),
        loads: Vec::new(),
        claims: Vec::new(),
        context: Context::default(),
        // Whoever runs a script sees the count.
        look: Look::Looked,
        answer: None,
        gives: Yield::Void,
        trace: Vec::new(),
        engine: stmt.engine,
        follows: false,
        versioned: false,
        weak: false,
        only_if: Vec::new(),
        followed: true,
        behind: false,
        workerlike: false,
    }
}
