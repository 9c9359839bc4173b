//! How do classes, interfaces, traits and enums become type declarations?

use super::constant;
use super::doc::{self, Tag};
use super::doc_type::{self, ClassScope, Templates, TypeScope};
use super::file::FileCtx;
use super::function::{self, Head, attributes, lower_function};
use super::syntax::{Node, child_of_kind, children, field};
use super::types::{self, ScopeRef};
use crate::base::{Name, Span};
use crate::ir::{
    Const, ConstDecl, FunctionKind, Property, TypeDecl, TypeKind, TypeRef, Visibility,
};
use std::rc::Rc;

/// Lowers a declaration with a name.
pub(super) fn lower_named<'a>(ctx: &mut FileCtx<'a>, node: Node<'a>) {
    let name = ctx.declared_name(field(node, "name"));
    let kind = match node.kind() {
        "interface_declaration" => TypeKind::Interface,
        "trait_declaration" => TypeKind::Trait,
        "enum_declaration" => TypeKind::Enum,
        _ => TypeKind::Class,
    };
    lower(ctx, node, name, kind);
}

/// Lowers an anonymous class; gives its made-up name.
pub(super) fn lower_anonymous<'a>(ctx: &mut FileCtx<'a>, node: Node<'a>) -> Name {
    let name = ctx.anonymous_name(node);
    lower(ctx, node, name.clone(), TypeKind::Class);
    name
}

fn lower<'a>(ctx: &mut FileCtx<'a>, node: Node<'a>, name: Name, kind: TypeKind) {
    let doc = ctx.doc_of(node).map(|it| it.text.clone());
    let tags = doc.as_deref().map(doc::tags).unwrap_or_default();
    let extends = names_in(ctx, child_of_kind(node, "base_clause"));
    let implements = names_in(ctx, child_of_kind(node, "class_interface_clause"));
    let parent = extends.first().filter(|_| kind == TypeKind::Class).map(|it| it.name.clone());
    let scope = class_scope(ctx, name.clone(), parent, (kind, &tags));
    let mut decl = TypeDecl {
        name,
        kind,
        parents: extends.into_iter().chain(implements).collect(),
        traits: Vec::new(),
        properties: Vec::new(),
        consts: Vec::new(),
        methods: Vec::new(),
        attrs: attributes(ctx, node, &tags),
        doc,
        is_abstract: child_of_kind(node, "abstract_modifier").is_some(),
        exempt: ctx.source.exempt,
        span: ctx.span(node),
    };
    add_arguments(ctx, &scope, &tags, &mut decl.parents);
    let is_readonly = child_of_kind(node, "readonly_modifier").is_some();
    let mut members = Members { scope: Rc::new(scope), decl, is_readonly };
    for member in field(node, "body").map(children).unwrap_or_default() {
        members.member(ctx, member);
    }
    members.documented(ctx, &tags);
    ctx.out.types.push(members.decl);
}

fn names_in(ctx: &mut FileCtx<'_>, clause: Option<Node<'_>>) -> Vec<TypeRef> {
    let names = clause.map(children).unwrap_or_default();
    names.into_iter().map(|it| TypeRef::named(ctx.class_name(ctx.text(it)))).collect()
}

fn class_scope(
    ctx: &FileCtx<'_>,
    name: Name,
    parent: Option<Name>,
    (kind, tags): (TypeKind, &[Tag]),
) -> ClassScope {
    let is_trait = kind == TypeKind::Trait;
    let mut scope = ClassScope { name, parent, is_trait, templates: Templates::default() };
    let none = Templates::default();
    let types = TypeScope { names: &ctx.names, class: Some(&scope), templates: &none };
    let templates = doc::templates(tags, types);
    scope.templates = templates;
    scope
}

/// Gives parents the arguments that `@extends Repository<Job>` and the like document.
fn add_arguments(ctx: &mut FileCtx<'_>, scope: &ClassScope, tags: &[Tag], parents: &mut [TypeRef]) {
    let names =
        ["extends", "implements", "use", "template-extends", "template-implements", "template-use"];
    for tag in names.iter().flat_map(|it| doc::named(tags, it)) {
        let none = Templates::default();
        let types = TypeScope { names: &ctx.names, class: Some(scope), templates: &none };
        let Some(ty) = doc_type::parse(&tag.body, types).0 else { continue };
        ctx.note_type(&ty);
        if let Some(parent) = parents.iter_mut().find(|it| it.name == ty.name) {
            parent.args = ty.args;
        }
    }
}

/// A type under construction.
struct Members {
    scope: Rc<ClassScope>,
    decl: TypeDecl,
    is_readonly: bool,
}

impl Members {
    fn member<'a>(&mut self, ctx: &mut FileCtx<'a>, node: Node<'a>) {
        match node.kind() {
            "const_declaration" => self.constants(ctx, node),
            "enum_case" => self.case(ctx, node),
            "property_declaration" => self.properties(ctx, node),
            "method_declaration" => self.method(ctx, node),
            "use_declaration" => self.traits(ctx, node),
            _ => (),
        }
    }

    fn constants<'a>(&mut self, ctx: &mut FileCtx<'a>, node: Node<'a>) {
        for element in children(node).into_iter().filter(|it| it.kind() == "const_element") {
            let [name, value] = children(element)[..] else { continue };
            let decl = ConstDecl {
                name: ctx.text(name).into(),
                value: constant::constant(ctx, Some(&self.scope), value),
                text: constant::constant_text(ctx, Some(&self.scope), value),
                is_case: false,
                span: ctx.span(element),
            };
            self.decl.consts.push(decl);
        }
    }

    fn case<'a>(&mut self, ctx: &mut FileCtx<'a>, node: Node<'a>) {
        let value = field(node, "value");
        let decl = ConstDecl {
            name: field(node, "name").map_or("", |it| ctx.text(it)).into(),
            value: value.map_or(Const::Null, |it| constant::constant(ctx, Some(&self.scope), it)),
            text: value.and_then(|it| constant::constant_text(ctx, Some(&self.scope), it)),
            is_case: true,
            span: ctx.span(node),
        };
        self.decl.consts.push(decl);
    }

    fn traits<'a>(&mut self, ctx: &mut FileCtx<'a>, node: Node<'a>) {
        let mut traits: Vec<_> = children(node)
            .into_iter()
            .filter(|it| it.kind() != "use_list")
            .map(|it| TypeRef::named(ctx.class_name(ctx.text(it))))
            .collect();
        let doc = ctx.doc_of(node).map(|it| it.text.clone()).unwrap_or_default();
        add_arguments(ctx, &self.scope, &doc::tags(&doc), &mut traits);
        self.decl.traits.append(&mut traits);
    }

    fn properties<'a>(&mut self, ctx: &mut FileCtx<'a>, node: Node<'a>) {
        let doc = ctx.doc_of(node).map(|it| it.text.clone()).unwrap_or_default();
        let tags = doc::tags(&doc);
        let ty = self.member_type(ctx, node, &tags);
        let attrs = attributes(ctx, node, &tags);
        for element in children(node).into_iter().filter(|it| it.kind() == "property_element") {
            let name = field(element, "name").map_or("", |it| ctx.text(it));
            let default = field(element, "default_value");
            self.decl.properties.push(Property {
                name: name.trim_start_matches('$').into(),
                ty: ty.clone(),
                default: default.map(|it| constant::constant(ctx, Some(&self.scope), it)),
                is_static: child_of_kind(node, "static_modifier").is_some(),
                is_readonly: self.is_readonly || child_of_kind(node, "readonly_modifier").is_some(),
                attrs: attrs.clone(),
                span: ctx.span(element),
            });
            self.hooks(ctx, node, name);
        }
    }

    fn member_type<'a>(
        &self,
        ctx: &mut FileCtx<'a>,
        node: Node<'a>,
        tags: &[Tag],
    ) -> Option<TypeRef> {
        let templates = Templates::default();
        let scope = ScopeRef { class: Some(&self.scope), templates: &templates };
        let native = field(node, "type").and_then(|it| types::native(ctx, it, scope));
        let documented = doc::type_of(tags, "var", scope.with(&ctx.names));
        if let Some(ty) = &documented {
            ctx.note_type(ty);
        }
        types::refine(native, documented)
    }

    /// Property hooks come out as methods `$name::get` and `$name::set`.
    fn hooks<'a>(&mut self, ctx: &mut FileCtx<'a>, node: Node<'a>, property: &str) {
        let hooks = child_of_kind(node, "property_hook_list").map(children).unwrap_or_default();
        for hook in hooks {
            let word = child_of_kind(hook, "name").map_or("", |it| ctx.text(it));
            let name = format!("{}::{property}::{}", self.decl.name, word.to_lowercase());
            let head = Head {
                node: hook,
                name: name.into(),
                kind: FunctionKind::Method,
                class: Some(self.scope.clone()),
                visibility: Visibility::Public,
                hook_of: Some(property.trim_start_matches('$').into()),
            };
            let id = lower_function(ctx, head);
            self.decl.methods.push(id);
        }
    }

    fn method<'a>(&mut self, ctx: &mut FileCtx<'a>, node: Node<'a>) {
        let short = field(node, "name").map_or("", |it| ctx.text(it));
        let is_static = child_of_kind(node, "static_modifier").is_some();
        let head = Head {
            node,
            name: format!("{}::{short}", self.decl.name).into(),
            kind: if is_static { FunctionKind::Static } else { FunctionKind::Method },
            class: Some(self.scope.clone()),
            visibility: visibility(ctx, node),
            hook_of: None,
        };
        let id = lower_function(ctx, head);
        self.decl.methods.push(id);
        if short.eq_ignore_ascii_case("__construct") {
            self.promoted(ctx, node, id);
        }
    }

    /// Promoted parameters are properties as well.
    fn promoted<'a>(&mut self, ctx: &mut FileCtx<'a>, node: Node<'a>, id: crate::ir::FuncId) {
        let nodes = field(node, "parameters").map(children).unwrap_or_default();
        let params = ctx.out.functions[id].params.clone();
        for (param, node) in params.into_iter().zip(nodes).filter(|(it, _)| it.promoted) {
            self.hooks(ctx, node, &format!("${}", param.name));
            self.decl.properties.push(Property {
                name: param.name,
                ty: param.ty,
                default: None,
                is_static: false,
                is_readonly: self.is_readonly || field(node, "readonly").is_some(),
                attrs: param.attrs,
                span: ctx.span(node),
            });
        }
    }

    /// `@property` and `@method` of the doc comment.
    fn documented(&mut self, ctx: &mut FileCtx<'_>, tags: &[Tag]) {
        let scope = self.scope.clone();
        let none = Templates::default();
        let span = self.decl.span;
        for tag in doc::named(tags, "property") {
            let types = TypeScope { names: &ctx.names, class: Some(&scope), templates: &none };
            let Some((name, ty)) = doc::typed_variable(&tag.body, types) else { continue };
            ctx.note_type(&ty);
            if !name.is_empty() && self.decl.properties.iter().all(|it| *it.name != *name) {
                self.decl.properties.push(documented_property(name, ty, span));
            }
        }
        for tag in doc::named(tags, "method") {
            let types = TypeScope { names: &ctx.names, class: Some(&scope), templates: &none };
            let Some(method) = doc::method(&tag.body, types) else { continue };
            let id = function::documented_method(ctx, &scope, method, span);
            self.decl.methods.push(id);
        }
    }
}

fn documented_property(name: String, ty: TypeRef, span: Span) -> Property {
    Property {
        name: name.into(),
        ty: Some(ty),
        default: None,
        is_static: false,
        is_readonly: false,
        attrs: Vec::new(),
        span,
    }
}

fn visibility(ctx: &FileCtx<'_>, node: Node<'_>) -> Visibility {
    let written = child_of_kind(node, "visibility_modifier").and_then(|it| it.child(0));
    match written.map(|it| ctx.text(it).to_ascii_lowercase()).as_deref() {
        Some("private") => Visibility::Private,
        Some("protected") => Visibility::Protected,
        _ => Visibility::Public,
    }
}
