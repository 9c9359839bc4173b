//! What does lowering one function body carry along: its graph, variables, captures and `finally`s?

use super::doc;
use super::doc_type::{ClassScope, Templates, TypeScope};
use super::file::FileCtx;
use super::syntax::Node;
use super::types::{self, ScopeRef};
use crate::base::{Name, ProblemKind, Span};
use crate::ir::build::Lowering;
use crate::ir::{
    BlockId, Capture, CfgBuilder, FuncId, Function, FunctionKind, LocalId, Operand, Place, Rvalue,
    TypeRef,
};
use std::collections::BTreeMap;
use std::rc::Rc;

/// How many copies of `finally` bodies one function may have. Nested ones multiply.
const MAX_FINALLY_COPIES: usize = 500;

/// Which variables of the function around it a closure sees without naming them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Implicit {
    /// None: functions, methods, static closures.
    Nothing,
    /// `$this`: closures.
    This,
    /// Every one that it uses: arrow functions.
    All,
    /// The same without `$this`: static arrow functions.
    AllButThis,
}

/// What a body is of.
#[derive(Clone, Debug)]
pub(super) struct Owner {
    pub(super) id: FuncId,
    /// The function's full name; closures in it are named after it.
    pub(super) name: Name,
    pub(super) kind: FunctionKind,
    pub(super) class: Option<Rc<ClassScope>>,
    pub(super) implicit: Implicit,
    /// Whether `$this` is there, or can be captured.
    pub(super) has_this: bool,
}

/// A variable that a closure takes from around it, before the outer local is known.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) name: Name,
    pub(super) inner: LocalId,
    pub(super) by_ref: bool,
}

/// A function body under construction.
pub(super) struct Body<'f, 'a> {
    pub(super) file: &'f mut FileCtx<'a>,
    pub(super) cfg: CfgBuilder,
    pub(super) owner: Owner,
    /// Variables by name.
    vars: BTreeMap<Name, LocalId>,
    /// Types that doc comments in the body give to variables.
    documented: BTreeMap<Name, TypeRef>,
    /// Type parameters of the function.
    pub(super) templates: Templates,
    wanted: Vec<Wanted>,
    /// `finally` bodies by token.
    finally: Vec<Node<'a>>,
    finally_copies: usize,
    labels: BTreeMap<Name, BlockId>,
    /// Where `?->` on null goes, innermost last.
    pub(super) null_exits: Vec<BlockId>,
    pub(super) n_closures: usize,
    pub(super) is_generator: bool,
}

impl<'f, 'a> Body<'f, 'a> {
    /// A body without instructions; `node` is the declaration.
    pub(super) fn new(file: &'f mut FileCtx<'a>, owner: Owner, node: Node<'a>) -> Self {
        let cfg = CfgBuilder::new(file.end_of(node));
        let mut out = Self {
            file,
            cfg,
            owner,
            vars: BTreeMap::new(),
            documented: BTreeMap::new(),
            templates: Templates::default(),
            wanted: Vec::new(),
            finally: Vec::new(),
            finally_copies: 0,
            labels: BTreeMap::new(),
            null_exits: Vec::new(),
            n_closures: 0,
            is_generator: false,
        };
        if out.owner.kind == FunctionKind::Method {
            let ty = out.owner.class.as_ref().map(|it| TypeRef::named(it.name.clone()));
            let this = out.cfg.local("this", ty);
            out.vars.insert("this".into(), this);
        }
        out
    }

    /// Reads `@var Job $job`; gives the type of a `@var` that names no variable.
    pub(super) fn read_var_comment(&mut self, comment: Node<'a>) -> Option<TypeRef> {
        let text = self.file.text(comment);
        if !text.starts_with("/**") || !text.contains("var") {
            return None;
        }
        let mut nameless = None;
        for tag in doc::named(&doc::tags(&super::scan::strip(text)), "var") {
            let Some((name, ty)) = doc::typed_variable(&tag.body, self.type_scope()) else {
                continue;
            };
            self.file.note_type(&ty);
            match self.vars.get(name.as_str()) {
                _ if name.is_empty() => nameless = Some(ty),
                Some(&local) => self.add_type(local, ty),
                None => {
                    self.documented.insert(name.into(), ty);
                }
            }
        }
        nameless
    }

    /// Where types in this body are written.
    pub(super) fn type_scope(&self) -> TypeScope<'_> {
        TypeScope {
            names: &self.file.names,
            class: self.owner.class.as_deref(),
            templates: &self.templates,
        }
    }

    /// Resolves a native type.
    pub(super) fn native_type(&mut self, node: Node<'a>) -> Option<TypeRef> {
        let class = self.owner.class.clone();
        let scope = ScopeRef { class: class.as_deref(), templates: &self.templates };
        types::native(self.file, node, scope)
    }

    /// Resolves a type of one name.
    pub(super) fn named_type(&mut self, node: Node<'a>) -> TypeRef {
        let class = self.owner.class.clone();
        let scope = ScopeRef { class: class.as_deref(), templates: &self.templates };
        types::named(self.file, self.file.text(node), scope)
    }

    /// The local of a variable, made, and captured where closures do so, when it is first named.
    pub(super) fn variable(&mut self, name: &str) -> LocalId {
        if let Some(&id) = self.vars.get(name) {
            return id;
        }
        let id = self.declare(name, None);
        let captures = match self.owner.implicit {
            Implicit::Nothing => false,
            Implicit::This => name == "this" && self.owner.has_this,
            Implicit::All => name != "this" || self.owner.has_this,
            Implicit::AllButThis => name != "this",
        };
        if captures {
            self.wanted.push(Wanted { name: name.into(), inner: id, by_ref: false });
        }
        id
    }

    /// A new local of this name: parameters, `use` clauses.
    pub(super) fn declare(&mut self, name: &str, ty: Option<TypeRef>) -> LocalId {
        let name: Name = name.into();
        let ty = ty.or_else(|| self.documented.get(&name).cloned());
        let id = self.cfg.local(name.clone(), ty);
        self.vars.insert(name, id);
        id
    }

    /// Captures a variable that a `use` clause names.
    pub(super) fn capture(&mut self, name: &str, by_ref: bool) {
        let inner = self.declare(name, None);
        self.wanted.push(Wanted { name: name.into(), inner, by_ref });
    }

    /// Adds a type that a variable may have: `catch (T $e)`, `@var`.
    pub(super) fn add_type(&mut self, id: LocalId, ty: TypeRef) {
        let local = self.cfg.local_mut(id);
        local.ty = match local.ty.take() {
            Some(old) if types::is_vague(&old) => Some(ty),
            old => Some(merge(old, ty)),
        };
    }

    /// The outer side of what a closure wants, with the types it has here.
    pub(super) fn captures(&mut self, wanted: Vec<Wanted>, func: &mut Function) {
        for it in wanted {
            let outer = self.variable(&it.name);
            let ty = self.cfg.local_mut(outer).ty.clone();
            let inner = &mut func.locals[it.inner];
            if inner.ty.is_none() {
                inner.ty = ty;
            }
            func.captures.push(Capture { outer, inner: it.inner, by_ref: it.by_ref });
        }
    }

    /// Keeps a `finally` body; gives its token.
    pub(super) fn keep_finally(&mut self, node: Node<'a>) -> u32 {
        self.finally.push(node);
        u32::try_from(self.finally.len() - 1).unwrap_or(u32::MAX)
    }

    /// The block that a `goto` label stands for.
    pub(super) fn label(&mut self, name: &str) -> BlockId {
        if let Some(&block) = self.labels.get(name) {
            return block;
        }
        let block = self.cfg.new_block();
        self.labels.insert(name.into(), block);
        block
    }

    pub(super) fn span(&self, node: Node<'_>) -> Span {
        self.file.span(node)
    }

    /// `dest = value`.
    pub(super) fn set(&mut self, dest: LocalId, value: Rvalue, span: Span) {
        self.cfg.assign(Place::local(dest), value, span);
    }

    /// Branches on `cond` to blocks that are there already; what follows is unreachable.
    pub(super) fn branch_to(
        &mut self,
        cond: Operand,
        (then, otherwise): (BlockId, BlockId),
        span: Span,
    ) {
        self.cfg.terminate(crate::ir::Terminator::Branch { cond, then, otherwise, span });
    }

    /// Ends the body. The caller fills in the rest of the declaration and resolves the captures.
    pub(super) fn finish(self, span: Span, name_span: Span) -> (Function, Vec<Wanted>) {
        let (cfg, locals) = self.cfg.finish();
        let owner = self.owner;
        let short = owner.name.rsplit("::").next().unwrap_or(&owner.name);
        let short = short.rsplit('\\').next().unwrap_or(short).into();
        let func = Function {
            short,
            name: owner.name,
            kind: owner.kind,
            class: owner.class.map(|it| it.name.clone()),
            of_trait: None,
            params: Vec::new(),
            ret: None,
            captures: Vec::new(),
            parent: None,
            attrs: Vec::new(),
            doc: None,
            visibility: crate::ir::Visibility::Public,
            is_async: false,
            is_generator: self.is_generator,
            is_abstract: false,
            exempt: self.file.source.exempt,
            locals,
            cfg,
            span,
            name_span,
        };
        (func, self.wanted)
    }
}

impl Lowering for Body<'_, '_> {
    fn builder(&mut self) -> &mut CfgBuilder {
        &mut self.cfg
    }

    fn lower_finally(&mut self, token: u32) {
        let Some(&node) = self.finally.get(token as usize) else { return };
        self.finally_copies += 1;
        if self.finally_copies > MAX_FINALLY_COPIES {
            let span = self.span(node);
            let message = "too many copies of `finally` bodies; this one is left out";
            self.file.problem(ProblemKind::Limit, span, message);
            return;
        }
        self.stmt(node);
    }
}

/// Both types, when they differ.
fn merge(old: Option<TypeRef>, new: TypeRef) -> TypeRef {
    let members = old.into_iter().chain([new.clone()]).collect();
    super::doc_type::combine(members).unwrap_or(new)
}
