//! One function under construction: its blocks, its variables, and the closures inside of it.
//!
//! A [`Frame`] is a function or closure. A name that the innermost frame does not know is looked up in
//! the frames around it and becomes a capture of every closure on the way.

use super::decl;
use super::drops::Final;
use super::names::{Site, unraw};
use super::pattern::{Bindings, names_of};
use super::unit::Unit;
use crate::base::{Name, Span};
use crate::ir::{
    self, BlockId, Capture, Cfg, CfgBuilder, FuncId, Function, FunctionKind, LocalId, Operand,
    Param, Place, Rvalue, Terminator, TypeRef, Visibility,
};
use std::collections::{BTreeMap, BTreeSet};
use syn::{Attribute, Expr, FnArg, Pat, ReturnType};

/// Expressions, patterns and blocks within one another.
const MAX_DEPTH: u32 = 400;

/// A function's declaration.
pub(super) struct Signature<'a> {
    pub(super) sig: &'a syn::Signature,
    pub(super) attrs: &'a [Attribute],
    pub(super) visibility: Visibility,
    pub(super) span: Span,
    pub(super) kind: FunctionKind,
}

/// What becomes of an expression's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Want {
    /// It is read.
    Value,
    /// It goes to a variable.
    Into(LocalId),
    /// It is thrown away.
    Nothing,
    /// The function returns it, from each branch by itself.
    Return,
}

/// Something that `break` and `continue` name, under a label that is unique in the function.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// The label as written.
    pub(super) written: Option<Name>,
    /// The label in the builder.
    pub(super) label: Name,
    /// Where `break` puts its value.
    pub(super) dest: Option<LocalId>,
    /// A bare `break` does not leave blocks.
    pub(super) is_loop: bool,
}

/// An async or `try` block that was lowered in place: what leaves it does not leave the function.
#[derive(Clone, Debug)]
pub(super) struct Inlined {
    pub(super) label: Name,
    pub(super) dest: LocalId,
    /// `return` leaves the function, only `?` leaves the block.
    pub(super) is_try: bool,
}

/// Names of one block.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    pub(super) locals: BTreeMap<Name, LocalId>,
    /// Bodies that run when the block is left, by position in [`Frame::finals`].
    pub(super) finals: Vec<u32>,
}

/// A function or closure under construction.
pub(super) struct Frame {
    pub(super) id: FuncId,
    pub(super) name: Name,
    pub(super) builder: CfgBuilder,
    pub(super) scopes: Vec<Names>,
    pub(super) captures: Vec<Capture>,
    /// Captures are references: a closure without `move`.
    pub(super) by_ref: bool,
    /// The body became that of an async block.
    pub(super) is_async: bool,
    pub(super) n_closures: u32,
    pub(super) targets: Vec<Target>,
    pub(super) inlined: Vec<Inlined>,
    pub(super) finals: Vec<Final>,
    /// Copies of `finals` that may still be made.
    pub(super) copies_left: u32,
    /// Guards that were given away.
    pub(super) moved: BTreeSet<LocalId>,
    /// Elements of tuples that were just built.
    pub(super) tuples: BTreeMap<LocalId, Vec<Operand>>,
}

impl Frame {
    pub(super) fn new(id: FuncId, name: Name, end: Span) -> Self {
        Self {
            id,
            name,
            builder: CfgBuilder::new(end),
            scopes: vec![Names::default()],
            captures: Vec::new(),
            by_ref: false,
            is_async: false,
            n_closures: 0,
            targets: Vec::new(),
            inlined: Vec::new(),
            finals: Vec::new(),
            copies_left: super::drops::MAX_COPIES,
            moved: BTreeSet::new(),
            tuples: BTreeMap::new(),
        }
    }

    fn find(&self, name: &str) -> Option<LocalId> {
        self.scopes.iter().rev().find_map(|it| it.locals.get(name)).copied()
    }
}

/// The functions under construction, outermost first.
pub(super) struct Body<'u, 's> {
    pub(super) unit: &'u mut Unit<'s>,
    pub(super) site: Site,
    pub(super) frames: Vec<Frame>,
    depth: u32,
    n_labels: u32,
}

impl<'u, 's> Body<'u, 's> {
    /// The body of the function that the frame is for.
    pub(super) fn new(unit: &'u mut Unit<'s>, site: Site, frame: Frame) -> Self {
        Body { unit, site, frames: vec![frame], depth: 0, n_labels: 0 }
    }

    /// Lowers a function, and reserves its id ahead of those of its closures.
    pub(super) fn function(
        unit: &'u mut Unit<'s>,
        site: Site,
        declared: &Signature<'_>,
        block: Option<&syn::Block>,
    ) -> FuncId {
        let mut function = head(unit, &site, declared);
        function.is_abstract = block.is_none();
        let name = function.name.clone();
        let id = unit.reserve(function);
        let end = Span { start: declared.span.end.saturating_sub(1), ..declared.span };
        let end = Span { end: end.start, ..end };
        let site = Site { prefix: name.clone(), ..site };
        let mut body = Body::new(unit, site, Frame::new(id, name, end));
        let params = body.params(declared);
        if let Some(block) = block {
            let unit_value = matches!(declared.sig.output, ReturnType::Default);
            body.function_block(&block.stmts, unit_value);
        }
        body.finish(params);
        id
    }

    fn params(&mut self, declared: &Signature<'_>) -> Vec<Param> {
        if declared.kind == FunctionKind::Method {
            let ty = self.site.class.as_deref().map(TypeRef::named);
            let by_ref = decl::receiver_is_mutable(declared.sig);
            let local = self.declare("self", ty.map(|it| TypeRef { by_ref, ..it }));
            debug_assert_eq!(local, LocalId(0), "the receiver comes first");
        }
        let typed = declared.sig.inputs.iter().filter_map(|it| match it {
            FnArg::Typed(it) => Some(it),
            FnArg::Receiver(_) => None,
        });
        let typed: Vec<_> = typed.collect();
        let mut patterns = Vec::new();
        let mut out = Vec::new();
        for it in typed {
            let ty = self.unit.type_ref(&self.site, &it.ty);
            let attrs = self.unit.attrs(&self.site, &it.attrs);
            let param = Param { attrs, ..self.param(&it.pat, Some(ty)) };
            patterns.push((&*it.pat, param.local));
            out.push(param);
        }
        self.bind_params(&patterns);
        out
    }

    /// A parameter; a pattern that is more than a name is taken apart by `bind_params`.
    pub(super) fn param(&mut self, pat: &Pat, ty: Option<TypeRef>) -> Param {
        let by_ref = ty.as_ref().is_some_and(|it| it.by_ref);
        let (name, local) = if let Some(name) = plain_name(pat) {
            (name.clone(), self.declare(&name, ty.clone()))
        } else {
            let mut names = names_of(pat);
            let only = names.pop_first().filter(|_| names.is_empty());
            (only.unwrap_or_else(|| "_".into()), self.builder_mut().local("", ty.clone()))
        };
        Param {
            name,
            local,
            ty,
            by_ref,
            variadic: false,
            default: None,
            promoted: false,
            attrs: Vec::new(),
        }
    }

    /// Takes patterns apart that are more than a name.
    pub(super) fn bind_params(&mut self, patterns: &[(&Pat, LocalId)]) {
        for (pat, local) in patterns {
            if plain_name(pat).is_none() {
                self.bind_irrefutable(pat, &Place::local(*local));
            }
        }
    }

    /// Closes the innermost frame.
    pub(super) fn finish(&mut self, params: Vec<Param>) -> Option<FuncId> {
        let frame = self.frames.pop()?;
        let (cfg, locals) = frame.builder.finish();
        let function = &mut self.unit.file.functions[frame.id];
        function.params = params;
        function.captures = frame.captures;
        function.is_async |= frame.is_async;
        function.locals = locals;
        function.cfg = cfg;
        Some(frame.id)
    }

    /// The innermost frame.
    pub(super) fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a body has a frame until it is finished")
    }

    /// The builder of the innermost frame.
    pub(super) fn builder_mut(&mut self) -> &mut CfgBuilder {
        &mut self.frame().builder
    }

    /// A new variable of the current block.
    pub(super) fn declare(&mut self, name: &str, ty: Option<TypeRef>) -> LocalId {
        let frame = self.frame();
        let local = frame.builder.local(name, ty);
        if let Some(scope) = frame.scopes.last_mut() {
            scope.locals.insert(name.into(), local);
        }
        local
    }

    /// Makes variables of a pattern visible.
    pub(super) fn reveal(&mut self, bindings: &Bindings) {
        if let Some(scope) = self.frame().scopes.last_mut() {
            scope.locals.extend(bindings.iter().map(|(name, local)| (name.clone(), *local)));
        }
    }

    /// The variable of that name, captured when it belongs to a function around this one.
    pub(super) fn variable(&mut self, name: &str) -> Option<LocalId> {
        let (at, mut local) = self
            .frames
            .iter()
            .enumerate()
            .rev()
            .find_map(|(idx, frame)| Some((idx, frame.find(name)?)))?;
        for idx in at + 1..self.frames.len() {
            let ty = self.frames[idx - 1].builder.local_mut(local).ty.clone();
            let frame = &mut self.frames[idx];
            let inner = frame.builder.local(name, ty);
            frame.captures.push(Capture { outer: local, inner, by_ref: frame.by_ref });
            if let Some(scope) = frame.scopes.first_mut() {
                scope.locals.insert(name.into(), inner);
            }
            local = inner;
        }
        Some(local)
    }

    /// The variable that an expression names.
    pub(super) fn local_of(&mut self, expr: &Expr) -> Option<LocalId> {
        match expr {
            Expr::Path(it) if it.qself.is_none() => {
                let ident = it.path.get_ident()?;
                self.variable(&unraw(ident))
            }
            Expr::Paren(it) => self.local_of(&it.expr),
            _ => None,
        }
    }

    /// A label that no other loop of the function has.
    pub(super) fn fresh_label(&mut self) -> Name {
        self.n_labels += 1;
        self.n_labels.to_string().into()
    }

    /// Runs `lower` one level deeper; beyond the limit gives none and records it.
    pub(super) fn nested<T>(
        &mut self,
        expr: &Expr,
        lower: impl FnOnce(&mut Self) -> T,
    ) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            let span = self.unit.spans.expr(expr);
            self.unit.limit(span, "the expression is nested too deeply to be read");
            return None;
        }
        self.depth += 1;
        let out = lower(self);
        self.depth -= 1;
        Some(out)
    }

    // Short forms of the builder's operations.

    pub(super) fn new_block(&mut self) -> BlockId {
        self.builder_mut().new_block()
    }

    pub(super) fn switch_to(&mut self, block: BlockId) {
        self.builder_mut().switch_to(block);
    }

    pub(super) fn goto(&mut self, block: BlockId) {
        self.builder_mut().goto(block);
    }

    pub(super) fn temp(&mut self) -> LocalId {
        self.builder_mut().temp()
    }

    /// Branches to blocks that exist; what follows is unreachable until `switch_to`.
    pub(super) fn branch(&mut self, cond: Operand, targets: (BlockId, BlockId), span: Span) {
        let (then, otherwise) = targets;
        self.builder_mut().terminate(Terminator::Branch { cond, then, otherwise, span });
    }

    /// The value as an operand: in a temporary unless it is one already.
    pub(super) fn materialize(&mut self, value: Rvalue, span: Span) -> Operand {
        match value {
            Rvalue::Use(operand) => operand,
            Rvalue::Load(place) if place.proj.is_empty() => match place.as_local() {
                Some(local) => Operand::Local(local),
                None => self.builder_mut().eval(Rvalue::Load(place), span),
            },
            value => self.builder_mut().eval(value, span),
        }
    }

    /// Puts a value where it is wanted and tells how to read it.
    pub(super) fn deliver(&mut self, value: Rvalue, want: Want, span: Span) -> Rvalue {
        match want {
            Want::Value => value,
            Want::Into(dest) => {
                self.store(dest, value, span);
                Rvalue::Use(Operand::Local(dest))
            }
            Want::Nothing => {
                self.materialize(value, span);
                Rvalue::Use(Operand::Const(ir::Const::Null))
            }
            Want::Return => {
                let value = self.materialize(value, span);
                self.leave_with(Some(value), span, false);
                Rvalue::Use(Operand::Const(ir::Const::Null))
            }
        }
    }

    /// `dest = value`, unless it is there already.
    pub(super) fn store(&mut self, dest: LocalId, value: Rvalue, span: Span) {
        if !matches!(value, Rvalue::Use(Operand::Local(it)) if it == dest) {
            self.builder_mut().assign(Place::local(dest), value, span);
        }
    }
}

/// A function without its body.
fn head(unit: &mut Unit<'_>, site: &Site, declared: &Signature<'_>) -> Function {
    let (name, short) = decl::fn_name(site, declared.sig);
    let ret = unit.return_type(site, &declared.sig.output);
    let mut out = blank(site, name, short, declared.kind);
    out.ret = ret;
    out.attrs = unit.attrs(site, declared.attrs);
    out.doc = super::attr::doc(declared.attrs);
    out.visibility = declared.visibility;
    out.is_async = declared.sig.asyncness.is_some();
    out.span = declared.span;
    out.name_span = unit.spans.of(declared.sig.ident.span());
    out
}

/// A function that does nothing and stands nowhere.
pub(super) fn blank(site: &Site, name: Name, short: Name, kind: FunctionKind) -> Function {
    let nowhere = Span::new(crate::base::SourceId(0), 0, 0);
    Function {
        name,
        short,
        kind,
        class: site.class.clone(),
        of_trait: site.of_trait.clone(),
        params: Vec::new(),
        ret: None,
        captures: Vec::new(),
        parent: None,
        attrs: Vec::new(),
        doc: None,
        visibility: Visibility::Private,
        is_async: false,
        is_generator: false,
        is_abstract: false,
        exempt: site.exempt,
        locals: crate::base::IdVec::default(),
        cfg: Cfg::default(),
        span: nowhere,
        name_span: nowhere,
    }
}

/// The name of a pattern that binds a variable and does nothing else.
fn plain_name(pat: &Pat) -> Option<Name> {
    match pat {
        Pat::Ident(it) if it.subpat.is_none() => Some(unraw(&it.ident).into()),
        Pat::Type(it) => plain_name(&it.pat),
        Pat::Paren(it) => plain_name(&it.pat),
        Pat::Reference(it) => plain_name(&it.pat),
        _ => None,
    }
}
