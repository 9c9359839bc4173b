//! How do chains of accesses and calls (`$this->jobs->find($id)?->lock()['x']`) come out?
//!
//! A chain is followed from its root outwards in a loop, so that builder chains may be long. Accesses
//! grow a place; a call loads the place so far and starts again from its result. `?->` on null leaves
//! the whole chain.

use super::body::Body;
use super::call::Site;
use super::constant;
use super::syntax::{Node, children, field, unparen};
use crate::base::Span;
use crate::ir::{BlockId, ClassRef, Const, LocalId, Operand, Place, PlaceBase, Proj, Rvalue};

/// What a chain has come to.
#[derive(Clone, Debug)]
pub(super) enum Link {
    /// Something that is not loaded yet.
    Place(Place),
    /// A value.
    Value(Operand),
}

/// Where the result of the outermost call goes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Want {
    pub(super) dest: Option<LocalId>,
    pub(super) discarded: bool,
}

/// Whether the node is a link of a chain.
pub(super) fn is_chain(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "member_access_expression"
            | "nullsafe_member_access_expression"
            | "subscript_expression"
            | "scoped_property_access_expression"
            | "member_call_expression"
            | "nullsafe_member_call_expression"
            | "scoped_call_expression"
            | "function_call_expression"
    )
}

/// What a link continues.
pub(super) fn link_base(node: Node<'_>) -> Option<Node<'_>> {
    match node.kind() {
        "subscript_expression" => children(node).first().copied(),
        "function_call_expression" => field(node, "function"),
        "scoped_call_expression" | "scoped_property_access_expression" => field(node, "scope"),
        _ => field(node, "object"),
    }
}

/// The links from the outermost to the innermost.
fn spine(node: Node<'_>) -> Vec<Node<'_>> {
    let mut out = vec![node];
    let mut current = node;
    while let Some(base) = link_base(current).filter(|it| is_chain(*it)) {
        out.push(base);
        current = base;
    }
    out
}

fn is_nullsafe(node: &Node<'_>) -> bool {
    node.kind().starts_with("nullsafe")
}

impl<'a> Body<'_, 'a> {
    /// Lowers a chain; its value goes to `dest`.
    pub(super) fn chain(&mut self, node: Node<'a>, dest: LocalId, discarded: bool) {
        let spine = spine(node);
        let span = self.span(node);
        let want = Want { dest: Some(dest), discarded };
        if !spine.iter().any(is_nullsafe) {
            let link = self.links(&spine, want);
            return self.settle(link, dest, span);
        }
        let (null, done) = (self.cfg.new_block(), self.cfg.new_block());
        self.null_exits.push(null);
        let link = self.links(&spine, want);
        self.null_exits.pop();
        self.settle(link, dest, span);
        self.cfg.goto(done);
        self.cfg.switch_to(null);
        self.set(dest, Rvalue::Use(Operand::Const(Const::Null)), span);
        self.cfg.goto(done);
        self.cfg.switch_to(done);
    }

    /// A chain that is asked about, not read.
    pub(super) fn chain_place(&mut self, node: Node<'a>, null_exit: BlockId) -> Place {
        let spine = spine(node);
        let span = self.span(node);
        self.null_exits.push(null_exit);
        let link = self.links(&spine, Want::default());
        self.null_exits.pop();
        match link {
            Link::Place(place) => place,
            Link::Value(value) => self.place_of(value, span),
        }
    }

    /// The place that an expression denotes; none for values and for `?->`.
    pub(super) fn place(&mut self, node: Node<'a>) -> Option<Place> {
        let node = unparen(node);
        match node.kind() {
            "variable_name" => Some(self.variable_place(node)),
            "by_ref" => children(node).first().and_then(|it| self.place(*it)),
            "member_access_expression"
            | "subscript_expression"
            | "scoped_property_access_expression" => {
                let spine = spine(node);
                if spine.iter().any(is_nullsafe) {
                    return None;
                }
                match self.links(&spine, Want::default()) {
                    Link::Place(place) => Some(place),
                    Link::Value(_) => None,
                }
            }
            _ => None,
        }
    }

    fn settle(&mut self, link: Link, dest: LocalId, span: Span) {
        match link {
            Link::Value(Operand::Local(local)) if local == dest => (),
            Link::Value(value) => self.set(dest, Rvalue::Use(value), span),
            Link::Place(place) => self.set_from(dest, place, span),
        }
    }

    /// `dest = place`.
    pub(super) fn set_from(&mut self, dest: LocalId, place: Place, span: Span) {
        let value = match place.as_local() {
            Some(local) => Rvalue::Use(Operand::Local(local)),
            None => Rvalue::Load(place),
        };
        self.set(dest, value, span);
    }

    fn links(&mut self, spine: &[Node<'a>], want: Want) -> Link {
        let mut out = None;
        for (idx, node) in spine.iter().enumerate().rev() {
            let want = if idx == 0 { want } else { Want::default() };
            out = Some(self.link(*node, out, want));
        }
        out.unwrap_or(Link::Value(Operand::Const(Const::Unknown)))
    }

    fn link(&mut self, node: Node<'a>, base: Option<Link>, want: Want) -> Link {
        match node.kind() {
            "member_access_expression" | "nullsafe_member_access_expression" => {
                let place = self.base(node, base);
                let proj = self.member(node);
                Link::Place(place.project(proj))
            }
            "subscript_expression" => self.subscript(node, base),
            "scoped_property_access_expression" => self.static_property(node, base),
            "function_call_expression" => self.function_call(node, base, want),
            _ => {
                let callee = self.callee(node, base);
                self.call(node, callee, want)
            }
        }
    }

    /// The place that a link continues, behind its null test.
    pub(super) fn base(&mut self, node: Node<'a>, base: Option<Link>) -> Place {
        let Some(child) = link_base(node) else {
            return self.place_of(Operand::Const(Const::Unknown), self.span(node));
        };
        let span = self.span(child);
        let place = match base {
            Some(Link::Place(place)) => place,
            Some(Link::Value(value)) => self.place_of(value, span),
            None if child.kind() == "variable_name" => self.variable_place(child),
            None => {
                let value = self.operand(child);
                self.place_of(value, span)
            }
        };
        if is_nullsafe(&node) { self.null_test(place, span) } else { place }
    }

    /// Leaves the chain when the place is null; gives the place of its value.
    fn null_test(&mut self, place: Place, span: Span) -> Place {
        let Some(&exit) = self.null_exits.last() else { return place };
        let value = self.load(place, span);
        let place = self.place_of(value, span);
        let cond = self.cfg.eval(Rvalue::IsSet(place.clone()), span);
        let set = self.cfg.new_block();
        self.branch_to(cond, (set, exit), span);
        self.cfg.switch_to(set);
        place
    }

    /// The property that `->` names.
    fn member(&mut self, node: Node<'a>) -> Proj {
        let Some(name) = field(node, "name") else {
            return Proj::DynField(Operand::Const(Const::Unknown));
        };
        if name.kind() == "name" {
            return Proj::Field(self.file.text(name).into());
        }
        match self.operand(name) {
            Operand::Const(Const::Str(name)) => Proj::Field(name),
            computed => Proj::DynField(computed),
        }
    }

    fn subscript(&mut self, node: Node<'a>, base: Option<Link>) -> Link {
        let mut place = self.base(node, base);
        let Some(index) = children(node).get(1).copied() else {
            return Link::Place(place.project(Proj::Push));
        };
        let index = self.key(index);
        if let (PlaceBase::Global(name), true) = (&place.base, place.proj.is_empty())
            && &**name == "GLOBALS"
            && let Operand::Const(Const::Str(name)) = &index
        {
            place.base = PlaceBase::Global(name.clone());
            return Link::Place(place);
        }
        Link::Place(place.project(Proj::Index(index)))
    }

    /// An array key or an operand that is compared: a literal is a plain constant, whatever is in it.
    pub(super) fn key(&mut self, node: Node<'a>) -> Operand {
        let inner = unparen(node);
        if super::text::is_string(inner)
            && let Some(value) = super::text::literal(&super::text::parts(self.file, inner))
        {
            return Operand::Const(Const::Str(value.into()));
        }
        self.operand(inner)
    }

    fn static_property(&mut self, node: Node<'a>, base: Option<Link>) -> Link {
        let class = self.class_ref(field(node, "scope"), base);
        let Some(name) = field(node, "name").filter(|it| it.kind() == "variable_name") else {
            return Link::Value(self.cfg.eval(Rvalue::Unknown(Vec::new()), self.span(node)));
        };
        let base = PlaceBase::Static(class, self.variable_text(name).into());
        Link::Place(Place { base, proj: Vec::new() })
    }

    /// The class before `::`.
    pub(super) fn class_ref(&mut self, scope: Option<Node<'a>>, base: Option<Link>) -> ClassRef {
        let Some(scope) = scope else {
            return ClassRef::Dynamic(Box::new(Operand::Const(Const::Unknown)));
        };
        if let Some(class) = constant::static_class(self.file, scope) {
            return class;
        }
        if scope.kind() == "variable_name"
            && self.owner.has_this
            && self.variable_text(scope) == "this"
        {
            return ClassRef::LateStatic;
        }
        let span = self.span(scope);
        let value = match base {
            Some(Link::Place(place)) => self.load(place, span),
            Some(Link::Value(value)) => value,
            None => self.operand(scope),
        };
        ClassRef::Dynamic(Box::new(value))
    }

    /// The value of a place.
    pub(super) fn load(&mut self, place: Place, span: Span) -> Operand {
        match place.as_local() {
            Some(local) => Operand::Local(local),
            None => self.cfg.eval(Rvalue::Load(place), span),
        }
    }

    /// A place that holds `value`.
    pub(super) fn place_of(&mut self, value: Operand, span: Span) -> Place {
        match value {
            Operand::Local(local) => Place::local(local),
            value @ Operand::Const(_) => {
                let temp = self.cfg.temp();
                self.set(temp, Rvalue::Use(value), span);
                Place::local(temp)
            }
        }
    }

    /// Name of a `variable_name` without `$`.
    pub(super) fn variable_text(&self, node: Node<'a>) -> &'a str {
        self.file.text(node).trim_start_matches('$').trim_start()
    }

    /// The local of a `variable_name`.
    pub(super) fn variable_of(&mut self, node: Node<'a>) -> LocalId {
        self.variable(self.variable_text(node))
    }

    /// The place of a `variable_name`; superglobals are one place for the whole program.
    pub(super) fn variable_place(&mut self, node: Node<'a>) -> Place {
        let name = self.variable_text(node);
        if is_superglobal(name) {
            return Place { base: PlaceBase::Global(name.into()), proj: Vec::new() };
        }
        Place::local(self.variable(name))
    }

    /// A call through its [`Site`].
    pub(super) fn call(&mut self, node: Node<'a>, callee: crate::ir::Callee, want: Want) -> Link {
        Link::Value(self.call_or_callable(Site::of(node, want), callee))
    }
}

/// Variables that every function sees.
fn is_superglobal(name: &str) -> bool {
    matches!(
        name,
        "GLOBALS"
            | "_SERVER"
            | "_GET"
            | "_POST"
            | "_FILES"
            | "_COOKIE"
            | "_SESSION"
            | "_REQUEST"
            | "_ENV"
    )
}
