//! Patterns: tests that branch, and names for parts of the value.
//!
//! A pattern is matched against a place. Each test goes on in a new block when it holds and to `fail`
//! when it does not; without `fail` the pattern cannot fail and nothing is tested.

use super::body::Body;
use super::names::unraw;
use super::path::{is_constant_name, split};
use super::ty::is_type_name;
use crate::base::{Name, Span, last_segment};
use crate::ir::{BinaryOp, BlockId, Const, LocalId, Operand, Place, Proj, Rvalue};
use std::collections::{BTreeMap, BTreeSet};
use syn::punctuated::Punctuated;
use syn::{Pat, PatIdent, Path, Token};

/// The variables of a pattern. The alternatives of an or-pattern share them.
pub(super) type Bindings = BTreeMap<Name, LocalId>;

/// Patterns within one another.
const MAX_DEPTH: u32 = 100;

/// What a pattern is matched with.
struct Matching<'a> {
    bindings: &'a Bindings,
    fail: Option<BlockId>,
    depth: u32,
}

impl Matching<'_> {
    fn deeper(&self) -> Self {
        Self { depth: self.depth + 1, ..*self }
    }
}

/// The names that a pattern binds.
pub(super) fn names_of(pat: &Pat) -> BTreeSet<Name> {
    let mut out = BTreeSet::new();
    collect(pat, MAX_DEPTH, &mut out);
    out
}

fn collect(pat: &Pat, depth: u32, out: &mut BTreeSet<Name>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match pat {
        Pat::Ident(it) => {
            if binds(it) {
                out.insert(unraw(&it.ident).into());
            }
            if let Some((_, inner)) = &it.subpat {
                collect(inner, depth, out);
            }
        }
        Pat::Guard(it) => collect(&it.pat, depth, out),
        Pat::Or(it) => it.cases.iter().for_each(|it| collect(it, depth, out)),
        Pat::Paren(it) => collect(&it.pat, depth, out),
        Pat::Reference(it) => collect(&it.pat, depth, out),
        Pat::Slice(it) => it.elems.iter().for_each(|it| collect(it, depth, out)),
        Pat::Struct(it) => it.fields.iter().for_each(|it| collect(&it.pat, depth, out)),
        Pat::Tuple(it) => it.elems.iter().for_each(|it| collect(it, depth, out)),
        Pat::TupleStruct(it) => it.elems.iter().for_each(|it| collect(it, depth, out)),
        Pat::Type(it) => collect(&it.pat, depth, out),
        _ => (),
    }
}

/// `x` binds a variable, `None` and `MAX` name a variant or constant.
fn binds(pat: &PatIdent) -> bool {
    let plain = pat.by_ref.is_none() && pat.mutability.is_none() && pat.subpat.is_none();
    !plain || !is_type_name(&unraw(&pat.ident))
}

impl Body<'_, '_> {
    /// New variables for the names of a pattern; they are not visible yet.
    pub(super) fn bindings_of(&mut self, pat: &Pat, out: &mut Bindings) {
        for name in names_of(pat) {
            let local = self.builder_mut().local(name.clone(), None);
            out.insert(name, local);
        }
    }

    /// Matches a pattern that cannot fail and makes its names visible.
    pub(super) fn bind_irrefutable(&mut self, pat: &Pat, place: &Place) {
        let mut bindings = Bindings::new();
        self.bindings_of(pat, &mut bindings);
        self.pattern(pat, place, &Matching { bindings: &bindings, fail: None, depth: 0 });
        self.reveal(&bindings);
    }

    /// Goes on when the pattern matches, and to `fail` otherwise.
    pub(super) fn match_pattern(
        &mut self,
        pat: &Pat,
        place: &Place,
        bindings: &Bindings,
        fail: BlockId,
    ) {
        self.pattern(pat, place, &Matching { bindings, fail: Some(fail), depth: 0 });
    }

    fn pattern(&mut self, pat: &Pat, place: &Place, matching: &Matching<'_>) {
        if matching.depth > MAX_DEPTH {
            return self.unknown_test(place, self.unit.spans.node(pat), matching);
        }
        let inner = matching.deeper();
        match pat {
            Pat::Wild(_) | Pat::Rest(_) => (),
            Pat::Ident(it) => self.ident_pattern(it, place, &inner),
            Pat::Paren(it) => self.pattern(&it.pat, place, &inner),
            Pat::Reference(it) => self.pattern(&it.pat, place, &inner),
            Pat::Type(it) => self.pattern(&it.pat, place, &inner),
            Pat::Guard(it) => {
                self.pattern(&it.pat, place, &inner);
                if let Some(fail) = matching.fail {
                    let then = self.new_block();
                    self.jump(&it.guard, then, fail);
                    self.switch_to(then);
                }
            }
            Pat::Lit(it) => {
                let span = self.unit.spans.of(it.lit.span());
                let value = self.unit.literal(&it.lit);
                self.equality_test(place, value, span, matching);
            }
            Pat::Path(it) => {
                let span = self.unit.spans.node(it);
                self.path_pattern(&it.path, place, span, matching);
            }
            Pat::Or(it) => self.or_pattern(&it.cases, place, &inner),
            Pat::Tuple(it) => self.elements(&it.elems, place, None, &inner),
            Pat::TupleStruct(it) => {
                let variant = self.variant_test(&it.path, place, matching);
                self.elements(&it.elems, place, variant.as_ref(), &inner);
            }
            Pat::Struct(it) => {
                let variant = self.variant_test(&it.path, place, matching);
                for field in &it.fields {
                    let name = super::attr::member(&field.member);
                    let place = place.clone().project(named_part(variant.as_ref(), name));
                    self.pattern(&field.pat, &place, &inner);
                }
            }
            Pat::Slice(it) => self.slice_pattern(it, place, matching),
            other => self.unknown_test(place, self.unit.spans.node(other), matching),
        }
    }

    fn ident_pattern(&mut self, pat: &PatIdent, place: &Place, matching: &Matching<'_>) {
        let span = self.unit.spans.of(pat.ident.span());
        if !binds(pat) {
            let path = Path::from(pat.ident.clone());
            return self.path_pattern(&path, place, span, matching);
        }
        if let Some((_, inner)) = &pat.subpat {
            self.pattern(inner, place, matching);
        }
        if let Some(&local) = matching.bindings.get(unraw(&pat.ident).as_str()) {
            let value = self.part(place);
            self.store(local, value, span);
        }
    }

    /// The value at a place; elements of a tuple that was just built are known.
    fn part(&mut self, place: &Place) -> Rvalue {
        let element = match (&place.base, place.proj.as_slice()) {
            (crate::ir::PlaceBase::Local(tuple), [Proj::Field(field)]) => {
                let idx: Option<usize> = field.parse().ok();
                let elements = self.frame().tuples.get(tuple);
                idx.and_then(|idx| elements?.get(idx)).cloned()
            }
            _ => None,
        };
        match (element, place.as_local()) {
            (Some(element), _) => Rvalue::Use(element),
            (None, Some(local)) => Rvalue::Use(Operand::Local(local)),
            (None, None) => Rvalue::Load(place.clone()),
        }
    }

    fn read(&mut self, place: &Place, span: Span) -> Operand {
        let value = self.part(place);
        self.materialize(value, span)
    }

    /// Goes on in a new block when `cond` is true.
    fn test(&mut self, cond: Rvalue, span: Span, fail: BlockId) {
        let cond = self.builder_mut().eval(cond, span);
        let hit = self.new_block();
        self.branch(cond, (hit, fail), span);
        self.switch_to(hit);
    }

    fn equality_test(&mut self, place: &Place, value: Const, span: Span, matching: &Matching<'_>) {
        let Some(fail) = matching.fail else { return };
        let subject = self.read(place, span);
        let cond = match value {
            Const::Unknown => Rvalue::Unknown(vec![subject]),
            value => Rvalue::Binary(BinaryOp::Eq, subject, Operand::Const(value)),
        };
        self.test(cond, span, fail);
    }

    fn unknown_test(&mut self, place: &Place, span: Span, matching: &Matching<'_>) {
        self.equality_test(place, Const::Unknown, span, matching);
    }

    /// A variant without payload, or a constant.
    fn path_pattern(&mut self, path: &Path, place: &Place, span: Span, matching: &Matching<'_>) {
        let Some(fail) = matching.fail else { return };
        let full = self.unit.resolve_path(&self.site, path);
        if is_constant_name(split(&full).1) {
            let expr = syn::ExprPath { attrs: Vec::new(), qself: None, path: path.clone() };
            let value = self.unit.path_constant(&self.site, &expr);
            return self.equality_test(place, value, span, matching);
        }
        let subject = self.read(place, span);
        self.test(Rvalue::IsVariant(subject, full), span, fail);
    }

    /// Tests a variant with payload and gives its name; a struct has none and is not tested.
    fn variant_test(
        &mut self,
        path: &Path,
        place: &Place,
        matching: &Matching<'_>,
    ) -> Option<Name> {
        let full = self.unit.resolve_path(&self.site, path);
        let of_type = split(&full).0.is_some_and(|it| is_type_name(last_segment(it)));
        let is_prelude = matches!(&*full, "Some" | "Ok" | "Err");
        let is_struct = self.unit.is_struct(&full) || self.site.class.as_ref() == Some(&full);
        // An import from a module is a struct; a variant would come from its enum.
        let is_imported = full.contains("::");
        let could_fail = matching.fail.is_some() && !is_struct && !is_imported;
        if !of_type && !is_prelude && !could_fail {
            return None;
        }
        if let Some(fail) = matching.fail {
            let span = self.unit.spans.node(path);
            let subject = self.read(place, span);
            self.test(Rvalue::IsVariant(subject, full.clone()), span, fail);
        }
        Some(full)
    }

    fn elements(
        &mut self,
        elems: &Punctuated<Pat, Token![,]>,
        place: &Place,
        variant: Option<&Name>,
        matching: &Matching<'_>,
    ) {
        let mut after_rest = false;
        for (idx, pat) in elems.iter().enumerate() {
            after_rest |= matches!(pat, Pat::Rest(_));
            if after_rest {
                // How many elements `..` stands for is not known.
                self.unknown_parts(pat, place, matching);
                continue;
            }
            let proj = match variant {
                Some(name) => Proj::Variant(name.clone(), u32::try_from(idx).unwrap_or(u32::MAX)),
                None => Proj::Field(idx.to_string().into()),
            };
            self.element(pat, &place.clone().project(proj), matching);
        }
    }

    /// A part of a tuple that was just built is matched itself.
    fn element(&mut self, pat: &Pat, place: &Place, matching: &Matching<'_>) {
        match self.part(place) {
            Rvalue::Use(Operand::Local(local)) => {
                self.pattern(pat, &Place::local(local), matching);
            }
            _ => self.pattern(pat, place, matching),
        }
    }

    /// Binds the names of a pattern to something that depends on the place.
    fn unknown_parts(&mut self, pat: &Pat, place: &Place, matching: &Matching<'_>) {
        let names = names_of(pat);
        if names.is_empty() {
            return;
        }
        let span = self.unit.spans.node(pat);
        let whole = self.read(place, span);
        for name in names {
            if let Some(&local) = matching.bindings.get(&name) {
                self.store(local, Rvalue::Unknown(vec![whole.clone()]), span);
            }
        }
    }

    fn slice_pattern(&mut self, pat: &syn::PatSlice, place: &Place, matching: &Matching<'_>) {
        let elems = &pat.elems;
        let only_rest = elems.len() == 1 && elems.first().is_some_and(is_rest);
        if !only_rest {
            let span = self.unit.spans.of(pat.bracket_token.span.join());
            self.unknown_test(place, span, matching);
        }
        let inner = matching.deeper();
        let mut after_rest = false;
        for (idx, pat) in elems.iter().enumerate() {
            if is_rest(pat) {
                after_rest = true;
                // The rest of a list is a list of the same things.
                if let Pat::Ident(it) = pat
                    && let Some(&local) = matching.bindings.get(unraw(&it.ident).as_str())
                {
                    let value = self.part(place);
                    self.store(local, value, self.unit.spans.of(it.ident.span()));
                }
                continue;
            }
            let proj = if after_rest {
                Proj::Element { key: false }
            } else {
                let idx = i64::try_from(idx).unwrap_or(i64::MAX);
                Proj::Index(Operand::Const(Const::Int(idx)))
            };
            self.pattern(pat, &place.clone().project(proj), &inner);
        }
    }

    /// `A | B`: the first that matches; all go on at the same place.
    fn or_pattern(
        &mut self,
        cases: &Punctuated<Pat, Token![|]>,
        place: &Place,
        matching: &Matching<'_>,
    ) {
        let Some(fail) = matching.fail else {
            if let Some(first) = cases.first() {
                self.pattern(first, place, matching);
            }
            return;
        };
        let hit = self.new_block();
        let last = cases.len().saturating_sub(1);
        for (idx, case) in cases.iter().enumerate() {
            let next = if idx == last { fail } else { self.new_block() };
            let bindings = matching.bindings;
            self.pattern(case, place, &Matching { bindings, fail: Some(next), ..*matching });
            self.goto(hit);
            self.switch_to(next);
        }
        self.switch_to(hit);
    }
}

fn named_part(variant: Option<&Name>, name: Name) -> Proj {
    match variant {
        Some(variant) => match name.parse() {
            Ok(idx) => Proj::Variant(variant.clone(), idx),
            Err(_) => Proj::VariantField(variant.clone(), name),
        },
        None => Proj::Field(name),
    }
}

/// `..` or `rest @ ..`.
fn is_rest(pat: &Pat) -> bool {
    match pat {
        Pat::Rest(_) => true,
        Pat::Ident(it) => it.subpat.as_ref().is_some_and(|(_, it)| matches!(**it, Pat::Rest(_))),
        _ => false,
    }
}
