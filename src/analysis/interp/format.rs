//! Texts put together from templates, and read as SQL.

use super::sql::MAX_TEXTS;
use super::sql::Parsed;
use crate::analysis::value::{FoldedPiece, FoldedText, Value};
use crate::base::{Name, Span};
use crate::ir::{ParamRef, StatementKind};
use crate::lang::sql::{self, SqlPiece, SqlText};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) fn bind_key(key: &Value) -> Option<ParamRef> {
    match key {
        Value::Int(it) => Some(ParamRef::Position(u32::try_from(it - 1).unwrap_or(0))),
        key => {
            let name = key.as_str()?;
            Some(ParamRef::Named(name.trim_start_matches([':', '@', '$']).into()))
        }
    }
}

/// The statements in a text, for each way in which it is built; empty when it is no SQL or not known.
pub(super) fn parse_value(text: &Value) -> Vec<Parsed> {
    let mut out = Vec::new();
    for it in text.alternatives().iter().take(MAX_TEXTS) {
        let folded = match it {
            Value::Text(text) => Arc::clone(text),
            _ => continue,
        };
        let (sql_text, holes) = to_sql(&folded);
        let holes = Arc::new(holes);
        for stmt in sql::parse(&sql_text, None) {
            out.push((Arc::new(stmt), Arc::clone(&holes)));
        }
    }
    keep_whole(out)
}

/// Of several ways to build a text, those that can be read whole: a way that leaves a list empty, or
/// begins it with a comma, is none that runs.
pub(super) fn keep_whole(mut parsed: Vec<Parsed>) -> Vec<Parsed> {
    let whole: Vec<StatementKind> =
        parsed.iter().filter(|it| it.0.complete).map(|it| it.0.kind).collect();
    parsed.retain(|it| it.0.complete || !whole.contains(&it.0.kind));
    parsed
}

/// A text as the SQL reader takes it, and the values of its holes.
pub(super) fn to_sql(text: &FoldedText) -> (SqlText, BTreeMap<ParamRef, Value>) {
    let mut pieces = Vec::with_capacity(text.pieces.len());
    let mut holes = BTreeMap::new();
    for piece in &text.pieces {
        match piece {
            FoldedPiece::Lit { value, span, offsets } => pieces.push(SqlPiece::Lit {
                value: value.clone(),
                span: *span,
                offsets: (**offsets).clone(),
            }),
            FoldedPiece::Hole { value, span, numeric } => {
                let n = u32::try_from(holes.len()).unwrap_or(u32::MAX);
                holes.insert(ParamRef::Hole(n), value.clone());
                pieces.push(SqlPiece::Hole { numeric: *numeric, span: *span });
            }
        }
    }
    (SqlText { pieces }, holes)
}

/// `sprintf(template, args)`: `%s`, `%d`, `%1$s` become the arguments.
pub(super) fn format_text(template: &Value, args: &[Value], span: Span) -> Value {
    let Value::Text(text) = template else {
        return Value::derived(args.iter().cloned().chain([template.clone()]));
    };
    let mut out = FoldedText::default();
    let mut next = 0;
    for piece in &text.pieces {
        match piece {
            FoldedPiece::Hole { .. } => out.pieces.push(piece.clone()),
            FoldedPiece::Lit { value, span: at, offsets } => {
                format_piece(value, (*at, offsets), (args, span), &mut next, &mut out);
            }
        }
    }
    Value::Text(Arc::new(out))
}

pub(super) fn format_piece(
    value: &Name,
    (at, offsets): (Span, &[(u32, u32)]),
    (args, span): (&[Value], Span),
    next: &mut usize,
    out: &mut FoldedText,
) {
    let source =
        crate::ir::Piece::Lit { value: value.clone(), span: at, offsets: offsets.to_vec() };
    let literal = |from: usize, to: usize, out: &mut FoldedText| {
        if from < to {
            let offset = |it: usize| source.source_offset(u32::try_from(it).unwrap_or(u32::MAX));
            let start = offset(from);
            let rest: Vec<(u32, u32)> = offsets
                .iter()
                .filter(|(value, _)| (from..to).contains(&(*value as usize)))
                .map(|&(value, source)| {
                    let from = u32::try_from(from).unwrap_or(0);
                    (value - from, (at.start + source).saturating_sub(start))
                })
                .collect();
            out.pieces.push(FoldedPiece::Lit {
                value: value[from..to].into(),
                span: Span { start, end: offset(to).max(start), ..at },
                offsets: Arc::new(rest),
            });
        }
    };
    let bytes = value.as_bytes();
    let (mut from, mut idx) = (0, 0);
    while idx < bytes.len() {
        if bytes[idx] != b'%' {
            idx += 1;
            continue;
        }
        let Some((len, which, kind)) = directive(&value[idx..]) else {
            idx += 1;
            continue;
        };
        literal(from, idx, out);
        if kind == '%' {
            out.pieces.push(FoldedPiece::Lit {
                value: "%".into(),
                span: at,
                offsets: Arc::default(),
            });
        } else {
            let arg = which.unwrap_or_else(|| {
                *next += 1;
                *next - 1
            });
            let value = args.get(arg).cloned().unwrap_or_default();
            out.append(FoldedText::of_value(&value, span, matches!(kind, 'd' | 'u' | 'f')));
        }
        idx += len;
        from = idx;
    }
    literal(from, bytes.len(), out);
}

/// Length, argument number and conversion of the directive at the start of `text`.
pub(super) fn directive(text: &str) -> Option<(usize, Option<usize>, char)> {
    let rest = &text[1..];
    if rest.starts_with('%') {
        return Some((2, None, '%'));
    }
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (which, skip) = match rest.as_bytes().get(digits) {
        Some(b'$') if digits > 0 => {
            (rest[..digits].parse::<usize>().ok()?.checked_sub(1), digits + 1)
        }
        _ => (None, 0),
    };
    let flags = rest[skip..]
        .bytes()
        .take_while(|it| it.is_ascii_digit() || matches!(it, b'-' | b'+' | b'.' | b'\'' | b' '))
        .count();
    let kind = rest[skip + flags..].chars().next()?;
    matches!(kind, 's' | 'd' | 'u' | 'f' | 'i' | 'b' | 'x' | 'X' | 'F').then_some((
        1 + skip + flags + 1,
        which,
        kind,
    ))
}

/// The assignments in a text: `"status = 'closed', closed_at = NOW()"`.
pub(super) fn assignments(
    value: &Value,
) -> Option<(Vec<crate::ir::Assign>, Arc<BTreeMap<ParamRef, Value>>)> {
    let Value::Text(text) = value else { return None };
    let span = text.pieces.iter().find_map(|it| match it {
        FoldedPiece::Lit { span, value, .. } if value.contains('=') => Some(*span),
        _ => None,
    })?;
    let mut whole = FoldedText::of_value(&Value::Str("UPDATE t SET ".into()), span, false);
    whole.append((**text).clone());
    let (stmt, params) = parse_value(&Value::Text(Arc::new(whole))).into_iter().next()?;
    (!stmt.sets.is_empty()).then(|| (stmt.sets.clone(), params))
}
