//! Calls, and the chains of `.`, `?`, `[…]` and `as` around them, walked in a loop.

use super::block::unit_value;
use super::body::{Body, Want};
use super::names::unraw;
use super::path::split;
use super::ty::{is_primitive, is_type_name};
use crate::base::{Name, Span, last_segment};
use crate::ir::{
    Arg, Call, Callee, ClassRef, Const, InstrKind, Operand, Place, Proj, Rvalue, Terminator,
    TypeRef,
};
use syn::punctuated::Punctuated;
use syn::{Expr, ExprCall, ExprMethodCall, Token, UnOp};

/// One link of a chain, from the inside out.
pub(super) enum Step<'e> {
    Field(Name),
    Index(&'e Expr),
    Try(Span),
    Cast,
    Method(&'e ExprMethodCall),
    Call(&'e ExprCall),
}

/// A value on its way through a chain.
enum Link {
    Place(Place),
    Value(Rvalue),
}

/// A call about to be emitted.
pub(super) struct Outgoing {
    pub(super) callee: Callee,
    pub(super) args: Vec<Arg>,
    pub(super) type_args: Vec<TypeRef>,
    pub(super) name_span: Span,
    pub(super) span: Span,
}

impl Body<'_, '_> {
    /// A chain as a value.
    pub(super) fn postfix(&mut self, expr: &Expr, want: Want) -> Rvalue {
        match self.chain(expr, want) {
            Link::Value(value) => value,
            Link::Place(place) => match place.as_local() {
                Some(local) => Rvalue::Use(Operand::Local(local)),
                None => Rvalue::Load(place),
            },
        }
    }

    /// A chain as something to assign to.
    pub(super) fn postfix_place(&mut self, expr: &Expr) -> Place {
        let span = self.unit.spans.expr(expr);
        let link = self.chain(expr, Want::Value);
        self.place_of(link, span)
    }

    fn chain(&mut self, expr: &Expr, want: Want) -> Link {
        let mut steps = Vec::new();
        let root = self.unwind(expr, &mut steps);
        let mut span = self.unit.spans.expr(root.0);
        let command = self.command(root.0, &steps, want);
        if let Some((_, _, taken)) = &command {
            steps.truncate(steps.len() - taken);
        }
        let n_steps = steps.len();
        let mut link = if let Some((value, whole, _)) = command {
            span = whole;
            Link::Value(value)
        } else {
            let root_want = if n_steps == 0 { want } else { Want::Value };
            self.root(root.0, root.1, root_want)
        };
        for (idx, step) in steps.into_iter().rev().enumerate() {
            let want = if idx + 1 == n_steps { want } else { Want::Value };
            (link, span) = self.step(link, span, &step, want);
        }
        link
    }

    /// Takes a chain apart down to its root; the flag says that the root is awaited at once.
    fn unwind<'e>(&self, expr: &'e Expr, out: &mut Vec<Step<'e>>) -> (&'e Expr, bool) {
        let mut expr = expr;
        let mut awaited = false;
        loop {
            let n_steps = out.len();
            let inner = match expr {
                Expr::Await(it) => {
                    awaited = true;
                    &*it.base
                }
                Expr::Paren(it) => &it.expr,
                Expr::Group(it) => &it.expr,
                Expr::Reference(it) => &it.expr,
                Expr::Unary(it) if matches!(it.op, UnOp::Deref(_)) => &it.expr,
                Expr::Field(it) => {
                    out.push(Step::Field(super::attr::member(&it.member)));
                    &it.base
                }
                Expr::Index(it) => {
                    out.push(Step::Index(&it.index));
                    &it.expr
                }
                Expr::Try(it) => {
                    out.push(Step::Try(self.unit.spans.of(it.question_token.spans[0])));
                    &it.expr
                }
                Expr::Cast(it) => {
                    out.push(Step::Cast);
                    &it.expr
                }
                Expr::MethodCall(it) => {
                    out.push(Step::Method(it));
                    &it.receiver
                }
                Expr::Call(it) if !matches!(&*it.func, Expr::Path(_)) => {
                    out.push(Step::Call(it));
                    &it.func
                }
                _ => return (expr, awaited),
            };
            awaited &= out.len() == n_steps;
            expr = inner;
        }
    }

    fn root(&mut self, expr: &Expr, awaited: bool, want: Want) -> Link {
        if let Some(local) = self.local_of(expr) {
            return Link::Place(Place::local(local));
        }
        Link::Value(match expr {
            Expr::Call(it) => self.path_call(it, want),
            Expr::Async(it) if awaited => self.inlined_block(&it.block.stmts, false),
            expr => self.value(expr, want),
        })
    }

    fn place_of(&mut self, link: Link, span: Span) -> Place {
        match link {
            Link::Place(place) => place,
            Link::Value(value) => {
                let value = self.materialize(value, span);
                Place::local(self.in_local(value, span))
            }
        }
    }

    fn operand_of(&mut self, link: Link, span: Span) -> Operand {
        match link {
            Link::Place(place) => self.materialize(Rvalue::Load(place), span),
            Link::Value(value) => self.materialize(value, span),
        }
    }

    fn step(&mut self, link: Link, span: Span, step: &Step<'_>, want: Want) -> (Link, Span) {
        match step {
            Step::Field(name) => {
                let place = self.place_of(link, span).project(Proj::Field(name.clone()));
                (Link::Place(place), span)
            }
            Step::Index(index) => (self.index(link, span, index), span),
            Step::Try(question) => {
                if let Link::Value(Rvalue::Struct { ty, .. }) = &link
                    && &*ty.name == "Err"
                {
                    let value = self.operand_of(link, span);
                    self.leave_with(Some(value), *question, true);
                    return (Link::Value(unit_value()), span.cover(*question));
                }
                let value = self.operand_of(link, span);
                (Link::Place(self.question(value, *question)), span.cover(*question))
            }
            Step::Cast => {
                let value = self.operand_of(link, span);
                (Link::Value(Rvalue::Cast(value)), span)
            }
            Step::Method(it) => {
                let whole = span.cover(self.unit.spans.of(it.paren_token.span.close()));
                let receiver = self.operand_of(link, span);
                (Link::Value(self.method(receiver, it, whole, want)), whole)
            }
            Step::Call(it) => {
                let whole = span.cover(self.unit.spans.of(it.paren_token.span.close()));
                let callee = Callee::Value(self.operand_of(link, span));
                let args = self.args(&it.args);
                let out =
                    Outgoing { callee, args, type_args: Vec::new(), name_span: span, span: whole };
                (Link::Value(self.emit_call(out, want)), whole)
            }
        }
    }

    fn index(&mut self, link: Link, span: Span, index: &Expr) -> Link {
        if let Expr::Range(_) = index {
            let list = self.operand_of(link, span);
            let range = self.operand(index);
            return Link::Value(Rvalue::Unknown(vec![list, range]));
        }
        let place = self.place_of(link, span);
        let index = self.operand(index);
        Link::Place(place.project(Proj::Index(index)))
    }

    /// `receiver.name(…)`.
    fn method(
        &mut self,
        receiver: Operand,
        expr: &ExprMethodCall,
        span: Span,
        want: Want,
    ) -> Rvalue {
        let name = unraw(&expr.method);
        if expr.args.is_empty() && expr.turbofish.is_none() {
            match shape_change(&name) {
                Some(Shape::Same) => return Rvalue::Use(receiver),
                Some(Shape::Cast) => return Rvalue::Cast(receiver),
                Some(Shape::Clone) => return Rvalue::Clone(receiver),
                None => (),
            }
        }
        let type_args = match &expr.turbofish {
            Some(it) => self.unit.turbofish(&self.site, it),
            None => Vec::new(),
        };
        let args = self.args(&expr.args);
        let name_span = self.unit.spans.of(expr.method.span());
        let callee = Callee::Method { receiver, name: name.into(), nullsafe: false };
        self.emit_call(Outgoing { callee, args, type_args, name_span, span }, want)
    }

    /// Appends a call; its result is where it is wanted.
    pub(super) fn emit_call(&mut self, out: Outgoing, want: Want) -> Rvalue {
        let dest = match want {
            Want::Into(dest) => dest,
            _ => self.temp(),
        };
        let call = Call {
            callee: out.callee,
            args: out.args,
            dest,
            type_args: out.type_args,
            discarded: want == Want::Nothing,
            name_span: out.name_span,
        };
        self.builder_mut().push(InstrKind::Call(Box::new(call)), out.span);
        Rvalue::Use(Operand::Local(dest))
    }

    /// Arguments in order.
    pub(super) fn args(&mut self, args: &Punctuated<Expr, Token![,]>) -> Vec<Arg> {
        args.iter().map(|it| self.arg(it)).collect()
    }

    /// One argument; what is passed by `&mut`, or is a variable, keeps its place.
    pub(super) fn arg(&mut self, expr: &Expr) -> Arg {
        let span = self.unit.spans.expr(expr);
        if let Expr::Reference(it) = expr
            && it.mutability.is_some()
            && is_place(&it.expr)
        {
            let place = self.target_place(&it.expr);
            let value = self.materialize(Rvalue::Load(place.clone()), span);
            return Arg { value, place: Some(place), name: None, spread: false, span };
        }
        let place = self.local_of(expr).map(Place::local);
        let value = self.operand(expr);
        Arg { value, place, name: None, spread: false, span }
    }

    /// Whether a call gives back its argument: `Box::new(x)`, `Arc::clone(&x)`.
    pub(super) fn is_transparent_call(&mut self, expr: &ExprCall) -> bool {
        let Expr::Path(path) = &*expr.func else { return false };
        let full = self.unit.resolve_path(&self.site, &path.path);
        let (prefix, name) = split(&full);
        let class = prefix.map(last_segment).unwrap_or_default();
        match name {
            "new" | "clone" | "from" => matches!(class, "Box" | "Arc" | "Rc" | "Pin"),
            "pin" => matches!(class, "Box" | "Arc" | "Rc"),
            _ => false,
        }
    }

    /// A call of something with a name.
    fn path_call(&mut self, expr: &ExprCall, want: Want) -> Rvalue {
        let Expr::Path(path) = &*expr.func else { return Rvalue::Unknown(Vec::new()) };
        let first = self.unit.spans.expr(&expr.func);
        let span = first.cover(self.unit.spans.of(expr.paren_token.span.close()));
        let name_span =
            path.path.segments.last().map_or(first, |it| self.unit.spans.of(it.ident.span()));
        if let Some(local) = self.local_of(&expr.func) {
            let callee = Callee::Value(Operand::Local(local));
            let args = self.args(&expr.args);
            let out = Outgoing { callee, args, type_args: Vec::new(), name_span, span };
            return self.emit_call(out, want);
        }
        if let (true, Some(inner)) = (self.is_transparent_call(expr), only(&expr.args)) {
            return match inner {
                Expr::Reference(it) => self.value(&it.expr, Want::Value),
                inner => self.value(inner, Want::Value),
            };
        }
        let callee = self.unit.path_callee(&self.site, path);
        if let Some(value) = self.known_call(&callee, expr, span) {
            return value;
        }
        let type_args = self.unit.path_args(&self.site, &path.path);
        let args = self.args(&expr.args);
        self.emit_call(Outgoing { callee, args, type_args, name_span, span }, want)
    }

    /// Constructors, conversions, `drop` and what ends the process.
    fn known_call(&mut self, callee: &Callee, expr: &ExprCall, span: Span) -> Option<Rvalue> {
        match callee {
            Callee::Function(full) => match &**full {
                "drop" | "std::mem::drop" | "core::mem::drop" => {
                    let local = self.local_of(only(&expr.args)?)?;
                    Some(self.lower_drop(local, span))
                }
                "std::process::exit" | "std::process::abort" => {
                    self.args(&expr.args);
                    self.builder_mut().terminate(Terminator::Exit { span });
                    Some(unit_value())
                }
                full if is_constructor(split(full).1) => {
                    Some(self.constructed(TypeRef::named(full), expr))
                }
                _ => None,
            },
            Callee::Static { class, name } if is_constructor(name) => {
                let class = match class {
                    ClassRef::SelfType => self.site.class.clone().unwrap_or_else(|| "Self".into()),
                    ClassRef::Named(class) => class.clone(),
                    _ => return None,
                };
                Some(self.constructed(TypeRef::named(format!("{class}::{name}")), expr))
            }
            Callee::Static { class: ClassRef::Named(class), name } if &**name == "from" => {
                let short = last_segment(class);
                let converts = is_primitive(short) || short == "String";
                let arg = only(&expr.args).filter(|_| converts)?;
                Some(Rvalue::Cast(self.operand(arg)))
            }
            _ => None,
        }
    }

    /// `Some(x)`, `Event::Started(x)`: a struct with numbered fields.
    fn constructed(&mut self, ty: TypeRef, expr: &ExprCall) -> Rvalue {
        let fields = expr
            .args
            .iter()
            .enumerate()
            .map(|(idx, it)| (idx.to_string().into(), self.operand(it)))
            .collect();
        Rvalue::Struct { ty, fields, base: None }
    }

    /// A value that is always the same.
    pub(super) fn fixed(value: Const) -> Rvalue {
        Rvalue::Use(Operand::Const(value))
    }
}

/// What a method without arguments does to its receiver's shape.
enum Shape {
    Same,
    Cast,
    Clone,
}

fn shape_change(name: &str) -> Option<Shape> {
    Some(match name {
        "boxed" | "boxed_local" | "scope_boxed" | "scope_boxed_local" | "by_ref" => Shape::Same,
        "into" | "as_str" | "as_ref" | "as_mut" | "as_deref" | "as_deref_mut" | "to_string"
        | "as_bytes" | "as_slice" | "as_mut_slice" | "into_boxed_str" | "into_string"
        | "into_boxed_slice" | "iter" | "iter_mut" | "into_iter" => Shape::Cast,
        "clone" | "to_owned" | "cloned" | "copied" | "to_vec" => Shape::Clone,
        _ => return None,
    })
}

/// `Job`, `Some`: calling a name that begins in upper case builds a value.
fn is_constructor(name: &str) -> bool {
    is_type_name(name) && !is_primitive(name)
}

/// Whether an expression names something that outlives it.
fn is_place(expr: &Expr) -> bool {
    let mut expr = expr;
    loop {
        expr = match expr {
            Expr::Path(_) => return true,
            Expr::Field(it) => &it.base,
            Expr::Index(it) => &it.expr,
            Expr::Paren(it) => &it.expr,
            Expr::Unary(it) if matches!(it.op, UnOp::Deref(_)) => &it.expr,
            _ => return false,
        }
    }
}

/// The only argument.
pub(super) fn only(args: &Punctuated<Expr, Token![,]>) -> Option<&Expr> {
    args.first().filter(|_| args.len() == 1)
}
