//! What does a statement do to the graph?

use super::body::Body;
use super::chain::Want;
use super::decl;
use super::syntax::{Node, child_of_kind, children, field, first_child, unparen};
use crate::ir::build::{Catch, Exit, leave, lower_try};
use crate::ir::{
    Const, InstrKind, LocalId, Operand, Place, PlaceBase, Rvalue, Terminator, TypeRef,
};

impl<'a> Body<'_, 'a> {
    /// Lowers the statements that are children of `parent`: a block, a `case`, the whole file.
    pub(super) fn statements(&mut self, parent: Node<'a>) {
        let mut echo = false;
        let mut documented = None;
        let mut cursor = parent.walk();
        for child in parent.named_children(&mut cursor) {
            match child.kind() {
                "comment" => documented = self.read_var_comment(child).or(documented),
                "php_tag" | "text_interpolation" => echo = self.file.text(child).ends_with("<?="),
                "text" => (),
                _ => {
                    self.documented_assignment(child, documented.take());
                    if echo && child.kind() == "expression_statement" {
                        self.echo(child);
                    } else {
                        self.stmt(child);
                    }
                    echo = false;
                }
            }
        }
    }

    /// `/** @var Job */ $job = …;`
    fn documented_assignment(&mut self, node: Node<'a>, ty: Option<TypeRef>) {
        let Some(ty) = ty.filter(|_| node.kind() == "expression_statement") else { return };
        let assigned = first_child(node)
            .filter(|it| it.kind() == "assignment_expression")
            .and_then(|it| field(it, "left"))
            .filter(|it| it.kind() == "variable_name");
        if let Some(variable) = assigned {
            let local = self.variable_of(variable);
            self.add_type(local, ty);
        }
    }

    /// Lowers one statement.
    pub(super) fn stmt(&mut self, node: Node<'a>) {
        if self.file.enter(node) {
            self.stmt_inner(node);
            self.file.leave();
        }
    }

    fn stmt_inner(&mut self, node: Node<'a>) {
        match node.kind() {
            "compound_statement" | "colon_block" | "declare_statement" | "ERROR" => {
                self.statements(node);
            }
            "expression_statement" => self.each(node, Self::discard),
            "if_statement" => self.if_stmt(node),
            "switch_statement" => self.switch(node),
            "while_statement" => self.while_loop(node),
            "do_statement" => self.lower_do(node),
            "for_statement" => self.for_loop(node),
            "foreach_statement" => self.foreach(node),
            "break_statement" | "continue_statement" => self.jump(node),
            "return_statement" => self.return_stmt(node),
            "try_statement" => self.try_stmt(node),
            "echo_statement" => self.echo(node),
            "exit_statement" => self.exit(node),
            "unset_statement" => self.each(node, Self::unset),
            "global_declaration" => self.each(node, Self::global),
            "function_static_declaration" => self.each(node, Self::static_variable),
            "goto_statement" => self.goto_stmt(node),
            "named_label_statement" => self.label_stmt(node),
            "namespace_definition" => self.namespace(node),
            _ => decl::declare(self.file, node),
        }
    }

    fn each(&mut self, node: Node<'a>, lower: impl Fn(&mut Self, Node<'a>)) {
        for child in children(node) {
            lower(self, child);
        }
    }

    fn namespace(&mut self, node: Node<'a>) {
        decl::enter_namespace(self.file, node);
        if let Some(body) = field(node, "body") {
            self.statements(body);
            self.file.names.enter_namespace("");
        }
    }

    /// `if` with its `elseif`s; `else if` is followed without recursion.
    fn if_stmt(&mut self, node: Node<'a>) {
        let done = self.cfg.new_block();
        let mut next = Some(node);
        while let Some(node) = next.take() {
            self.if_arm(node, done);
            let mut cursor = node.walk();
            let alternatives: Vec<_> =
                node.children_by_field_name("alternative", &mut cursor).collect();
            for alternative in alternatives {
                if alternative.kind() == "else_if_clause" {
                    self.if_arm(alternative, done);
                    continue;
                }
                match field(alternative, "body") {
                    Some(body) if body.kind() == "if_statement" => next = Some(body),
                    Some(body) => self.stmt(body),
                    None => (),
                }
            }
        }
        self.cfg.goto(done);
        self.cfg.switch_to(done);
    }

    /// One condition with its body; goes on where the condition is false.
    fn if_arm(&mut self, node: Node<'a>, done: crate::ir::BlockId) {
        let then = self.cfg.new_block();
        let otherwise = self.cfg.new_block();
        if let Some(condition) = field(node, "condition") {
            self.condition(condition, then, otherwise);
        }
        self.cfg.switch_to(then);
        if let Some(body) = field(node, "body") {
            self.stmt(body);
        }
        self.cfg.goto(done);
        self.cfg.switch_to(otherwise);
    }

    fn jump(&mut self, node: Node<'a>) {
        let levels = first_child(node)
            .and_then(|it| super::constant::integer(self.file.text(unparen(it))))
            .and_then(|it| usize::try_from(it).ok())
            .map_or(1, |it| it.max(1));
        let exit = match node.kind() {
            "break_statement" => Exit::Break { levels, label: None },
            _ => Exit::Continue { levels, label: None },
        };
        let span = self.span(node);
        self.cfg.mark_exit(span);
        leave(self, exit);
    }

    fn return_stmt(&mut self, node: Node<'a>) {
        let value = first_child(node).map(|it| self.operand(it));
        let span = self.span(node);
        leave(self, Exit::Return { value, span });
    }

    fn try_stmt(&mut self, node: Node<'a>) {
        let clauses: Vec<_> =
            children(node).into_iter().filter(|it| it.kind() == "catch_clause").collect();
        let catches: Vec<_> = clauses.iter().map(|it| self.catch(*it)).collect();
        let finally = child_of_kind(node, "finally_clause")
            .and_then(|it| field(it, "body"))
            .map(|it| self.keep_finally(it));
        let body = field(node, "body");
        lower_try(
            self,
            &catches,
            finally,
            |ctx| {
                if let Some(body) = body {
                    ctx.stmt(body);
                }
            },
            |ctx, idx, value| ctx.catch_arm(clauses[idx], &catches[idx], value),
        );
    }

    fn catch(&mut self, clause: Node<'a>) -> Catch {
        let types = field(clause, "type").map(children).unwrap_or_default();
        let types = types.into_iter().map(|it| self.named_type(it)).collect();
        let end = field(clause, "body").map_or(clause.end_byte(), |it| it.start_byte());
        let head = self.file.slice(clause.start_byte(), end).trim_end();
        let start = clause.start_byte();
        let span = crate::base::Span::new(self.file.source.id, start, start + head.len());
        Catch { types, span }
    }

    fn catch_arm(&mut self, clause: Node<'a>, catch: &Catch, value: LocalId) {
        if let Some(name) = field(clause, "name") {
            let variable = self.variable_of(name);
            for ty in &catch.types {
                self.add_type(variable, ty.clone());
            }
            self.set(variable, Rvalue::Use(Operand::Local(value)), catch.span);
        }
        if let Some(body) = field(clause, "body") {
            self.stmt(body);
        }
    }

    /// `echo a, b;` and `<?= a ?>`.
    fn echo(&mut self, node: Node<'a>) {
        let args = children(node).into_iter().flat_map(sequence).collect();
        self.word_call("echo", node, args, Want { dest: None, discarded: true });
    }

    fn exit(&mut self, node: Node<'a>) {
        self.each(node, |ctx, it| {
            ctx.operand(it);
        });
        let span = self.span(node);
        self.cfg.terminate(Terminator::Exit { span });
    }

    fn unset(&mut self, node: Node<'a>) {
        let span = self.span(node);
        let Some(place) = self.place(node) else { return };
        match place.as_local() {
            Some(local) => self.cfg.push(InstrKind::Drop(local), span),
            None => self.cfg.assign(place, Rvalue::Use(Operand::Const(Const::Null)), span),
        }
    }

    fn global(&mut self, node: Node<'a>) {
        if node.kind() != "variable_name" {
            return;
        }
        let local = self.variable_of(node);
        let base = PlaceBase::Global(self.variable_text(node).into());
        let span = self.span(node);
        self.set(local, Rvalue::Load(Place { base, proj: Vec::new() }), span);
    }

    /// The value is the written one at the first call only.
    fn static_variable(&mut self, node: Node<'a>) {
        let Some(name) = field(node, "name") else { return };
        let local = self.variable_of(name);
        let value = field(node, "value").map(|it| self.operand(it));
        let span = self.span(node);
        self.set(local, Rvalue::Unknown(value.into_iter().collect()), span);
    }

    fn goto_stmt(&mut self, node: Node<'a>) {
        let name = first_child(node).map_or("", |it| self.file.text(it));
        let target = self.label(name);
        self.cfg.goto(target);
    }

    fn label_stmt(&mut self, node: Node<'a>) {
        let name = first_child(node).map_or("", |it| self.file.text(it));
        let target = self.label(name);
        self.cfg.goto(target);
        self.cfg.switch_to(target);
    }
}

/// The expressions of `a, b, c`.
pub(super) fn sequence(node: Node<'_>) -> Vec<Node<'_>> {
    let mut out = Vec::new();
    let mut next = Some(node);
    while let Some(node) = next.take() {
        if node.kind() != "sequence_expression" {
            out.push(node);
            break;
        }
        let mut parts = children(node);
        next = parts.pop();
        out.append(&mut parts);
    }
    out
}
