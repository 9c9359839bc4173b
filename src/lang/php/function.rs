//! How do functions, methods, closures and property hooks become IR functions?

use super::body::{Body, Implicit, Owner};
use super::constant;
use super::doc::{self, Tag};
use super::doc_type::{ClassScope, Templates};
use super::file::FileCtx;
use super::syntax::{Node, child_of_kind, children, field, first_child};
use super::types;
use crate::base::{Name, Span};
use crate::ir::build::{Exit, leave};
use crate::ir::{
    Attr, FuncId, FunctionKind, Operand, Param, Place, Proj, Rvalue, TypeRef, Visibility,
};
use std::rc::Rc;

/// A function or method to lower.
pub(super) struct Head<'a> {
    pub(super) node: Node<'a>,
    /// Full name.
    pub(super) name: Name,
    pub(super) kind: FunctionKind,
    pub(super) class: Option<Rc<ClassScope>>,
    pub(super) visibility: Visibility,
    /// For property hooks: the property.
    pub(super) hook_of: Option<Name>,
}

/// Lowers a function or method.
pub(super) fn lower_function<'a>(ctx: &mut FileCtx<'a>, head: Head<'a>) -> FuncId {
    let Head { node, name, kind, class, visibility, hook_of } = head;
    let span = ctx.span(node);
    let id = ctx.reserve(span);
    let doc = ctx.doc_of(node).map(|it| it.text.clone());
    let tags = doc.as_deref().map(doc::tags).unwrap_or_default();
    let has_this = kind == FunctionKind::Method;
    let owner = Owner { id, name, kind, class, implicit: Implicit::Nothing, has_this };
    let mut body = Body::new(ctx, owner, node);
    body.read_templates(&tags);
    let signature = body.signature(node, &tags);
    body.promote(node, &signature.params);
    let implementation = field(node, "body");
    match (implementation, &hook_of) {
        (Some(it), Some(property)) => body.hook(it, property, signature.params.is_empty()),
        (Some(it), None) => body.whole(it),
        (None, _) => (),
    }
    let attrs = attributes(body.file, node, &tags);
    let name_span = field(node, "name").or_else(|| child_of_kind(node, "name"));
    let name_span = body.span(name_span.unwrap_or(node));
    let (mut func, _) = body.finish(span, name_span);
    func.params = signature.params;
    func.ret = signature.ret;
    func.is_abstract = implementation.is_none();
    (func.attrs, func.doc, func.visibility) = (attrs, doc, visibility);
    ctx.out.functions[id] = func;
    id
}

/// A method that only a doc comment declares.
pub(super) fn documented_method(
    ctx: &mut FileCtx<'_>,
    class: &Rc<ClassScope>,
    method: doc::DocMethod,
    span: Span,
) -> FuncId {
    let id = ctx.reserve(span);
    if let Some(ty) = &method.ret {
        ctx.note_type(ty);
    }
    let func = &mut ctx.out.functions[id];
    func.name = format!("{}::{}", class.name, method.name).into();
    func.short = method.name.into();
    func.class = Some(class.name.clone());
    func.kind = if method.is_static { FunctionKind::Static } else { FunctionKind::Method };
    func.ret = method.ret;
    func.is_abstract = true;
    if func.kind == FunctionKind::Method {
        let this =
            crate::ir::Local { name: "this".into(), ty: Some(TypeRef::named(class.name.clone())) };
        func.locals.push(this);
    }
    id
}

/// Parameters and return type.
struct Signature {
    params: Vec<Param>,
    ret: Option<TypeRef>,
}

impl<'a> Body<'_, 'a> {
    fn read_templates(&mut self, tags: &[Tag]) {
        self.templates.extend(doc::templates(tags, self.type_scope()));
    }

    fn signature(&mut self, node: Node<'a>, tags: &[Tag]) -> Signature {
        let documented = self.documented_params(tags);
        let params = field(node, "parameters").map(children).unwrap_or_default();
        let params = params.into_iter().map(|it| self.param(it, &documented)).collect();
        let native = field(node, "return_type").and_then(|it| self.native_type(it));
        let doc_ret = doc::type_of(tags, "return", self.type_scope());
        if let Some(ty) = &doc_ret {
            self.file.note_type(ty);
        }
        Signature { params, ret: types::refine(native, doc_ret) }
    }

    fn documented_params(&mut self, tags: &[Tag]) -> Vec<(String, TypeRef)> {
        let scope = self.type_scope();
        let out: Vec<_> = doc::named(tags, "param")
            .filter_map(|it| doc::typed_variable(&it.body, scope))
            .collect();
        for (_, ty) in &out {
            self.file.note_type(ty);
        }
        out
    }

    fn param(&mut self, node: Node<'a>, documented: &[(String, TypeRef)]) -> Param {
        let target = field(node, "name");
        let by_ref = field(node, "reference_modifier").is_some()
            || target.is_some_and(|it| it.kind() == "by_ref");
        let variable = target.map(|it| if by_ref { first_child(it).unwrap_or(it) } else { it });
        let variable = variable.filter(|it| it.kind() == "variable_name").or(target);
        let name = variable.map_or("", |it| self.variable_text(it));
        let variadic = node.kind() == "variadic_parameter";
        let native = field(node, "type").and_then(|it| self.native_type(it));
        let doc_ty = documented.iter().rev().find(|it| it.0 == name).map(|it| it.1.clone());
        let ty = types::refine(native, doc_ty.or_else(|| self.inline_var(node)));
        let local_ty = if variadic { ty.clone().map(TypeRef::list) } else { ty.clone() };
        let local = self.declare(name, local_ty);
        let default = field(node, "default_value").map(|it| {
            let class = self.owner.class.clone();
            Operand::Const(constant::constant(self.file, class.as_deref(), it))
        });
        Param {
            name: name.into(),
            local,
            ty,
            by_ref,
            variadic,
            default,
            promoted: node.kind() == "property_promotion_parameter",
            attrs: attributes(self.file, node, &[]),
        }
    }

    /// `/** @var Job */` right before a parameter.
    fn inline_var(&mut self, node: Node<'a>) -> Option<TypeRef> {
        let text = self.file.doc_of(node)?.text.clone();
        let ty = doc::type_of(&doc::tags(&text), "var", self.type_scope())?;
        self.file.note_type(&ty);
        Some(ty)
    }

    /// Promoted parameters are stored in their properties before the body runs.
    fn promote(&mut self, node: Node<'a>, params: &[Param]) {
        let nodes = field(node, "parameters").map(children).unwrap_or_default();
        for (param, node) in params.iter().zip(nodes).filter(|(it, _)| it.promoted) {
            let property = Proj::Field(param.name.clone());
            let place = Place::local(self.variable("this")).project(property);
            let span = self.span(node);
            self.cfg.assign(place, Rvalue::Use(Operand::Local(param.local)), span);
        }
    }

    /// A body of statements, or an arrow function's expression.
    fn whole(&mut self, node: Node<'a>) {
        if node.kind() == "compound_statement" {
            return self.stmt(node);
        }
        let value = Some(self.operand(node));
        let span = self.span(node);
        leave(self, Exit::Return { value, span });
    }

    /// A property hook. `set => expr` stores the value; `set` without a parameter has `$value`.
    fn hook(&mut self, node: Node<'a>, property: &Name, no_params: bool) {
        let sets = self.owner.name.ends_with("::set");
        if sets && no_params {
            self.declare("value", None);
        }
        if !sets || node.kind() == "compound_statement" {
            return self.whole(node);
        }
        let value = self.operand(node);
        let span = self.span(node);
        let this = Place::local(self.variable("this"));
        self.cfg.assign(this.project(Proj::Field(property.clone())), Rvalue::Use(value), span);
    }

    /// Lowers a closure or arrow function; gives its function.
    pub(super) fn closure(&mut self, node: Node<'a>) -> FuncId {
        let span = self.span(node);
        let id = self.file.reserve(span);
        let owner = self.closure_owner(node, id);
        let templates: Templates = self.templates.clone();
        let doc = self.file.doc_of(node).map(|it| it.text.clone());
        let tags = doc.as_deref().map(doc::tags).unwrap_or_default();
        let mut inner = Body::new(&mut *self.file, owner, node);
        inner.templates = templates;
        let signature = inner.signature(node, &tags);
        if let Some(it) = child_of_kind(node, "anonymous_function_use_clause") {
            inner.use_clause(it);
        }
        if let Some(it) = field(node, "body") {
            inner.whole(it);
        }
        let attrs = attributes(inner.file, node, &[]);
        let keyword = ["function", "fn"].into_iter().find_map(|it| child_of_kind(node, it));
        let name_span = inner.span(keyword.unwrap_or(node));
        let (mut func, wanted) = inner.finish(span, name_span);
        func.params = signature.params;
        func.ret = signature.ret;
        func.parent = Some(self.owner.id);
        (func.attrs, func.doc) = (attrs, doc);
        self.captures(wanted, &mut func);
        self.file.out.functions[id] = func;
        id
    }

    fn closure_owner(&mut self, node: Node<'a>, id: FuncId) -> Owner {
        let name = format!("{}::{{closure#{}}}", self.owner.name, self.n_closures).into();
        self.n_closures += 1;
        let is_static = field(node, "static_modifier").is_some();
        let implicit = match (node.kind() == "arrow_function", is_static) {
            (true, true) => Implicit::AllButThis,
            (true, false) => Implicit::All,
            (false, true) => Implicit::Nothing,
            (false, false) => Implicit::This,
        };
        let has_this = self.owner.has_this && !is_static;
        let class = self.owner.class.clone();
        Owner { id, name, kind: FunctionKind::Closure, class, implicit, has_this }
    }

    fn use_clause(&mut self, node: Node<'a>) {
        for it in children(node) {
            let by_ref = it.kind() == "by_ref";
            let variable = if by_ref { first_child(it).unwrap_or(it) } else { it };
            let name = self.variable_text(variable);
            self.capture(name, by_ref);
        }
    }
}

/// Attributes of a declaration, and the annotations of its doc comment.
pub(super) fn attributes(ctx: &mut FileCtx<'_>, node: Node<'_>, tags: &[Tag]) -> Vec<Attr> {
    let mut out = Vec::new();
    for group in field(node, "attributes").map(children).unwrap_or_default() {
        for it in children(group) {
            let Some(name) = first_child(it) else { continue };
            let args = field(it, "parameters").map_or("", |it| ctx.text(it));
            let name = ctx.class_name(ctx.text(name));
            out.push(Attr { name, args: doc::parenthesized(args) });
        }
    }
    for it in doc::annotations(tags, &ctx.names) {
        ctx.note_import(&it.name);
        out.push(it);
    }
    out
}
