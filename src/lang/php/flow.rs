//! How does the truth of an expression become branches?

use super::body::Body;
use super::chain::is_chain;
use super::syntax::{Node, children, field, first_child, flatten, operator, unparen};
use crate::ir::{BlockId, Const, LocalId, Operand, Place, Rvalue, Terminator};

impl<'a> Body<'_, 'a> {
    /// Goes to `then` when the expression is true and to `otherwise` when it is not. What follows is
    /// unreachable until the caller switches to a block.
    pub(super) fn condition(&mut self, node: Node<'a>, then: BlockId, otherwise: BlockId) {
        if self.file.enter(node) {
            self.condition_inner(unparen(node), then, otherwise);
            self.file.leave();
        } else {
            self.cfg.terminate(Terminator::Multi(vec![then, otherwise]));
        }
    }

    fn condition_inner(&mut self, node: Node<'a>, then: BlockId, otherwise: BlockId) {
        if let Some(inner) = same_truth(self.file.text(node), node) {
            return self.condition(inner, then, otherwise);
        }
        if let Some(args) = self.isset_args(node) {
            return self.all_set(&args, then, otherwise);
        }
        match (node.kind(), operator(node)) {
            ("unary_op_expression", "!") => {
                if let Some(argument) = field(node, "argument") {
                    self.condition(argument, otherwise, then);
                }
            }
            ("binary_expression", "&&" | "and") => {
                self.short_circuit(node, is_and, |ctx, part, next| {
                    ctx.condition(part, next.unwrap_or(then), otherwise);
                });
            }
            ("binary_expression", "||" | "or") => {
                self.short_circuit(node, is_or, |ctx, part, next| {
                    ctx.condition(part, then, next.unwrap_or(otherwise));
                });
            }
            _ => {
                let cond = self.operand(node);
                self.test(cond, node, (then, otherwise));
            }
        }
    }

    /// Lowers the operands of a chain; `lower` gets the block where the next operand is tested, none
    /// for the last one.
    fn short_circuit(
        &mut self,
        node: Node<'a>,
        is_link: fn(Node<'a>) -> bool,
        lower: impl Fn(&mut Self, Node<'a>, Option<BlockId>),
    ) {
        let mut parts = flatten(node, is_link);
        let last = parts.pop();
        for part in parts {
            let next = self.cfg.new_block();
            lower(self, part, Some(next));
            self.cfg.switch_to(next);
        }
        if let Some(last) = last {
            lower(self, last, None);
        }
    }

    fn test(&mut self, cond: Operand, node: Node<'a>, (then, otherwise): (BlockId, BlockId)) {
        match cond {
            Operand::Const(Const::Bool(false) | Const::Null | Const::Int(0)) => {
                self.cfg.goto(otherwise);
            }
            Operand::Const(Const::Bool(true) | Const::Int(_)) => self.cfg.goto(then),
            cond => {
                let span = self.span(node);
                self.branch_to(cond, (then, otherwise), span);
            }
        }
    }

    /// The arguments, when the node is a call of `isset`.
    pub(super) fn isset_args(&self, node: Node<'a>) -> Option<Vec<Node<'a>>> {
        let function = field(node, "function").filter(|_| is_call(node))?;
        if !self.file.text(function).eq_ignore_ascii_case("isset") {
            return None;
        }
        let args = field(node, "arguments").map(children).unwrap_or_default();
        Some(args.into_iter().filter_map(first_child).collect())
    }

    fn all_set(&mut self, args: &[Node<'a>], then: BlockId, otherwise: BlockId) {
        for (idx, arg) in args.iter().enumerate() {
            let next = if idx + 1 == args.len() { then } else { self.cfg.new_block() };
            self.set_test(*arg, next, otherwise);
            self.cfg.switch_to(next);
        }
        if args.is_empty() {
            self.cfg.goto(otherwise);
        }
    }

    /// Branches on whether a place is set; gives the place.
    fn set_test(&mut self, node: Node<'a>, set: BlockId, unset: BlockId) -> Place {
        let place = self.quiet_place(node, unset);
        let span = self.span(node);
        let cond = self.cfg.eval(Rvalue::IsSet(place.clone()), span);
        self.branch_to(cond, (set, unset), span);
        place
    }

    /// A place that may be unset; `?->` on null goes to `null_exit`.
    pub(super) fn quiet_place(&mut self, node: Node<'a>, null_exit: BlockId) -> Place {
        let node = unparen(node);
        let span = self.span(node);
        if is_chain(node) {
            return self.chain_place(node, null_exit);
        }
        if let Some(place) = self.place(node) {
            return place;
        }
        let value = self.operand(node);
        self.place_of(value, span)
    }

    /// A truth value as a value: `$ok = $a && $b`.
    pub(super) fn truth(&mut self, node: Node<'a>, dest: LocalId) {
        let (then, otherwise) = (self.cfg.new_block(), self.cfg.new_block());
        let done = self.cfg.new_block();
        self.condition(node, then, otherwise);
        let span = self.span(node);
        for (block, value) in [(then, true), (otherwise, false)] {
            self.cfg.switch_to(block);
            self.set(dest, Rvalue::Use(Operand::Const(Const::Bool(value))), span);
            self.cfg.goto(done);
        }
        self.cfg.switch_to(done);
    }

    /// `a and b();` as a statement: the last operand is there for its effect.
    pub(super) fn effect_chain(&mut self, node: Node<'a>) {
        let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else {
            return;
        };
        let (then, done) = (self.cfg.new_block(), self.cfg.new_block());
        if is_and(node) {
            self.condition(left, then, done);
        } else {
            self.condition(left, done, then);
        }
        self.cfg.switch_to(then);
        self.discard(right);
        self.cfg.goto(done);
        self.cfg.switch_to(done);
    }

    /// `a ? b : c` and `a ?: c`; without `dest` for the effects only.
    pub(super) fn ternary(&mut self, node: Node<'a>, dest: Option<LocalId>) {
        let (Some(condition), Some(alternative)) =
            (field(node, "condition"), field(node, "alternative"))
        else {
            return;
        };
        let (then, otherwise) = (self.cfg.new_block(), self.cfg.new_block());
        let done = self.cfg.new_block();
        let body = field(node, "body");
        let tested = if body.is_some() {
            self.condition(condition, then, otherwise);
            None
        } else {
            let value = self.operand(condition);
            self.test(value.clone(), condition, (then, otherwise));
            Some(value)
        };
        self.cfg.switch_to(then);
        match (body, tested, dest) {
            (Some(body), ..) => self.value_or_effect(body, dest),
            (None, Some(value), Some(dest)) => {
                let span = self.span(condition);
                self.set(dest, Rvalue::Use(value), span);
            }
            _ => (),
        }
        self.cfg.goto(done);
        self.cfg.switch_to(otherwise);
        self.value_or_effect(alternative, dest);
        self.cfg.goto(done);
        self.cfg.switch_to(done);
    }

    /// `a ?? b ?? c`.
    pub(super) fn coalesce(&mut self, node: Node<'a>, dest: LocalId) {
        let done = self.cfg.new_block();
        let mut current = node;
        while is_coalesce(current) {
            let (Some(left), Some(right)) = (field(current, "left"), field(current, "right"))
            else {
                break;
            };
            let (set, unset) = (self.cfg.new_block(), self.cfg.new_block());
            let place = self.set_test(left, set, unset);
            self.cfg.switch_to(set);
            let span = self.span(left);
            self.set_from(dest, place, span);
            self.cfg.goto(done);
            self.cfg.switch_to(unset);
            current = right;
        }
        self.into(current, dest);
        self.cfg.goto(done);
        self.cfg.switch_to(done);
    }
}

/// The expression that is true exactly when this one is.
fn same_truth<'a>(text: &str, node: Node<'a>) -> Option<Node<'a>> {
    match node.kind() {
        "error_suppression_expression" => first_child(node),
        "cast_expression" => {
            let head = text.split(')').next().unwrap_or_default().to_ascii_lowercase();
            let to = head.trim_start_matches('(').trim();
            matches!(to, "bool" | "boolean").then(|| field(node, "value")).flatten()
        }
        _ => None,
    }
}

fn is_call(node: Node<'_>) -> bool {
    node.kind() == "function_call_expression"
}

/// `&&` and `and`.
pub(super) fn is_and(node: Node<'_>) -> bool {
    node.kind() == "binary_expression" && matches!(operator(node), "&&" | "and")
}

/// `||` and `or`.
pub(super) fn is_or(node: Node<'_>) -> bool {
    node.kind() == "binary_expression" && matches!(operator(node), "||" | "or")
}

/// `??`.
pub(super) fn is_coalesce(node: Node<'_>) -> bool {
    node.kind() == "binary_expression" && operator(node) == "??"
}
