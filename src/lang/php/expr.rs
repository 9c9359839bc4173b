//! What value does an expression have, and what happens on the way to it?

use super::assign::binary_op;
use super::body::Body;
use super::chain::{Want, is_chain};
use super::constant;
use super::flow::{is_and, is_coalesce, is_or};
use super::syntax::{
    Node, child_of_kind, children, field, first_child, flatten, operator, unparen,
};
use super::text::{self, Part};
use crate::ir::{
    ArrayItem, Callee, Const, LocalId, Operand, Place, Proj, Rvalue, Terminator, Text, UnaryOp,
};

impl<'a> Body<'_, 'a> {
    /// Lowers an expression; gives what holds its value.
    pub(super) fn operand(&mut self, node: Node<'a>) -> Operand {
        if !self.file.enter(node) {
            return Operand::Const(Const::Unknown);
        }
        let span = self.span(node);
        let out = if needs_dest(node) {
            let temp = self.cfg.temp();
            self.compute(node, temp, false);
            Operand::Local(temp)
        } else {
            match self.rvalue(node) {
                Rvalue::Use(operand) => operand,
                value => self.cfg.eval(value, span),
            }
        };
        self.file.leave();
        out
    }

    /// Lowers an expression so that `dest` holds its value.
    pub(super) fn into(&mut self, node: Node<'a>, dest: LocalId) {
        let span = self.span(node);
        let node = unparen(node);
        if !self.file.enter(node) {
            return self.set(dest, Rvalue::Use(Operand::Const(Const::Unknown)), span);
        }
        if needs_dest(node) {
            self.compute(node, dest, false);
        } else {
            let value = self.rvalue(node);
            self.set(dest, value, span);
        }
        self.file.leave();
    }

    /// Lowers an expression for its value when there is a `dest`, otherwise for its effects.
    pub(super) fn value_or_effect(&mut self, node: Node<'a>, dest: Option<LocalId>) {
        match dest {
            Some(dest) => self.into(node, dest),
            None => self.discard(node),
        }
    }

    /// Lowers an expression whose value is not used.
    pub(super) fn discard(&mut self, node: Node<'a>) {
        if self.file.enter(node) {
            self.discard_inner(unparen(node));
            self.file.leave();
        }
    }

    fn discard_inner(&mut self, node: Node<'a>) {
        match node.kind() {
            "binary_expression" if is_and(node) || is_or(node) => self.effect_chain(node),
            "conditional_expression" => self.ternary(node, None),
            "match_expression" => self.match_expr(node, None),
            "error_suppression_expression" | "unary_op_expression" | "cast_expression" => {
                if let Some(inner) = children(node).pop() {
                    self.discard(inner);
                }
            }
            "update_expression" => {
                self.update(node, false);
            }
            "augmented_assignment_expression" => {
                self.augmented(node, false);
            }
            _ if needs_dest(node) => {
                let temp = self.cfg.temp();
                self.compute(node, temp, true);
            }
            _ => {
                self.rvalue_effects(node);
            }
        }
    }

    fn rvalue_effects(&mut self, node: Node<'a>) {
        let span = self.span(node);
        match self.rvalue(node) {
            Rvalue::Use(_) => (),
            value => {
                self.cfg.eval(value, span);
            }
        }
    }

    /// Expressions that branch or call: they write their value where it is wanted.
    fn compute(&mut self, node: Node<'a>, dest: LocalId, discarded: bool) {
        let want = Want { dest: Some(dest), discarded };
        match node.kind() {
            "conditional_expression" => self.ternary(node, Some(dest)),
            "match_expression" => self.match_expr(node, Some(dest)),
            "binary_expression" if is_coalesce(node) => self.coalesce(node, dest),
            "binary_expression" if operator(node) == "|>" => self.pipe(node, want),
            "binary_expression" => self.truth(node, dest),
            "object_creation_expression" => self.new_object(node, want),
            "print_intrinsic" => self.word_call("echo", node, children(node), want),
            "shell_command_expression" => self.shell(node, want),
            "yield_expression" => self.yield_expr(node, want),
            kind => match kind.strip_suffix("_expression") {
                Some(word @ ("include" | "include_once" | "require" | "require_once")) => {
                    self.word_call(word, node, children(node), want);
                }
                _ => self.chain(node, dest, discarded),
            },
        }
    }

    /// Expressions that come out as one operation.
    fn rvalue(&mut self, node: Node<'a>) -> Rvalue {
        let class = self.owner.class.clone();
        if let Some(value) = self.special_name(node) {
            return value;
        }
        if let Some(it) = constant::simple(self.file, class.as_deref(), node) {
            return Rvalue::Use(Operand::Const(it));
        }
        match node.kind() {
            "parenthesized_expression" => Rvalue::Use(match first_child(node) {
                Some(inner) => self.operand(inner),
                None => Operand::Const(Const::Unknown),
            }),
            "variable_name" => self.variable_value(node),
            "string" | "encapsed_string" | "heredoc" | "nowdoc" => self.string(node),
            "class_constant_access_expression" => Rvalue::Use(self.dynamic_constant(node)),
            "assignment_expression" => Rvalue::Use(self.assign(node)),
            "reference_assignment_expression" => Rvalue::Use(self.assign_ref(node)),
            "augmented_assignment_expression" => Rvalue::Use(self.augmented(node, true)),
            "update_expression" => Rvalue::Use(self.update(node, true)),
            "array_creation_expression" => self.array(node),
            "anonymous_function" | "arrow_function" => Rvalue::Closure(self.closure(node)),
            "binary_expression" => self.binary(node),
            "unary_op_expression" => self.unary(node),
            "cast_expression" => match field(node, "value") {
                Some(value) => Rvalue::Cast(self.operand(value)),
                None => Rvalue::Unknown(Vec::new()),
            },
            "clone_expression" => self.clone_expr(node),
            "error_suppression_expression" => match first_child(node) {
                Some(inner) => Rvalue::Use(self.operand(inner)),
                None => Rvalue::Unknown(Vec::new()),
            },
            "throw_expression" => Rvalue::Use(self.throw(node)),
            _ => Rvalue::Unknown(children(node).into_iter().map(|it| self.operand(it)).collect()),
        }
    }

    fn variable_value(&mut self, node: Node<'a>) -> Rvalue {
        let place = self.variable_place(node);
        match place.as_local() {
            Some(local) => Rvalue::Use(Operand::Local(local)),
            None => Rvalue::Load(place),
        }
    }

    /// `exit` and `die` without parentheses, and magic constants of the function.
    fn special_name(&mut self, node: Node<'a>) -> Option<Rvalue> {
        if node.kind() != "name" {
            return None;
        }
        let value = match self.file.text(node).to_ascii_lowercase().as_str() {
            "exit" | "die" => {
                let span = self.span(node);
                self.cfg.terminate(Terminator::Exit { span });
                Const::Null
            }
            "__function__" | "__method__" => Const::Str(self.owner.name.clone()),
            _ => return None,
        };
        Some(Rvalue::Use(Operand::Const(value)))
    }

    /// A string: one word is a constant, longer ones keep their places.
    fn string(&mut self, node: Node<'a>) -> Rvalue {
        let parts = text::parts(self.file, node);
        match text::literal(&parts) {
            Some(value) if !value.contains(char::is_whitespace) => {
                Rvalue::Use(Operand::Const(Const::Str(value.into())))
            }
            _ => self.text_of(parts),
        }
    }

    fn text_of(&mut self, parts: Vec<Part<'a>>) -> Rvalue {
        let pieces = parts.into_iter().map(|it| self.piece(it)).collect();
        Rvalue::Text(Text { pieces })
    }

    /// `$job::PENDING`.
    fn dynamic_constant(&mut self, node: Node<'a>) -> Operand {
        let [scope, .., name] = children(node)[..] else {
            return Operand::Const(Const::Unknown);
        };
        let class = self.class_ref(Some(scope), None);
        let around = self.owner.class.clone();
        Operand::Const(constant::member_of(class, around.as_deref(), self.file.text(name)))
    }

    fn array(&mut self, node: Node<'a>) -> Rvalue {
        let items = children(node).into_iter().filter_map(|it| self.array_item(it)).collect();
        Rvalue::Array(items)
    }

    fn array_item(&mut self, node: Node<'a>) -> Option<ArrayItem> {
        let has_key = child_of_kind(node, "=>").is_some();
        let parts = children(node);
        let span = self.span(node);
        let (key, value) = match parts[..] {
            [key, value] if has_key => (Some(self.key(key)), value),
            [value] => (None, value),
            _ => return None,
        };
        let spread = value.kind() == "variadic_unpacking";
        let value = match value.kind() {
            "variadic_unpacking" => self.operand(first_child(value)?),
            "by_ref" => match self.place(value) {
                Some(place) => self.cfg.eval(Rvalue::Ref(place), span),
                None => Operand::Const(Const::Unknown),
            },
            _ => self.operand(value),
        };
        Some(ArrayItem { key, value, spread, span })
    }

    fn binary(&mut self, node: Node<'a>) -> Rvalue {
        if operator(node) == "instanceof" {
            return self.instance_of(node);
        }
        if text::is_concat(node) {
            let parts = text::parts(self.file, node);
            return self.text_of(parts);
        }
        let links = arithmetic_links(node);
        let first = flatten(node, is_arithmetic).into_iter().next();
        // What is compared with a literal is a value, not a text: `key` gives the plain constant.
        let mut out = first.map_or(Operand::Const(Const::Unknown), |it| self.key(it));
        let mut value = Rvalue::Use(out.clone());
        for (idx, link) in links.iter().enumerate() {
            if idx > 0 {
                out = self.cfg.eval(value, self.span(links[idx - 1]));
            }
            let right = field(*link, "right");
            let right = right.map_or(Operand::Const(Const::Unknown), |it| self.key(it));
            value = Rvalue::Binary(binary_op(operator(*link)), out.clone(), right);
        }
        value
    }

    fn instance_of(&mut self, node: Node<'a>) -> Rvalue {
        let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else {
            return Rvalue::Unknown(Vec::new());
        };
        let value = self.operand(left);
        if matches!(right.kind(), "name" | "qualified_name" | "relative_name") {
            let ty = self.named_type(right);
            return Rvalue::InstanceOf(value, ty);
        }
        let class = self.operand(right);
        Rvalue::Unknown(vec![value, class])
    }

    fn unary(&mut self, node: Node<'a>) -> Rvalue {
        let argument = field(node, "argument");
        if argument.is_some_and(|it| matches!(it.kind(), "integer" | "float"))
            && let it @ (Const::Int(_) | Const::Float(_)) =
                constant::constant(self.file, None, node)
        {
            return Rvalue::Use(Operand::Const(it));
        }
        let value = argument.map_or(Operand::Const(Const::Unknown), |it| self.operand(it));
        match operator(node) {
            "!" => Rvalue::Unary(UnaryOp::Not, value),
            "-" => Rvalue::Unary(UnaryOp::Neg, value),
            "+" => Rvalue::Cast(value),
            _ => Rvalue::Unary(UnaryOp::Other, value),
        }
    }

    /// `clone $x` and `clone($x, ['status' => $status])`.
    fn clone_expr(&mut self, node: Node<'a>) -> Rvalue {
        let args: Vec<_> = field(node, "arguments")
            .map(children)
            .unwrap_or_default()
            .into_iter()
            .filter_map(first_child)
            .collect();
        let Some(&object) = args.first() else {
            return match first_child(node) {
                Some(inner) => Rvalue::Clone(self.operand(inner)),
                None => Rvalue::Unknown(Vec::new()),
            };
        };
        let object = self.operand(object);
        let Some(&with) = args.get(1) else { return Rvalue::Clone(object) };
        let span = self.span(node);
        let copy = self.cfg.eval(Rvalue::Clone(object), span);
        let place = self.place_of(copy.clone(), span);
        self.set_fields(with, &place);
        Rvalue::Use(copy)
    }

    fn set_fields(&mut self, with: Node<'a>, object: &Place) {
        let Rvalue::Array(items) = self.rvalue(unparen(with)) else { return };
        for item in items {
            let proj = match item.key {
                Some(Operand::Const(Const::Str(name))) => Proj::Field(name),
                Some(computed) => Proj::DynField(computed),
                None => Proj::DynField(Operand::Const(Const::Unknown)),
            };
            let place = object.clone().project(proj);
            self.cfg.assign(place, Rvalue::Use(item.value), item.span);
        }
    }

    fn throw(&mut self, node: Node<'a>) -> Operand {
        let value = first_child(node).map(|it| self.operand(it));
        let span = self.span(node);
        self.cfg.terminate(Terminator::Throw { value, span });
        Operand::Const(Const::Null)
    }

    /// `$x |> f(...)`.
    fn pipe(&mut self, node: Node<'a>, want: Want) {
        let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else {
            return;
        };
        let arg = self.arg_of(left);
        let callee = Callee::Value(self.operand(right));
        self.push_call(callee, vec![arg], want, (self.span(node), self.span(right)));
    }

    fn shell(&mut self, node: Node<'a>, want: Want) {
        let span = self.span(node);
        let mut parts = Vec::new();
        text::string_parts(self.file, node, &mut parts);
        let command = self.text_of(parts);
        let value = self.cfg.eval(command, span);
        let arg = crate::ir::Arg { value, place: None, name: None, spread: false, span };
        let callee = Callee::Function("shell_exec".into());
        self.push_call(callee, vec![arg], want, (span, span));
    }

    /// `yield` hands its value out and gets one back: a call of `yield(value, key)`.
    fn yield_expr(&mut self, node: Node<'a>, want: Want) {
        self.is_generator = true;
        let is_from = child_of_kind(node, "yield from").is_some();
        let word = if is_from { "yield from" } else { "yield" };
        let mut args: Vec<_> = children(node)
            .into_iter()
            .flat_map(|it| match it.kind() {
                "array_element_initializer" => children(it),
                _ => vec![it],
            })
            .collect();
        args.reverse();
        self.word_call(word, node, args, want);
    }
}

/// Whether the expression branches or calls.
fn needs_dest(node: Node<'_>) -> bool {
    match node.kind() {
        "binary_expression" => {
            is_and(node) || is_or(node) || is_coalesce(node) || operator(node) == "|>"
        }
        "conditional_expression"
        | "match_expression"
        | "object_creation_expression"
        | "print_intrinsic"
        | "shell_command_expression"
        | "yield_expression"
        | "include_expression"
        | "include_once_expression"
        | "require_expression"
        | "require_once_expression" => true,
        _ => is_chain(node),
    }
}

fn is_arithmetic(node: Node<'_>) -> bool {
    node.kind() == "binary_expression"
        && !needs_dest(node)
        && !matches!(operator(node), "." | "instanceof")
}

/// The operations of a left-nested chain, innermost first.
fn arithmetic_links(node: Node<'_>) -> Vec<Node<'_>> {
    let mut out = Vec::new();
    let mut current = node;
    while is_arithmetic(current) {
        out.push(current);
        let Some(left) = field(current, "left") else { break };
        current = left;
    }
    out.reverse();
    out
}
