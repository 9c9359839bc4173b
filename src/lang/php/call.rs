//! What does a call site call, and with what?

use super::body::Body;
use super::chain::{Link, Want, link_base};
use super::constant;
use super::syntax::{Node, child_of_kind, children, field, first_child, unparen};
use super::text;
use crate::base::Span;
use crate::ir::{
    Arg, ArrayItem, Call, Callee, Const, ConstDecl, InstrKind, LocalId, Operand, Proj, Rvalue,
    Terminator,
};

/// A call in the source.
#[derive(Clone, Copy)]
pub(super) struct Site<'a> {
    /// The whole call.
    pub(super) node: Node<'a>,
    /// What is called by name.
    pub(super) name: Option<Node<'a>>,
    pub(super) want: Want,
}

impl<'a> Site<'a> {
    pub(super) fn of(node: Node<'a>, want: Want) -> Self {
        let name = field(node, "name").or_else(|| field(node, "function"));
        Self { node, name, want }
    }
}

impl<'a> Body<'_, 'a> {
    /// What a method or static call calls.
    pub(super) fn callee(&mut self, node: Node<'a>, base: Option<Link>) -> Callee {
        if node.kind() == "scoped_call_expression" {
            let class = self.class_ref(field(node, "scope"), base);
            return match self.method_name(node) {
                Some(name) => Callee::Static { class, name: name.into() },
                None => Callee::Unknown,
            };
        }
        let place = self.base(node, base);
        let span = self.span(link_base(node).unwrap_or(node));
        let receiver = self.load(place, span);
        let nullsafe = node.kind() == "nullsafe_member_call_expression";
        match self.method_name(node) {
            Some(name) => Callee::Method { receiver, name: name.into(), nullsafe },
            None => Callee::Unknown,
        }
    }

    /// The method's name, when it is not computed.
    fn method_name(&mut self, node: Node<'a>) -> Option<String> {
        let name = field(node, "name")?;
        if name.kind() == "name" {
            return Some(self.file.text(name).to_owned());
        }
        match self.operand(name) {
            Operand::Const(Const::Str(name)) => Some(name.to_string()),
            _ => None,
        }
    }

    /// `f(...)` and the constructs that look like it.
    pub(super) fn function_call(&mut self, node: Node<'a>, base: Option<Link>, want: Want) -> Link {
        let Some(function) = field(node, "function") else {
            return Link::Value(Operand::Const(Const::Unknown));
        };
        if matches!(function.kind(), "name" | "qualified_name" | "relative_name") {
            return self.named_call(node, function, want);
        }
        let span = self.span(function);
        let value = match base {
            Some(Link::Place(place)) => self.load(place, span),
            Some(Link::Value(value)) => value,
            None => self.operand(function),
        };
        self.call(node, Callee::Value(value), want)
    }

    fn named_call(&mut self, node: Node<'a>, function: Node<'a>, want: Want) -> Link {
        let written = self.file.text(function);
        let args = field(node, "arguments").map(children).unwrap_or_default();
        match written.trim_start_matches('\\').to_ascii_lowercase().as_str() {
            "exit" | "die" => {
                for it in args.into_iter().filter_map(first_child) {
                    self.operand(it);
                }
                let span = self.span(node);
                self.cfg.terminate(Terminator::Exit { span });
                return Link::Value(Operand::Const(Const::Null));
            }
            "isset" => {
                let dest = want.dest.unwrap_or_else(|| self.cfg.temp());
                self.truth(node, dest);
                return Link::Value(Operand::Local(dest));
            }
            "empty" => {
                let value = args.first().and_then(|it| first_child(*it));
                let value = value.map_or(Operand::Const(Const::Unknown), |it| self.operand(it));
                let span = self.span(node);
                return Link::Value(self.eval_into(Rvalue::IsEmpty(value), want.dest, span));
            }
            "compact" => {
                if let Some(items) = self.compact(&args) {
                    let span = self.span(node);
                    return Link::Value(self.eval_into(Rvalue::Array(items), want.dest, span));
                }
            }
            "define" => self.define(node, &args),
            _ => (),
        }
        let callee = Callee::Function(self.file.function_name(written));
        self.call(node, callee, want)
    }

    fn eval_into(&mut self, value: Rvalue, dest: Option<LocalId>, span: Span) -> Operand {
        match dest {
            Some(dest) => {
                self.set(dest, value, span);
                Operand::Local(dest)
            }
            None => self.cfg.eval(value, span),
        }
    }

    /// `compact('status', 'id')`; none when a name is not literal.
    fn compact(&mut self, args: &[Node<'a>]) -> Option<Vec<ArrayItem>> {
        let mut names = Vec::new();
        for arg in args {
            let name = first_child(*arg).filter(|it| text::is_string(*it))?;
            names.push((text::literal(&text::parts(self.file, name))?, self.span(*arg)));
        }
        let item = |(name, span): (String, Span)| ArrayItem {
            value: Operand::Local(self.variable(&name)),
            key: Some(Operand::Const(Const::Str(name.into()))),
            spread: false,
            span,
        };
        Some(names.into_iter().map(item).collect())
    }

    /// `define('MAX_TRIES', 3)` declares a constant.
    fn define(&mut self, node: Node<'a>, args: &[Node<'a>]) {
        let [name, value, ..] = args else { return };
        let (Some(name), Some(value)) = (first_child(*name), first_child(*value)) else { return };
        if !text::is_string(name) {
            return;
        }
        let Some(name) = text::literal(&text::parts(self.file, name)) else { return };
        let class = self.owner.class.clone();
        let decl = ConstDecl {
            name: name.trim_start_matches('\\').into(),
            value: constant::constant(self.file, class.as_deref(), value),
            text: constant::constant_text(self.file, class.as_deref(), value),
            is_case: false,
            span: self.span(node),
        };
        self.file.out.consts.push(decl);
    }

    /// The call's result, or the callable for `f(...)`.
    pub(super) fn call_or_callable(&mut self, site: Site<'a>, callee: Callee) -> Operand {
        let arguments = field(site.node, "arguments");
        if arguments.is_some_and(|it| child_of_kind(it, "variadic_placeholder").is_some()) {
            let span = self.span(site.node);
            return self.eval_into(Rvalue::Callable(Box::new(callee)), site.want.dest, span);
        }
        let args = arguments.map(|it| self.args(it)).unwrap_or_default();
        let spans = (self.span(site.node), self.span(site.name.unwrap_or(site.node)));
        self.push_call(callee, args, site.want, spans)
    }

    /// Appends a call; the spans are the whole call's and its name's.
    pub(super) fn push_call(
        &mut self,
        callee: Callee,
        args: Vec<Arg>,
        want: Want,
        (span, name_span): (Span, Span),
    ) -> Operand {
        let dest = want.dest.unwrap_or_else(|| self.cfg.temp());
        let discarded = want.discarded;
        let call = Call { callee, args, dest, type_args: Vec::new(), discarded, name_span };
        self.cfg.push(InstrKind::Call(Box::new(call)), span);
        Operand::Local(dest)
    }

    /// Arguments in order.
    pub(super) fn args(&mut self, node: Node<'a>) -> Vec<Arg> {
        children(node).into_iter().map(|it| self.arg(it)).collect()
    }

    fn arg(&mut self, node: Node<'a>) -> Arg {
        let name = field(node, "name");
        let value = children(node).into_iter().find(|it| {
            Some(it.id()) != name.map(|it| it.id()) && it.kind() != "reference_modifier"
        });
        let Some(value) = value else {
            return unknown_arg(self.span(node));
        };
        let mut arg = match value.kind() {
            "variadic_unpacking" => {
                let inner = first_child(value).unwrap_or(value);
                Arg { spread: true, ..self.arg_of(inner) }
            }
            "argument_placeholder" => unknown_arg(self.span(value)),
            _ => self.arg_of(value),
        };
        arg.name = name.map(|it| self.file.text(it).into());
        arg
    }

    /// An argument of one expression. Any place might be taken by reference.
    pub(super) fn arg_of(&mut self, node: Node<'a>) -> Arg {
        let span = self.span(node);
        let place = self.place(node);
        let value = match &place {
            // `f($list[])` can only be a reference: there is nothing to read.
            Some(place) if place.proj.last() == Some(&Proj::Push) => Operand::Const(Const::Null),
            Some(place) => self.load(place.clone(), span),
            None => self.operand(node),
        };
        Arg { value, place, name: None, spread: false, span }
    }

    /// A call of a language construct that works like a function.
    pub(super) fn word_call(
        &mut self,
        word: &str,
        node: Node<'a>,
        args: Vec<Node<'a>>,
        want: Want,
    ) {
        let args = args.into_iter().map(|it| self.arg_of(it)).collect();
        let spans = (self.span(node), self.span(node.child(0).unwrap_or(node)));
        self.push_call(Callee::Function(word.into()), args, want, spans);
    }

    /// `new Job(...)` and `new class(...) {...}`.
    pub(super) fn new_object(&mut self, node: Node<'a>, want: Want) {
        let Some(class) = children(node).into_iter().find(|it| it.kind() != "arguments") else {
            return;
        };
        let (class_ref, holder) = if class.kind() == "anonymous_class" {
            let name = super::class::lower_anonymous(self.file, class);
            (crate::ir::ClassRef::Named(name), class)
        } else {
            (self.class_ref(Some(unparen(class)), None), node)
        };
        let args = child_of_kind(holder, "arguments").map(|it| self.args(it)).unwrap_or_default();
        let name = if class.kind() == "anonymous_class" { node.child(0) } else { Some(class) };
        let spans = (self.span(node), self.span(name.unwrap_or(node)));
        self.push_call(Callee::New(class_ref), args, want, spans);
    }
}

fn unknown_arg(span: Span) -> Arg {
    let value = Operand::Const(Const::Unknown);
    Arg { value, place: None, name: None, spread: false, span }
}
