//! Printed form of summaries: one line for each effect and load, a few for each write.

use super::fact::{CheckFact, Context, LoadFact, WriteFact};
use super::summary::{Effect, Summary};
use super::value::{FoldedPiece, Identity, TestOp, Value};
use crate::base::{Span, last_segment};
use crate::ir::{Condition, SqlExpr, Statement};
use std::fmt::Write as _;

/// A function's summary and writes.
pub fn summary(summary: &Summary, writes: &[WriteFact]) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "  ret {}", value(&summary.ret));
    for effect in &summary.effects {
        let _ = writeln!(out, "  {}", effect_line(effect));
    }
    for write in writes {
        out.push_str(&write_lines(write));
    }
    out
}

fn effect_line(effect: &Effect) -> String {
    match effect {
        Effect::Check(it) => check_line(it),
        Effect::Load(it) => load_line(it),
        Effect::Acquire(it) => format!("acquire {:?} {}", it.kind, short(it.id)),
        Effect::Release => "release".to_owned(),
        Effect::Begin { strict, .. } => format!("begin strict={strict}"),
        Effect::End => "end".to_owned(),
        Effect::Call { callable, args, .. } => {
            format!("call {} ({})", value(callable), values(args))
        }
        Effect::Flush(_) => "flush".to_owned(),
        Effect::Claim { id, .. } => format!("claim {}", short(*id)),
    }
}

fn write_lines(write: &WriteFact) -> String {
    let mut out = String::new();
    let word = write.table.word().unwrap_or("?");
    let _ = write!(
        out,
        "  write {} {:?} {word} at {}",
        short(write.id),
        write.kind,
        place(write.primary)
    );
    for (name, holds) in [
        ("fresh", write.fresh),
        ("whole", write.whole),
        ("weak", write.weak),
        ("versioned", write.versioned),
        ("workerlike", write.workerlike),
    ] {
        if holds {
            let _ = write!(out, " {name}");
        }
    }
    let row = write.row.as_ref().map(value).unwrap_or_default();
    let _ = writeln!(
        out,
        " row={row} look={:?} gives={:?} engine={:?}",
        write.look, write.gives, write.engine
    );
    if let Some((stmt, params)) = &write.statement {
        let _ = writeln!(out, "    {}", statement_line(stmt));
        let params: Vec<String> =
            params.iter().map(|(key, it)| format!("{key:?}={}", value(it))).collect();
        let _ = writeln!(out, "    params {}", params.join(" "));
    }
    for change in &write.changes {
        let _ = writeln!(out, "    change {} = {}", change.column, value(&change.value));
    }
    let _ = writeln!(out, "    in {}", context(&write.context));
    for check in &write.checks {
        let _ = writeln!(out, "    {}", check_line(check));
    }
    for load in &write.loads {
        let _ = writeln!(out, "    {}", load_line(load));
    }
    for claim in &write.claims {
        let _ = writeln!(
            out,
            "    claim {} won={} stale={}",
            short(claim.id),
            claim.won,
            claim.stale_copy
        );
    }
    out
}

fn statement_line(stmt: &Statement) -> String {
    let sets: Vec<String> =
        stmt.sets.iter().map(|it| format!("{} = {}", it.column, sql(&it.value))).collect();
    let conditions: Vec<String> = stmt.conditions.iter().map(condition).collect();
    let mut out = format!(
        "{:?} {} SET {} WHERE {}",
        stmt.kind,
        stmt.table,
        sets.join(", "),
        conditions.join(" AND ")
    );
    if !stmt.complete || !stmt.condition_holes.is_empty() {
        out.push_str(" ...");
    }
    if let Some(source) = &stmt.source {
        let _ = write!(out, " FROM ({} lock={:?})", statement_line(source), source.lock);
    }
    if let Some(upsert) = &stmt.upsert {
        let sets: Vec<String> =
            upsert.sets.iter().map(|it| format!("{} = {}", it.column, sql(&it.value))).collect();
        let conditions: Vec<String> = upsert.conditions.iter().map(condition).collect();
        let _ = write!(out, " UPSERT SET {} WHERE {}", sets.join(", "), conditions.join(" AND "));
    }
    out
}

fn condition(it: &Condition) -> String {
    if !it.any.is_empty() {
        let branches: Vec<String> = it
            .any
            .iter()
            .map(|branch| branch.iter().map(condition).collect::<Vec<_>>().join(" AND "))
            .collect();
        return format!("({})", branches.join(" OR "));
    }
    let values: Vec<String> = it.values.iter().map(sql).collect();
    let foreign = if it.foreign { "foreign " } else { "" };
    format!("{foreign}{} {:?} {}", it.column, it.op, values.join(","))
}

fn sql(expr: &SqlExpr) -> String {
    format!("{expr:?}")
}

fn check_line(it: &CheckFact) -> String {
    let passes = match &it.passes {
        Ok(them) => format!("in [{}]", values(them)),
        Err(them) => format!("not in [{}]", values(them)),
    };
    format!("check {}.{} {:?} {passes} at {}", value(&it.row), it.column, it.kind, place(it.span))
}

fn load_line(it: &LoadFact) -> String {
    let filters: Vec<String> = it
        .filters
        .iter()
        .map(|it| {
            let op = if it.negated { "not in" } else { "in" };
            format!(
                "{} {op} [{}]{}",
                it.column,
                values(&it.values),
                if it.vague { " vague" } else { "" }
            )
        })
        .collect();
    let key = it.key.as_ref().map(value).unwrap_or_default();
    format!(
        "load {} of {} key={key} {}{}{} at {} in {}",
        value(&it.row),
        it.table.word().unwrap_or("?"),
        filters.join(", "),
        if it.locks { " locks" } else { "" },
        if it.weak { " weak" } else { "" },
        place(it.span),
        context(&it.context)
    )
}

fn context(it: &Context) -> String {
    let held: Vec<String> = it
        .held
        .iter()
        .map(|it| format!("{:?}{} {}", it.kind, if it.unsure { "?" } else { "" }, short(it.id)))
        .collect();
    format!("{:?} [{}]", it.transaction, held.join(", "))
}

fn place(span: Span) -> String {
    format!("{}..{}", span.start, span.end)
}

fn short(id: Identity) -> String {
    format!("{:04x}", id.0 & 0xffff)
}

fn values(them: &[Value]) -> String {
    them.iter().map(value).collect::<Vec<_>>().join(", ")
}

/// A value in a few characters: `#0` is a parameter, `^0` a capture, `o12ab` an object, `?12ab` unknown.
pub fn value(it: &Value) -> String {
    match it {
        Value::Unknown => "_".to_owned(),
        Value::Failed => "err".to_owned(),
        Value::Null => "null".to_owned(),
        Value::Bool(it) => it.to_string(),
        Value::Int(it) => it.to_string(),
        Value::Str(it) => format!("'{it}'"),
        Value::Class(it) => format!("class {it}"),
        Value::Case(class, name) => format!("{}::{name}", last_segment(class)),
        Value::Param(it) => format!("#{it}"),
        Value::Capture(it) => format!("^{it}"),
        Value::This => "this".to_owned(),
        Value::Static(it) => format!("static {it}"),
        Value::Path(it) => format!("{}.{}", value(&it.0), it.1),
        Value::Element(it) => format!("{}[]", value(it)),
        Value::Object(it) => format!("o{}", short(*it)),
        Value::Opaque(it) => format!("?{}", short(*it)),
        Value::Text(text) => {
            let pieces = text.pieces.iter().map(|it| match it {
                FoldedPiece::Lit { value, .. } => value.to_string(),
                FoldedPiece::Hole { value: it, .. } => format!("{{{}}}", value(it)),
            });
            format!("\"{}\"", pieces.collect::<String>())
        }
        Value::Closure(at, captured) => format!("closure {} [{}]", at.func.0, values(captured)),
        Value::Method(it) => format!("{}->{}", value(&it.0), it.1),
        Value::Function(it) => format!("fn {it}"),
        Value::Test(it) => {
            let op = match it.op {
                TestOp::Eq => "==",
                TestOp::Ne => "!=",
                TestOp::Order => "<>",
            };
            format!("({} {op} {})", value(&it.left), values(&it.right))
        }
        Value::Truthy(it) => format!("truthy({})", value(it)),
        Value::Count(it) => format!("count({})", short(*it)),
        Value::Ran(it) => format!("ran({})", short(*it)),
        Value::Got(it) => format!("got({})", short(*it)),
        Value::Choice(it) => {
            format!("({} ? {} : {})", value(&it.test), value(&it.then), value(&it.otherwise))
        }
        Value::Derived(them) => format!("from({})", values(them)),
        Value::Any(them) => format!("any({})", values(them)),
    }
}
