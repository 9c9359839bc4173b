//! What does an assignment write: variables, properties, elements, patterns?

use super::body::Body;
use super::syntax::{Node, child_of_kind, children, field, operator, tokens, unparen};
use super::text::Part;
use crate::ir::{BinaryOp, Const, Hole, Operand, Piece, Place, Proj, Rvalue, Text};

impl<'a> Body<'_, 'a> {
    /// `$x = …`; gives the value.
    pub(super) fn assign(&mut self, node: Node<'a>) -> Operand {
        let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else {
            return Operand::Const(Const::Unknown);
        };
        let span = self.span(node);
        if is_pattern(left) {
            let value = self.operand(right);
            let place = self.place_of(value.clone(), span);
            self.destructure(left, &place);
            return value;
        }
        let Some(place) = self.place(left) else {
            // A variable variable: what it writes is not known.
            self.operand(left);
            return self.operand(right);
        };
        if let Some(local) = place.as_local() {
            self.into(right, local);
            return Operand::Local(local);
        }
        let value = self.operand(right);
        self.cfg.assign(place, Rvalue::Use(value.clone()), span);
        value
    }

    /// `$x = &$y`.
    pub(super) fn assign_ref(&mut self, node: Node<'a>) -> Operand {
        let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else {
            return Operand::Const(Const::Unknown);
        };
        if is_pattern(left) {
            return self.assign(node);
        }
        let Some(from) = self.place(right) else { return self.assign(node) };
        let span = self.span(node);
        let Some(to) = self.place(left) else { return Operand::Const(Const::Unknown) };
        self.cfg.assign(to.clone(), Rvalue::Ref(from), span);
        to.as_local().map_or(Operand::Const(Const::Unknown), Operand::Local)
    }

    /// `$x += …`, `$x .= …`, `$x ??= …`; the value matters only when it is `used`.
    pub(super) fn augmented(&mut self, node: Node<'a>, used: bool) -> Operand {
        let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else {
            return Operand::Const(Const::Unknown);
        };
        let op = operator(node);
        if op == "??=" {
            return self.assign_unset(node, used);
        }
        let Some(place) = self.place(left) else {
            self.operand(left);
            return self.operand(right);
        };
        let old = self.load(place.clone(), self.span(left));
        let value = if op == ".=" {
            let hole = Hole { value: old, span: self.span(left), numeric: false };
            let mut pieces = vec![Piece::Hole(hole)];
            pieces.extend(self.pieces(right));
            Rvalue::Text(Text { pieces })
        } else {
            let right = self.operand(right);
            Rvalue::Binary(binary_op(op.trim_end_matches('=')), old, right)
        };
        self.write(place, value, node)
    }

    /// `place = value`; gives the value.
    fn write(&mut self, place: Place, value: Rvalue, node: Node<'a>) -> Operand {
        let span = self.span(node);
        if let Some(local) = place.as_local() {
            self.set(local, value, span);
            return Operand::Local(local);
        }
        let value = self.cfg.eval(value, span);
        self.cfg.assign(place, Rvalue::Use(value.clone()), span);
        value
    }

    fn assign_unset(&mut self, node: Node<'a>, used: bool) -> Operand {
        let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else {
            return Operand::Const(Const::Unknown);
        };
        let (set, unset) = (self.cfg.new_block(), self.cfg.new_block());
        let span = self.span(node);
        let place = self.quiet_place(left, unset);
        let cond = self.cfg.eval(Rvalue::IsSet(place.clone()), self.span(left));
        self.branch_to(cond, (set, unset), self.span(left));
        self.cfg.switch_to(unset);
        if let Some(local) = place.as_local() {
            self.into(right, local);
        } else {
            let value = self.operand(right);
            self.cfg.assign(place.clone(), Rvalue::Use(value), span);
        }
        self.cfg.goto(set);
        self.cfg.switch_to(set);
        if used { self.load(place, span) } else { Operand::Const(Const::Unknown) }
    }

    /// `$x++`, `--$x`.
    pub(super) fn update(&mut self, node: Node<'a>, used: bool) -> Operand {
        let Some(argument) = field(node, "argument") else {
            return Operand::Const(Const::Unknown);
        };
        let Some(place) = self.place(argument) else { return self.operand(argument) };
        let op = if operator(node) == "++" { BinaryOp::Add } else { BinaryOp::Sub };
        let is_prefix = node.child(0).is_some_and(|it| !it.is_named());
        let mut old = self.load(place.clone(), self.span(argument));
        if used && !is_prefix && place.as_local().is_some() {
            old = self.cfg.eval(Rvalue::Use(old), self.span(argument));
        }
        let value = Rvalue::Binary(op, old.clone(), Operand::Const(Const::Int(1)));
        let new = self.write(place, value, node);
        if is_prefix { new } else { old }
    }

    /// Stores a value in a variable, property, element or pattern.
    pub(super) fn store(&mut self, target: Node<'a>, value: Operand) {
        let target = unparen(target);
        let span = self.span(target);
        if is_pattern(target) {
            let place = self.place_of(value, span);
            return self.destructure(target, &place);
        }
        match self.place(target) {
            Some(place) => self.cfg.assign(place, Rvalue::Use(value), span),
            None => {
                self.operand(target);
            }
        }
    }

    /// `[$a, 'k' => $b] = source`.
    fn destructure(&mut self, pattern: Node<'a>, source: &Place) {
        if !self.file.enter(pattern) {
            return;
        }
        for (position, (key, target)) in elements(pattern) {
            let index = match key {
                Some(key) => self.key(key),
                None => Operand::Const(Const::Int(position)),
            };
            self.bind(target, source.clone().project(Proj::Index(index)));
        }
        self.file.leave();
    }

    /// Binds the target of a pattern to a part of the source.
    pub(super) fn bind(&mut self, target: Node<'a>, part: Place) {
        let span = self.span(target);
        if target.kind() == "by_ref" {
            if let Some(place) = self.place(target) {
                self.cfg.assign(place, Rvalue::Ref(part), span);
            }
            return;
        }
        if target.kind() == "variable_name" {
            let place = self.variable_place(target);
            self.cfg.assign(place, Rvalue::Load(part), span);
            return;
        }
        let value = self.cfg.eval(Rvalue::Load(part), span);
        self.store(target, value);
    }

    /// The pieces of a string expression, holes lowered in order.
    pub(super) fn pieces(&mut self, node: Node<'a>) -> Vec<Piece> {
        let parts = super::text::parts(self.file, node);
        parts.into_iter().map(|it| self.piece(it)).collect()
    }

    /// One piece of a string.
    pub(super) fn piece(&mut self, part: Part<'a>) -> Piece {
        let (node, simple) = match part {
            Part::Lit(piece) => return piece,
            Part::Hole { node, simple } => (node, simple),
        };
        let value = if simple { self.simple_hole(node) } else { self.operand(node) };
        let (span, numeric) = (self.span(node), self.is_numeric(node));
        Piece::Hole(Hole { value, span, numeric })
    }

    /// `$row[status]` and `${name}` as they stand in quotes.
    fn simple_hole(&mut self, node: Node<'a>) -> Operand {
        let span = self.span(node);
        match (node.kind(), &children(node)[..]) {
            ("subscript_expression", [base, key]) if key.kind() == "name" => {
                let key = Operand::Const(Const::Str(self.file.text(*key).into()));
                match self.place(*base) {
                    Some(place) => self.load(place.project(Proj::Index(key)), span),
                    None => self.operand(*base),
                }
            }
            ("dynamic_variable_name", [name]) if name.kind() == "name" => {
                let name = self.file.text(*name);
                Operand::Local(self.variable(name))
            }
            _ => self.operand(node),
        }
    }

    fn is_numeric(&self, node: Node<'a>) -> bool {
        match node.kind() {
            "cast_expression" => field(node, "type").is_some_and(|it| {
                let to = self.file.text(it).to_ascii_lowercase();
                matches!(&*to, "int" | "integer" | "float" | "double" | "real" | "bool" | "boolean")
            }),
            "function_call_expression" => field(node, "function").is_some_and(|it| {
                let name = self.file.text(it).trim_start_matches('\\').to_ascii_lowercase();
                matches!(&*name, "intval" | "floatval" | "count" | "time")
            }),
            _ => false,
        }
    }
}

/// Whether the left side takes its value apart.
fn is_pattern(node: Node<'_>) -> bool {
    matches!(node.kind(), "list_literal" | "array_creation_expression")
}

/// A key, if there is one, and what it binds.
type Element<'a> = (Option<Node<'a>>, Node<'a>);

/// The elements of a pattern with their positions.
fn elements<'a>(pattern: Node<'a>) -> Vec<(i64, Element<'a>)> {
    let mut out = Vec::new();
    let mut position = 0;
    let mut key = None;
    let mut target: Option<Node<'a>> = None;
    for token in tokens(pattern) {
        match token.kind() {
            "," => {
                out.extend(target.take().map(|it| (position, (key.take(), it))));
                position += 1;
            }
            "=>" => key = target.take(),
            "array_element_initializer" => (key, target) = initializer(token),
            _ if token.is_named() => target = Some(token),
            _ => (),
        }
    }
    out.extend(target.map(|it| (position, (key, it))));
    out
}

fn initializer(node: Node<'_>) -> (Option<Node<'_>>, Option<Node<'_>>) {
    let has_key = child_of_kind(node, "=>").is_some();
    match children(node)[..] {
        [key, value] if has_key => (Some(key), Some(value)),
        [value] => (None, Some(value)),
        _ => (None, None),
    }
}

/// The operator of a binary expression.
pub(super) fn binary_op(word: &str) -> BinaryOp {
    match word {
        "==" | "===" => BinaryOp::Eq,
        "!=" | "!==" | "<>" => BinaryOp::Ne,
        "<" => BinaryOp::Lt,
        "<=" => BinaryOp::Le,
        ">" => BinaryOp::Gt,
        ">=" => BinaryOp::Ge,
        "+" => BinaryOp::Add,
        "-" => BinaryOp::Sub,
        _ => BinaryOp::Other,
    }
}
