//! Lists and the texts that are made of them: keys, elements joined by a glue, what a loop appends.
//!
//! A text that a loop builds is read as if the loop ran once: `col = ?` stands for as many pairs as the
//! array of the caller has.

use super::Interp;
use super::call::Site;
use crate::analysis::object::{ArrayEntry, ArrayState, Object, ObjectKind};
use crate::analysis::state::State;
use crate::analysis::value::{FoldedPiece, FoldedText, Value};
use crate::base::Span;
use crate::model::Access;
use std::sync::Arc;

impl Interp<'_> {
    /// The keys of an array, as a list.
    pub(super) fn keys_role(&mut self, state: &mut State, site: &Site<'_>, of: &Access) -> Value {
        let of = self.access(state, site, of);
        let kind = match state.object(&of).map(|it| &it.kind) {
            Some(ObjectKind::Array(array)) => {
                let entries = array.items.iter().enumerate();
                let items = entries.map(|(idx, it)| ArrayEntry {
                    key: Value::Int(i64::try_from(idx).unwrap_or(0)),
                    value: it.key.clone(),
                    span: it.span,
                });
                ObjectKind::Array(ArrayState { items: items.collect(), open: array.open })
            }
            _ => ObjectKind::List(Value::derived([of])),
        };
        let out = Value::Object(self.identity(&"keys"));
        state.put(out.clone(), Object { kind, ..Object::default() });
        out
    }

    /// The key that a loop over `list` has: one of the known ones, or something that only the list knows.
    pub(super) fn key_of_element(&self, state: &State, list: &Value) -> Value {
        let known = match state.object(list).map(|it| &it.kind) {
            Some(ObjectKind::Array(array)) if !array.open => {
                array.items.iter().map(|it| it.key.clone()).reduce(Value::join)
            }
            _ => None,
        };
        known.unwrap_or_else(|| Value::derived([list.clone()]))
    }

    /// `implode(', ', $pairs)`.
    pub(super) fn implode_role(
        &mut self,
        state: &mut State,
        site: &Site<'_>,
        glue: Option<&Access>,
        parts: &Access,
    ) -> Value {
        let glue = glue.map_or(Value::Unknown, |it| self.access(state, site, it));
        let parts = self.access(state, site, parts);
        let items: Vec<Value> = match state.object(&parts).map(|it| &it.kind) {
            Some(ObjectKind::Array(array)) => {
                array.items.iter().map(|it| it.value.clone()).collect()
            }
            Some(ObjectKind::List(each)) => vec![each.clone()],
            _ => return Value::derived([parts]),
        };
        let span = self.span;
        let mut out = FoldedText::default();
        for (idx, item) in items.iter().enumerate() {
            if idx > 0 {
                out.append(FoldedText::of_value(&glue, span, false));
            }
            out.append(FoldedText::of_value(item, span, false));
        }
        super::eval::split_alternatives(out)
    }
}

/// What a loop appends to, when it was appended to in the turn before: `own` are the places of the
/// literals that are appended.
pub(super) fn appended_before(value: &Value, own: &[Span]) -> Option<Value> {
    let repeats = |value: &&Value| match value {
        Value::Text(inner) => inner.pieces.iter().any(|it| match it {
            FoldedPiece::Lit { span, .. } => span.start < span.end && own.contains(span),
            FoldedPiece::Hole { .. } => false,
        }),
        _ => false,
    };
    value.alternatives().iter().filter(repeats).cloned().reduce(Value::join)
}

/// Notes in a text that the place `here` has appended to it.
pub(super) fn mark_appended(value: Value, here: Span) -> Value {
    let mark = |value: &Value| match value {
        Value::Text(text) => {
            let mut text = (**text).clone();
            let value = "".into();
            text.pieces.push(FoldedPiece::Lit { value, span: here, offsets: Arc::default() });
            Value::Text(Arc::new(text))
        }
        other => other.clone(),
    };
    value.alternatives().iter().map(mark).reduce(Value::join).unwrap_or_default()
}

/// An entry that the same place pushed in an earlier turn of a loop stands for all of them.
pub(super) fn push(array: &mut ArrayState, value: Value, span: Span) {
    if let Some(earlier) = array.items.iter_mut().find(|it| it.span == span) {
        earlier.value = std::mem::take(&mut earlier.value).join(value);
        array.open = true;
        return;
    }
    if array.items.len() < 64 {
        let key = Value::Int(i64::try_from(array.items.len()).unwrap_or(0));
        array.items.push(ArrayEntry { key, value, span });
    }
}
