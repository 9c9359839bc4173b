//! What did the analysis leave open? Calls that look like writes, locks or acks of callees that nothing
//! is known of, SQL whose text or WHERE is not known, and functions that a limit cut.
//!
//! ```text
//! $this->ledger->save($entry);           a write, when no `ledger` is declared and no pack has it
//! $db->query($this->sql[$name], [$id]);  SQL whose text is not known
//! $db->query("UPDATE jobs SET s = 1 $where");    an UPDATE whose WHERE is not known
//! ```

use super::fact::WriteFact;
use super::interp::{self, MAX_EFFECTS, MAX_WRITES};
use super::store::{MAX_TRACE, Settled};
use super::summary::{CallSite, Resolved};
use super::value::FoldedPiece;
use super::{Program, Value};
use crate::base::{Language, Span, last_segment, snake_case};
use crate::finding::{Coverage, Gap, GapKind, Share};
use crate::ir::{Call, Callee, ClassRef, FuncRef, FunctionKind, InstrKind, StatementKind};
use crate::model::{Access, Role, Words};
use std::collections::BTreeMap;

/// What was understood of `program`, and what was not. Code that is exempt does not count.
pub fn gaps(program: &Program<'_>, settled: &Settled, words: &Words) -> Coverage {
    let mut ctx = Ctx { program, settled, words, shares: BTreeMap::new(), gaps: BTreeMap::new() };
    for (at, resolved) in &settled.resolved {
        if !program.is_exempt(*at) {
            ctx.calls(*at, resolved);
        }
    }
    ctx.conditions();
    ctx.cuts();
    ctx.finish()
}

struct Ctx<'a> {
    program: &'a Program<'a>,
    settled: &'a Settled,
    words: &'a Words,
    shares: BTreeMap<GapKind, Share>,
    gaps: BTreeMap<(GapKind, String), (usize, Span)>,
}

impl Ctx<'_> {
    /// Counts a thing; one that is not understood is a gap.
    fn note(&mut self, kind: GapKind, known: bool, name: impl FnOnce() -> String, span: Span) {
        self.shares.entry(kind).or_default().add(known);
        if !known {
            let gap = self.gaps.entry((kind, name())).or_insert((0, span));
            gap.0 += 1;
            gap.1 = gap.1.min(span);
        }
    }

    fn calls(&mut self, at: FuncRef, resolved: &Resolved) {
        let blocks = &self.program.function(at).cfg.blocks;
        for ((block, instr), site) in &resolved.calls {
            let instr = blocks.get(*block).and_then(|it| it.instrs.get(*instr as usize));
            let Some(InstrKind::Call(call)) = instr.map(|it| &it.kind) else { continue };
            if let Some(kind) = self.looks_like(&call.callee) {
                let language = self.program.language(at);
                self.note(kind, !site.unknown, || shown(call, site, language), call.name_span);
            }
            if let Some(known) = self.has_text(at, site) {
                let language = self.program.language(at);
                self.note(GapKind::Text, known, || shown(call, site, language), call.name_span);
            }
        }
    }

    /// What a call does, by its name alone.
    fn looks_like(&self, callee: &Callee) -> Option<GapKind> {
        let name = snake_case(name_of(callee)?);
        let first = name.split('_').next().unwrap_or_default();
        if ["is", "has", "get", "can", "should", "on"].contains(&first) {
            None
        } else if self.words.ack_calls.matches(first) {
            Some(GapKind::Ack)
        } else if self.words.lock_calls.matches(&name) {
            Some(GapKind::Lock)
        } else if self.words.write_calls.matches(first) {
            Some(GapKind::Write)
        } else {
            None
        }
    }

    /// Whether the text that a call runs or prepares is known; none when it runs none, or one that only
    /// its callers know.
    fn has_text(&self, at: FuncRef, site: &CallSite) -> Option<bool> {
        let access = site.roles.iter().find_map(|it| match &**it {
            Role::Execute { sql, .. } => sql.as_ref(),
            Role::Prepare { sql, .. } => Some(sql),
            _ => None,
        })?;
        let Access::Arg(idx, _) = access else { return None };
        let text = site.args.get(*idx as usize)?;
        if matches!(text, Value::Param(_)) && self.settled.imported.contains(&at) {
            return None;
        }
        Some(match text {
            Value::Unknown
            | Value::Failed
            | Value::Param(_)
            | Value::Capture(_)
            | Value::Static(_)
            | Value::Path(_)
            | Value::Element(_)
            | Value::Opaque(_)
            | Value::Derived(_) => false,
            Value::Text(it) => it.pieces.iter().any(|it| matches!(it, FoldedPiece::Lit { .. })),
            _ => true,
        })
    }

    /// UPDATE and DELETE statements, each place once: open when one way to it leaves it open.
    fn conditions(&mut self) {
        let mut places: BTreeMap<Span, (bool, String)> = BTreeMap::new();
        for (at, facts) in &self.settled.facts {
            let is_root = !self.settled.imported.contains(at);
            if self.program.is_exempt(*at) {
                continue;
            }
            for write in &facts.writes {
                if !is_root && write.trace.len() < MAX_TRACE {
                    continue;
                }
                let Some(known) = has_condition(write) else { continue };
                let name = || write.table.word().unwrap_or("a table that is not known").to_owned();
                let place = places.entry(write.primary).or_insert_with(|| (true, name()));
                place.0 &= known;
            }
        }
        for (span, (known, name)) in places {
            self.note(GapKind::Where, known, || name, span);
        }
    }

    fn cuts(&mut self) {
        for (at, summary) in &self.settled.summaries {
            let func = self.program.function(*at);
            if self.program.is_exempt(*at) || func.kind == FunctionKind::Closure {
                continue;
            }
            let whole = interp::is_read(func)
                && summary.writes.len() < MAX_WRITES
                && summary.effects.len() < MAX_EFFECTS;
            self.note(GapKind::Cut, whole, || func.name.to_string(), func.span);
        }
    }

    fn finish(self) -> Coverage {
        let share = |kind| self.shares.get(&kind).copied().unwrap_or_default();
        let mut gaps: Vec<Gap> = self
            .gaps
            .into_iter()
            .map(|((kind, name), (count, first))| Gap { kind, name, count, first })
            .collect();
        gaps.sort_by(|a, b| (a.kind, b.count, &a.name).cmp(&(b.kind, a.count, &b.name)));
        Coverage { shares: GapKind::ALL.map(|it| (it, share(it))).to_vec(), gaps }
    }
}

/// Whether the WHERE of a statement that changes rows is known; none for other writes.
fn has_condition(write: &WriteFact) -> Option<bool> {
    let (stmt, _) = write.statement.as_ref()?;
    matches!(stmt.kind, StatementKind::Update | StatementKind::Delete)
        .then(|| !stmt.has_unknown_condition())
}

fn name_of(callee: &Callee) -> Option<&str> {
    match callee {
        Callee::Function(name) | Callee::Macro(name) => Some(last_segment(name)),
        Callee::Method { name, .. } | Callee::Static { name, .. } => Some(name),
        Callee::New(_) | Callee::Value(_) | Callee::Unknown => None,
    }
}

/// `App\Ledger::save()`, `->save()` where nothing is known of the receiver, `save_row()`.
fn shown(call: &Call, site: &CallSite, language: Language) -> String {
    let name = name_of(&call.callee).unwrap_or_default();
    match (&call.callee, &site.receiver_type) {
        (Callee::Method { .. }, Some(ty)) => format!("{}::{name}()", ty.name),
        (Callee::Method { .. }, None) if language == Language::Php => format!("->{name}()"),
        (Callee::Method { .. }, None) => format!(".{name}()"),
        (Callee::Static { class: ClassRef::Named(class), .. }, _) => format!("{class}::{name}()"),
        (Callee::Function(path) | Callee::Macro(path), _) => format!("{path}()"),
        _ => format!("{name}()"),
    }
}
