//! What an expression is worth: operands, right sides, comparisons, texts.

use super::Interp;
use crate::analysis::object::{ArrayEntry, ArrayState, Field, Object, ObjectKind};
use crate::analysis::state::State;
use crate::analysis::value::{FoldedPiece, FoldedText, Test, TestOp, Value};
use crate::base::{Language, Name, Span, last_segment};
use crate::ir::{
    BinaryOp, ClassRef, Const, FuncRef, Operand, Piece, Place, Rvalue, Text, TypeKind, TypeRef,
    UnaryOp,
};
use crate::model::{Access, Role};
use std::sync::Arc;

impl Interp<'_> {
    pub(super) fn operand(&self, state: &State, operand: &Operand) -> Value {
        match operand {
            Operand::Local(id) => state.locals.get(id.0 as usize).cloned().unwrap_or_default(),
            Operand::Const(it) => self.constant(it),
        }
    }

    /// As `operand`; an array constant becomes an array of the heap.
    pub(super) fn operand_mut(
        &mut self,
        state: &mut State,
        operand: &Operand,
        what: &impl std::hash::Hash,
    ) -> Value {
        let Operand::Const(Const::Array(items)) = operand else {
            let value = self.operand(state, operand);
            return match operand {
                Operand::Local(local) => self.decided(*local, value),
                Operand::Const(_) => value,
            };
        };
        self.const_array(state, items, what)
    }

    fn const_array(
        &mut self,
        state: &mut State,
        items: &[(Const, Const)],
        what: &impl std::hash::Hash,
    ) -> Value {
        let mut array = ArrayState::default();
        for (idx, (key, value)) in items.iter().enumerate() {
            let position = i64::try_from(idx).unwrap_or(0);
            let key = match key {
                Const::Null => Value::Int(position),
                key => self.constant(key),
            };
            let value = match value {
                Const::Array(inner) => {
                    let nested = (self.identity(what).0, idx);
                    self.const_array(state, inner, &nested)
                }
                value => self.constant(value),
            };
            array.items.push(ArrayEntry { key, value, span: self.span });
        }
        let out = Value::Object(self.identity(&("array", self.identity(what).0)));
        state.put(out.clone(), Object { kind: ObjectKind::Array(array), ..Object::default() });
        out
    }

    pub(super) fn constant(&self, it: &Const) -> Value {
        match it {
            Const::Null => Value::Null,
            Const::Bool(it) => Value::Bool(*it),
            Const::Int(it) => Value::Int(*it),
            Const::Str(it) | Const::Float(it) => Value::Str(it.clone()),
            Const::Class(it) => Value::Class(self.shared.program.canonical(it)),
            Const::File(path) => self.file_text(path),
            Const::Named { class, name } => self.named_constant(class.as_ref(), name),
            Const::Array(_) | Const::Unknown => Value::Unknown,
        }
    }

    /// The text of a `.sql` file of the program, with its places.
    fn file_text(&self, path: &Name) -> Value {
        let Some(source) = self.shared.program.script(path, self.at.source) else {
            return Value::Unknown;
        };
        let span = Span::new(source.id, 0, source.text.len());
        let value = Name::from(source.text.as_str());
        let piece = FoldedPiece::Lit { value, span, offsets: Arc::default() };
        Value::Text(Arc::new(FoldedText { pieces: vec![piece] }))
    }

    fn named_constant(&self, class: Option<&ClassRef>, name: &Name) -> Value {
        let program = self.shared.program;
        let Some(class) = class else {
            return match program.free_const(name) {
                Some(decl) => self.const_decl_value(decl, None),
                None => Value::Static(name.clone()),
            };
        };
        let class = self.class_name(class).unwrap_or_default();
        match program.class_const(&class, name) {
            // An enum case stays a case; its backing value is looked up when states are compared.
            Some((owner, decl)) if decl.is_case => {
                Value::Case(owner.name.clone(), decl.name.clone())
            }
            Some((owner, decl)) => self.const_decl_value(decl, Some(&owner.name)),
            None => Value::Case(class, name.clone()),
        }
    }

    fn const_decl_value(&self, decl: &crate::ir::ConstDecl, owner: Option<&Name>) -> Value {
        if let Some(text) = &decl.text {
            return self.text(&State::default(), text);
        }
        match &decl.value {
            Const::Named { class, name } => {
                let class = match class {
                    Some(ClassRef::Named(it)) => Some(it.clone()),
                    Some(_) => owner.cloned(),
                    None => None,
                };
                match self.shared.program.const_value(class.as_deref(), name) {
                    Some(value) if !matches!(value, Const::Named { .. }) => self.constant(value),
                    _ => Value::Case(class.unwrap_or_default(), name.clone()),
                }
            }
            Const::Unknown | Const::Array(_) => match owner {
                Some(owner) => Value::Case(owner.clone(), decl.name.clone()),
                None => Value::Static(decl.name.clone()),
            },
            value => self.constant(value),
        }
    }

    pub(super) fn text(&self, state: &State, text: &Text) -> Value {
        let mut out = FoldedText::default();
        let own = own_literals(text);
        for piece in &text.pieces {
            match piece {
                Piece::Lit { value, span, offsets } => out.pieces.push(FoldedPiece::Lit {
                    value: value.clone(),
                    span: *span,
                    offsets: Arc::new(offsets.clone()),
                }),
                Piece::Hole(hole) => {
                    let value = self.operand(state, &hole.value);
                    if let Some(before) = super::list::appended_before(&value, &own) {
                        return before;
                    }
                    out.append(FoldedText::of_value(&value, hole.span, hole.numeric));
                }
            }
        }
        split_alternatives(out)
    }

    /// A text; one that is appended to in a loop is as it was after the first turn.
    fn assembled(&self, state: &State, text: &Text, place: &Place) -> Value {
        let itself = |it: &Piece| match it {
            Piece::Hole(hole) => match hole.value {
                Operand::Local(local) => place.as_local() == Some(local),
                Operand::Const(_) => false,
            },
            Piece::Lit { .. } => false,
        };
        let Some(Piece::Hole(before)) = text.pieces.iter().find(|it| itself(it)) else {
            return self.text(state, text);
        };
        let before = self.operand(state, &before.value);
        let here = self.span;
        match super::list::appended_before(&before, &[here]) {
            Some(before) => before,
            None => super::list::mark_appended(self.text(state, text), here),
        }
    }

    /// The value of a right side. `place` is where it goes, for the words of temporaries.
    pub(super) fn rvalue(&mut self, state: &mut State, value: &Rvalue, place: &Place) -> Value {
        match value {
            Rvalue::Use(it) | Rvalue::Cast(it) => {
                self.carry_word(it, place);
                self.operand_mut(state, it, &"constant")
            }
            Rvalue::Clone(it) => {
                self.carry_word(it, place);
                let value = self.operand(state, it);
                self.copy(state, value)
            }
            Rvalue::Load(from) | Rvalue::Ref(from) => {
                self.note_word(from, place);
                self.load_place(state, from)
            }
            Rvalue::Binary(op, left, right) => {
                let (left, right) = (self.operand(state, left), self.operand(state, right));
                if *op == BinaryOp::Add && self.language == Language::Rust && is_text(&left) {
                    return self.appended(&left, &right);
                }
                binary(*op, left, right)
            }
            Rvalue::Unary(UnaryOp::Not, it) => negate(self.operand(state, it)),
            Rvalue::Unary(UnaryOp::Neg, it) => match self.operand(state, it) {
                Value::Int(it) => Value::Int(it.wrapping_neg()),
                it => Value::derived([it]),
            },
            Rvalue::Unary(UnaryOp::Other, it) => self.operand(state, it),
            Rvalue::Text(text) => self.assembled(state, text, place),
            Rvalue::Array(items) => self.array(state, items),
            Rvalue::Struct { ty, fields, base } => self.structure(state, ty, fields, base.as_ref()),
            Rvalue::Closure(id) => {
                let at = FuncRef { source: self.at.source, func: *id };
                let captures = &self.shared.program.function(at).captures;
                let captured = captures
                    .iter()
                    .map(|it| state.locals.get(it.outer.0 as usize).cloned().unwrap_or_default())
                    .collect();
                Value::Closure(at, Arc::new(captured))
            }
            Rvalue::Callable(callee) => self.callable(state, callee),
            Rvalue::InstanceOf(it, ty) => {
                self.learn_type(state, it, ty);
                Value::Truthy(Arc::new(Value::derived([self.operand(state, it)])))
            }
            Rvalue::IsVariant(it, name) => {
                let value = self.decided_constant(it, self.operand(state, it));
                self.is_variant(value, name)
            }
            Rvalue::IsSet(place) => {
                test(TestOp::Ne, self.load_place(state, place), vec![Value::Null])
            }
            Rvalue::IsEmpty(it) => {
                test(TestOp::Eq, self.operand(state, it), vec![Value::Bool(false)])
            }
            Rvalue::Unknown(them) => {
                Value::derived(them.iter().map(|it| self.operand(state, it)).collect::<Vec<_>>())
            }
        }
    }

    fn is_variant(&self, value: Value, name: &Name) -> Value {
        match &**name {
            // `Ok` and `Err` speak of the call, not of the row that it may give.
            "Ok" | "Err" => Value::Unknown,
            "Some" => test(TestOp::Ne, value, vec![Value::Null]),
            "None" => test(TestOp::Eq, value, vec![Value::Null]),
            path => {
                let short: Name = last_segment(path).into();
                let class = path.strip_suffix(&*short).unwrap_or_default().trim_end_matches("::");
                let class = self.shared.program.canonical(class);
                test(TestOp::Eq, value, vec![Value::Case(class, short)])
            }
        }
    }

    fn array(&mut self, state: &mut State, items: &[crate::ir::ArrayItem]) -> Value {
        let mut array = ArrayState::default();
        let mut position = 0;
        for item in items {
            let value = self.operand(state, &item.value);
            if item.spread {
                match state.object(&value).map(|it| &it.kind) {
                    Some(ObjectKind::Array(inner)) => {
                        array.items.extend(inner.items.iter().cloned());
                        array.open |= inner.open;
                    }
                    _ => array.open = true,
                }
                continue;
            }
            let key = if let Some(key) = &item.key {
                plain_key(self.operand(state, key))
            } else {
                position += 1;
                Value::Int(position - 1)
            };
            array.items.push(ArrayEntry { key, value, span: item.span });
        }
        let out = Value::Object(self.identity(&"array"));
        state.put(out.clone(), Object { kind: ObjectKind::Array(array), ..Object::default() });
        out
    }

    fn structure(
        &mut self,
        state: &mut State,
        ty: &TypeRef,
        fields: &[(Name, Operand)],
        base: Option<&Operand>,
    ) -> Value {
        let values: Vec<(Name, Value)> =
            fields.iter().map(|(name, it)| (name.clone(), self.operand(state, it))).collect();
        match &*ty.name {
            "Ok" | "Some" => {
                let [(_, given), ..] = fields else { return Value::Null };
                let value = values.into_iter().next().map_or(Value::Null, |it| it.1);
                return self.decided_constant(given, value);
            }
            "Err" => return Value::Failed,
            _ => (),
        }
        if let Some(case) = self.enum_variant(&ty.name) {
            return case;
        }
        if let ([(field, value)], None) = (values.as_slice(), base)
            && &**field == "0"
            && self.is_wrapper(&ty.name)
        {
            let word = Role::Same { from: Access::Arg(0, None) }.word();
            self.resolved.reads.insert((self.point.block, self.point.instr), word);
            return value.clone();
        }
        let base = base.map(|it| self.operand(state, it));
        if let Some(base) = base.filter(|it| !matches!(it, Value::Unknown | Value::Null))
            && !self.is_fresh_value(state, &base)
        {
            // `Job { state: X, ..job }` is the row with a change.
            for (name, value) in values {
                self.set_field(state, &base, &name, value);
            }
            return base;
        }
        let out = Value::Object(self.identity(&"struct"));
        let span = self.span;
        let mut object = Object { ty: Some(ty.clone()), ..Object::default() };
        self.start_row(&mut object, ty);
        for (name, value) in values {
            object.fields.insert(name, Field { value, changed: Some(span) });
        }
        state.put(out.clone(), object);
        out
    }

    /// `Status::Finished { .. }` is a state with a payload.
    pub(super) fn enum_variant(&self, path: &str) -> Option<Value> {
        let short = last_segment(path);
        let class = path.strip_suffix(short)?.trim_end_matches("::").trim_end_matches('\\');
        let decl = self.shared.program.type_decl(class).filter(|it| it.kind == TypeKind::Enum)?;
        Some(Value::Case(decl.name.clone(), short.into()))
    }

    /// `Set(x)`: the vocabulary says that a call of that name gives back its argument.
    fn is_wrapper(&self, path: &str) -> bool {
        let short = last_segment(path);
        let class = path.strip_suffix(short).unwrap_or_default().trim_end_matches("::");
        let gives_argument = |role: &Role| matches!(role, Role::Same { from: Access::Arg(0, _) });
        self.shared
            .vocabulary
            .candidates(self.language, path)
            .any(|(it, _)| it.on.is_empty() && gives_argument(&it.role))
            || !class.is_empty()
                && self.shared.vocabulary.candidates(self.language, short).any(|(it, _)| {
                    it.on.iter().any(|on| **on == *class) && gives_argument(&it.role)
                })
    }

    fn is_fresh_value(&self, state: &State, value: &Value) -> bool {
        if matches!(value, Value::Opaque(id) if self.made.contains(id)) {
            return true;
        }
        match state.object(value).map(|it| &it.kind) {
            Some(ObjectKind::Row(row)) => row.fresh,
            Some(_) => matches!(value, Value::Object(_)),
            None => false,
        }
    }

    /// A clone of a row stands for the same row; a clone of something built here is another thing.
    fn copy(&mut self, state: &mut State, value: Value) -> Value {
        let Some(object) = state.object(&value) else { return value };
        match &object.kind {
            ObjectKind::Query(_) | ObjectKind::Array(_) => {
                let object = object.clone();
                let out = Value::Object(self.identity(&"clone"));
                state.put(out.clone(), object);
                out
            }
            _ => value,
        }
    }

    fn callable(&self, state: &State, callee: &crate::ir::Callee) -> Value {
        use crate::ir::Callee;
        match callee {
            Callee::Function(name) => Value::Function(name.clone()),
            Callee::Method { receiver, name, .. } => {
                Value::Method(Arc::new((self.operand(state, receiver), name.clone())))
            }
            Callee::Static { class, name } => match self.class_name(class) {
                Some(class) => Value::Method(Arc::new((Value::Class(class), name.clone()))),
                None => Value::Unknown,
            },
            _ => Value::Unknown,
        }
    }

    fn carry_word(&mut self, from: &Operand, place: &Place) {
        if let (Operand::Local(from), Some(to)) = (from, place.as_local())
            && let Some(word) = self.word_of(*from)
        {
            self.words.entry(to).or_insert(word);
        }
    }
}

/// Whether a value is text in each way in which it is built.
fn is_text(value: &Value) -> bool {
    value.alternatives().iter().all(|it| matches!(it, Value::Text(_) | Value::Str(_)))
}

/// Where the literals of a text stand.
fn own_literals(text: &Text) -> Vec<Span> {
    let literal = |it: &Piece| match it {
        Piece::Lit { span, .. } => Some(*span),
        Piece::Hole(_) => None,
    };
    text.pieces.iter().filter_map(literal).collect()
}

/// A text whose holes hold alternatives is one of several texts.
pub(super) fn split_alternatives(text: FoldedText) -> Value {
    let choice = text.pieces.iter().position(|it| {
        matches!(it, FoldedPiece::Hole { value: Value::Any(them), .. }
            if them.iter().any(|it| matches!(it, Value::Text(_) | Value::Str(_))))
    });
    let Some(choice) = choice else { return Value::Text(Arc::new(text)) };
    let FoldedPiece::Hole { value, span, numeric } = &text.pieces[choice] else {
        return Value::Text(Arc::new(text));
    };
    let mut out: Option<Value> = None;
    for it in value.alternatives().iter().take(4) {
        let mut one = FoldedText { pieces: text.pieces[..choice].to_vec() };
        one.append(FoldedText::of_value(it, *span, *numeric));
        one.pieces.extend(text.pieces[choice + 1..].iter().cloned());
        let one = Value::Text(Arc::new(one));
        out = Some(match out {
            Some(out) => out.join(one),
            None => one,
        });
    }
    out.unwrap_or_default()
}

/// A key as arrays compare it: texts without holes are strings.
pub(super) fn plain_key(key: Value) -> Value {
    match key.as_str() {
        Some(it) => Value::Str(it),
        None => key,
    }
}

/// `left op right`, for constants the result.
pub(super) fn test(op: TestOp, left: Value, right: Vec<Value>) -> Value {
    if matches!(left, Value::Unknown | Value::Failed) {
        return Value::Unknown;
    }
    if let (Value::Test(_) | Value::Truthy(_) | Value::Got(_), [Value::Bool(want)]) =
        (&left, right.as_slice())
    {
        let positive = (op == TestOp::Eq) == *want;
        return if positive { left } else { negate(left) };
    }
    if let Some(found) = chosen(op, &left, &right) {
        return found;
    }
    if left.is_constant() && right.iter().all(Value::is_constant) && op != TestOp::Order {
        let same_kind =
            right.iter().all(|it| std::mem::discriminant(it) == std::mem::discriminant(&left));
        if same_kind {
            return Value::Bool(right.contains(&left) == (op == TestOp::Eq));
        }
    }
    Value::Test(Arc::new(Test { op, left, right }))
}

/// Which of two constants something is, asked for, is the test that decides between them.
fn chosen(op: TestOp, left: &Value, right: &[Value]) -> Option<Value> {
    let them = left.alternatives();
    let choice = them.iter().find_map(|it| match it {
        Value::Choice(choice) => Some(choice),
        _ => None,
    })?;
    let rest = |it: &Value| {
        *it == choice.then || *it == choice.otherwise || matches!(it, Value::Choice(_))
    };
    let alone = them.iter().filter(|it| matches!(it, Value::Choice(_))).count() == 1;
    let (then, otherwise) = (right.contains(&choice.then), right.contains(&choice.otherwise));
    if op == TestOp::Order || !alone || !them.iter().all(rest) || then == otherwise {
        return None;
    }
    let test = choice.test.clone();
    Some(if then == (op == TestOp::Eq) { test } else { negate(test) })
}

fn binary(op: BinaryOp, left: Value, right: Value) -> Value {
    match TestOp::from_binary(op) {
        Some(test_op) => {
            // The constant stands on the right.
            let swap = left.is_constant() && !right.is_constant();
            let (left, right) = if swap { (right, left) } else { (left, right) };
            let right = match right {
                Value::Any(them) => them.to_vec(),
                it => vec![it],
            };
            let left = match (left, right.as_slice()) {
                // `false === $count` asks whether it ran, not how many rows there were.
                (Value::Count(id), [Value::Bool(_)]) => Value::Ran(id),
                (left, _) => left,
            };
            test(test_op, left, right)
        }
        None => Value::derived([left, right]),
    }
}

/// `!value`.
pub(super) fn negate(value: Value) -> Value {
    match value {
        Value::Bool(it) => Value::Bool(!it),
        Value::Test(it) => Value::Test(Arc::new(Test { op: it.op.negate(), ..(*it).clone() })),
        Value::Unknown => Value::Unknown,
        value => test_false(value),
    }
}

fn test_false(value: Value) -> Value {
    let left = match value {
        Value::Truthy(inner) => (*inner).clone(),
        it => it,
    };
    Value::Test(Arc::new(Test { op: TestOp::Eq, left, right: vec![Value::Bool(false)] }))
}

/// A text around a span, for values that become pieces of texts.
pub(super) fn as_text(value: &Value, span: Span) -> FoldedText {
    FoldedText::of_value(value, span, false)
}
