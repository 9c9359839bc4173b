//! How do loops and `switch` come out as blocks?

use super::body::Body;
use super::stmt::sequence;
use super::syntax::{Node, child_of_kind, children, field, unparen};
use crate::ir::{BinaryOp, BlockId, LocalId, Operand, Place, Proj, Rvalue, Terminator};

/// The blocks of a loop.
struct Frame {
    head: BlockId,
    body: BlockId,
    step: BlockId,
    done: BlockId,
}

impl<'a> Body<'_, 'a> {
    fn frame(&mut self) -> Frame {
        Frame {
            head: self.cfg.new_block(),
            body: self.cfg.new_block(),
            step: self.cfg.new_block(),
            done: self.cfg.new_block(),
        }
    }

    /// Lowers a loop's body, which `continue` leaves to `next`, and goes on to `next`.
    fn loop_body(&mut self, node: Node<'a>, frame: &Frame, next: BlockId) {
        self.cfg.push_loop(None, frame.done, next);
        let mut cursor = node.walk();
        let bodies: Vec<_> = node.children_by_field_name("body", &mut cursor).collect();
        for body in bodies.into_iter().filter(Node::is_named) {
            self.stmt(body);
        }
        self.cfg.pop_scope();
        self.cfg.goto(next);
    }

    pub(super) fn while_loop(&mut self, node: Node<'a>) {
        let frame = self.frame();
        self.cfg.goto(frame.head);
        self.cfg.switch_to(frame.head);
        if let Some(condition) = field(node, "condition") {
            self.condition(condition, frame.body, frame.done);
        }
        self.cfg.switch_to(frame.body);
        self.loop_body(node, &frame, frame.head);
        self.cfg.switch_to(frame.done);
    }

    pub(super) fn lower_do(&mut self, node: Node<'a>) {
        let frame = self.frame();
        self.cfg.goto(frame.body);
        self.cfg.switch_to(frame.body);
        self.loop_body(node, &frame, frame.head);
        self.cfg.switch_to(frame.head);
        if let Some(condition) = field(node, "condition") {
            self.condition(condition, frame.body, frame.done);
        }
        self.cfg.switch_to(frame.done);
    }

    pub(super) fn for_loop(&mut self, node: Node<'a>) {
        let frame = self.frame();
        for it in field(node, "initialize").map(sequence).unwrap_or_default() {
            self.discard(it);
        }
        self.cfg.goto(frame.head);
        self.cfg.switch_to(frame.head);
        let mut conditions = field(node, "condition").map(sequence).unwrap_or_default();
        let last = conditions.pop();
        for it in conditions {
            self.discard(it);
        }
        match last {
            Some(condition) => self.condition(condition, frame.body, frame.done),
            None => self.cfg.goto(frame.body),
        }
        self.cfg.switch_to(frame.body);
        self.loop_body(node, &frame, frame.step);
        self.cfg.switch_to(frame.step);
        for it in field(node, "update").map(sequence).unwrap_or_default() {
            self.discard(it);
        }
        self.cfg.goto(frame.head);
        self.cfg.switch_to(frame.done);
    }

    /// The subject is evaluated once; whether there is another element is not known.
    pub(super) fn foreach(&mut self, node: Node<'a>) {
        let [subject, target, ..] = children(node)[..] else { return };
        let (key, value) = match target.kind() {
            "pair" => match children(target)[..] {
                [key, value] => (Some(key), value),
                _ => return,
            },
            _ => (None, target),
        };
        let rows = self.foreach_subject(subject, value.kind() == "by_ref");
        let frame = self.frame();
        self.cfg.goto(frame.head);
        self.cfg.switch_to(frame.head);
        let span = self.span(subject);
        let current = self.load(rows.clone(), span);
        let more = self.cfg.eval(Rvalue::Unknown(vec![current]), span);
        self.branch_to(more, (frame.body, frame.done), span);
        self.cfg.switch_to(frame.body);
        self.bind(value, rows.clone().project(Proj::Element { key: false }));
        if let Some(key) = key {
            self.bind(key, rows.project(Proj::Element { key: true }));
        }
        self.loop_body(node, &frame, frame.head);
        self.cfg.switch_to(frame.done);
    }

    fn foreach_subject(&mut self, subject: Node<'a>, by_ref: bool) -> Place {
        if by_ref && let Some(place) = self.place(subject) {
            return place;
        }
        let value = self.operand(subject);
        self.place_of(value, self.span(subject))
    }

    /// Tests come first, in order; bodies fall through to one another.
    pub(super) fn switch(&mut self, node: Node<'a>) {
        let (Some(subject), Some(block)) = (field(node, "condition"), field(node, "body")) else {
            return;
        };
        let test = self.subject(unparen(subject));
        let done = self.cfg.new_block();
        let cases: Vec<_> =
            children(block).into_iter().map(|it| (it, self.cfg.new_block())).collect();
        let mut default = done;
        for &(case, body) in &cases {
            match field(case, "value").filter(|_| case.kind() == "case_statement") {
                Some(value) => self.case_test(&test, value, body),
                None => default = body,
            }
        }
        self.cfg.goto(default);
        self.cfg.push_loop(None, done, done);
        for (case, body) in cases {
            self.cfg.goto(body);
            self.cfg.switch_to(body);
            // The case's value is no statement and is passed over.
            self.statements(case);
        }
        self.cfg.pop_scope();
        self.cfg.goto(done);
        self.cfg.switch_to(done);
    }

    /// Goes to `hit` when the case is taken, and on to the next test otherwise.
    pub(super) fn case_test(&mut self, test: &Subject, value: Node<'a>, hit: BlockId) {
        let next = self.cfg.new_block();
        match test {
            Subject::Truth(true) => self.condition(value, hit, next),
            Subject::Truth(false) => self.condition(value, next, hit),
            Subject::Value(subject) => {
                let span = self.span(value);
                let value = self.key(value);
                let equal = Rvalue::Binary(BinaryOp::Eq, subject.clone(), value);
                let cond = self.cfg.eval(equal, span);
                self.branch_to(cond, (hit, next), span);
            }
        }
        self.cfg.switch_to(next);
    }

    /// What cases are compared with.
    pub(super) fn subject(&mut self, node: Node<'a>) -> Subject {
        if node.kind() == "boolean" {
            return Subject::Truth(self.file.text(node).eq_ignore_ascii_case("true"));
        }
        Subject::Value(self.operand(node))
    }

    /// `match` as a value into `dest`, or for its effects only.
    pub(super) fn match_expr(&mut self, node: Node<'a>, dest: Option<LocalId>) {
        let (Some(subject), Some(block)) = (field(node, "condition"), field(node, "body")) else {
            return;
        };
        let test = self.subject(unparen(subject));
        let done = self.cfg.new_block();
        let arms: Vec<_> =
            children(block).into_iter().map(|it| (it, self.cfg.new_block())).collect();
        let mut default = None;
        for &(arm, body) in &arms {
            let values = child_of_kind(arm, "match_condition_list").map(children);
            match values {
                Some(values) => values.into_iter().for_each(|it| self.case_test(&test, it, body)),
                None => default = Some(body),
            }
        }
        if let Some(body) = default {
            self.cfg.goto(body);
        } else {
            // No arm takes the value: PHP throws an `UnhandledMatchError`.
            let span = self.span(node);
            self.cfg.terminate(Terminator::Throw { value: None, span });
        }
        for (arm, body) in arms {
            self.cfg.switch_to(body);
            if let Some(value) = field(arm, "return_expression") {
                self.value_or_effect(value, dest);
            }
            self.cfg.goto(done);
        }
        self.cfg.switch_to(done);
    }
}

/// What the cases of a `switch` or `match` are compared with.
#[derive(Clone, Debug)]
pub(super) enum Subject {
    /// `match (true)`: each case is a condition.
    Truth(bool),
    /// A value.
    Value(Operand),
}
