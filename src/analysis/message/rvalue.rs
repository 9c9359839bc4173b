//! Rvalue: what an expression is worth on one path.

use super::explore::{Explorer, Site};
use super::memory::wrapper_of;
use super::state::Path;
use super::value::{Captured, Kind, Location, Origin, Symbol, Tags, Test, Value, Wrapper};
use crate::base::{Name, last_segment};
use crate::ir::{
    ArrayItem, BinaryOp, FuncId, FuncRef, Operand, Piece, Place, Rvalue, Text, TypeRef, UnaryOp,
};

impl Explorer<'_, '_> {
    pub(super) fn evaluate(&mut self, site: Site, value: &Rvalue, path: &mut Path) -> Value {
        match value {
            Rvalue::Use(it) | Rvalue::Clone(it) | Rvalue::Cast(it) => self.operand(it, &path.state),
            Rvalue::Load(place) => {
                let out = self.load(place, &path.state);
                self.note_element(site, place, path);
                out
            }
            Rvalue::Ref(place) => self.load(place, &path.state),
            Rvalue::Binary(BinaryOp::Add | BinaryOp::Sub, left, right)
                if !self.is_counter(left) =>
            {
                let tags = self.tags_of(&[left.clone(), right.clone()], path);
                self.fresh(site, tags, path)
            }
            Rvalue::Binary(op, left, right) => {
                let left = self.operand(left, &path.state);
                let right = self.operand(right, &path.state);
                self.binary(site, *op, (&left, &right), path)
            }
            Rvalue::Unary(op, it) => {
                let value = self.operand(it, &path.state);
                self.unary(site, *op, &value, path)
            }
            Rvalue::Text(text) => self.text(site, text, path),
            Rvalue::Array(items) => self.array(site, items, path),
            Rvalue::Struct { ty, fields, base } => {
                self.structure(site, ty, (fields, base.as_ref()), path)
            }
            Rvalue::Closure(id) => self.closure(*id, path),
            Rvalue::Callable(_) => self.fresh(site, Tags::default(), path),
            Rvalue::InstanceOf(it, ty) => {
                let value = self.operand(it, &path.state);
                self.instance_of(site, &value, ty, path)
            }
            Rvalue::IsVariant(it, name) => {
                let value = self.operand(it, &path.state);
                self.variant_of(site, &value, name, path)
            }
            Rvalue::IsSet(place) => {
                let value = self.load(place, &path.state);
                self.is_set(&value)
            }
            Rvalue::IsEmpty(it) => {
                let value = self.operand(it, &path.state);
                let tags = value.tags;
                match value.negate() {
                    Some(kind) => Value { kind, tags },
                    None => self.fresh(site, tags, path),
                }
            }
            Rvalue::Unknown(them) => {
                let tags = self.tags_of(them, path);
                self.fresh(site, tags, path)
            }
        }
    }

    /// Whether a sum is worth following: its variable decides something.
    fn is_counter(&mut self, operand: &Operand) -> bool {
        let shape = self.shape(self.frame().at);
        matches!(operand, Operand::Local(local) if shape.is_compared(*local))
    }

    /// A new unknown value of this place; what was known of its last one is forgotten.
    pub(super) fn fresh(&mut self, site: Site, tags: Tags, path: &mut Path) -> Value {
        let symbol = self.symbols.intern(Origin::Site(self.site_key(site)));
        self.forget(symbol, path);
        Value::symbol(symbol, tags)
    }

    /// Forgets facts and parts of a symbol.
    pub(super) fn forget(&self, symbol: Symbol, path: &mut Path) {
        let symbols = &self.symbols;
        if symbols.has_parts(symbol) {
            path.state.facts.retain(|(it, _), _| !symbols.is_within(*it, symbol));
            path.state.fields.retain(|(it, _), _| !symbols.is_within(*it, symbol));
        } else {
            path.state.forget(symbol);
        }
    }

    fn tags_of(&mut self, them: &[Operand], path: &Path) -> Tags {
        let tags = them.iter().map(|it| self.operand(it, &path.state).tags.of_part());
        tags.fold(Tags::default(), Tags::with)
    }

    fn binary(
        &mut self,
        site: Site,
        op: BinaryOp,
        (left, right): (&Value, &Value),
        path: &mut Path,
    ) -> Value {
        let tags = left.tags.with(right.tags).of_part();
        let decided = match op {
            BinaryOp::Eq => compare(left, right).map(Kind::Bool),
            BinaryOp::Ne => compare(left, right).map(|it| Kind::Bool(!it)),
            BinaryOp::Lt => order(left, right, |l, r| l < r),
            BinaryOp::Le => order(left, right, |l, r| l <= r),
            BinaryOp::Gt => order(left, right, |l, r| l > r),
            BinaryOp::Ge => order(left, right, |l, r| l >= r),
            BinaryOp::Add => counted(left, right, i64::checked_add),
            BinaryOp::Sub => counted(left, right, i64::checked_sub),
            BinaryOp::Other => None,
        };
        let polarity = match op {
            BinaryOp::Eq => Some(true),
            BinaryOp::Ne => Some(false),
            _ => None,
        };
        let kind = decided.or_else(|| {
            let polarity = polarity?;
            self.symbolic(left, right, polarity).or_else(|| self.symbolic(right, left, polarity))
        });
        match kind {
            Some(kind) => Value { kind, tags },
            None => self.fresh(site, tags, path),
        }
    }

    /// A comparison of something unknown with a constant.
    fn symbolic(&self, left: &Value, right: &Value, polarity: bool) -> Option<Kind> {
        let (symbol, positive) = match &left.kind {
            Kind::Symbol(symbol) => (*symbol, true),
            Kind::Test(symbol, test, own) => {
                // `is_ok() == true`
                let Kind::Bool(wanted) = right.kind else { return None };
                return Some(Kind::Test(*symbol, test.clone(), *own == (wanted == polarity)));
            }
            _ => return None,
        };
        let made = self.symbols.info(symbol).made;
        let test = match &right.kind {
            Kind::Null | Kind::List(false) if made => return Some(Kind::Bool(!polarity)),
            Kind::Null => Test::Null,
            Kind::Bool(truth) => return Some(Kind::Test(symbol, Test::Truthy, *truth == polarity)),
            Kind::Int(it) => Test::Number(*it),
            Kind::Str(it) => Test::Is(it.clone()),
            Kind::Case(_, name) => Test::Is(name.clone()),
            Kind::List(false) => return Some(Kind::Test(symbol, Test::Truthy, !polarity)),
            _ => return None,
        };
        Some(Kind::Test(symbol, test, positive == polarity))
    }

    fn unary(&mut self, site: Site, op: UnaryOp, value: &Value, path: &mut Path) -> Value {
        let kind = match op {
            UnaryOp::Not => value.negate(),
            UnaryOp::Neg => match value.kind {
                Kind::Int(it) => it.checked_neg().map(Kind::Int),
                _ => None,
            },
            UnaryOp::Other => Some(value.kind.clone()),
        };
        match kind {
            Some(kind) => Value { kind, tags: value.tags },
            None => self.fresh(site, value.tags.of_part(), path),
        }
    }

    fn text(&mut self, site: Site, text: &Text, path: &mut Path) -> Value {
        if let Some(literal) = text.as_literal() {
            return Value::of(Kind::Str(literal.into()));
        }
        let mut tags = Tags::default();
        for piece in &text.pieces {
            if let Piece::Hole(hole) = piece {
                tags = tags.with(self.operand(&hole.value, &path.state).tags.of_part());
            }
        }
        self.fresh(site, tags, path)
    }

    fn array(&mut self, site: Site, items: &[ArrayItem], path: &mut Path) -> Value {
        if items.is_empty() {
            return Value::of(Kind::List(false));
        }
        let mut parts = Vec::new();
        let mut tags = Tags::default();
        for (idx, item) in items.iter().enumerate() {
            let value = self.operand(&item.value, &path.state);
            tags = tags.with(value.tags.of_part());
            let key = match &item.key {
                Some(key) => super::memory::key_name(&self.operand(key, &path.state)),
                None => Some(idx.to_string().into()),
            };
            if let Some(key) = key.filter(|_| !item.spread) {
                parts.push((key, value));
            }
        }
        if items.iter().any(|it| it.spread) {
            return self.fresh(site, tags, path);
        }
        let out = self.fresh(site, tags, path);
        self.fill(&out, parts, path);
        out
    }

    fn structure(
        &mut self,
        site: Site,
        ty: &TypeRef,
        (fields, base): (&[(Name, Operand)], Option<&Operand>),
        path: &mut Path,
    ) -> Value {
        let mut parts: Vec<(Name, Value)> =
            fields.iter().map(|(name, it)| (name.clone(), self.operand(it, &path.state))).collect();
        if let (Some(wrapper), [(_, inner)]) = (wrapper_of(&ty.name), &parts[..]) {
            return wrap(wrapper, inner.clone());
        }
        let variant: Name = last_segment(&ty.name).into();
        let mut tags = parts.iter().fold(Tags::default(), |all, (_, it)| all.with(it.tags));
        if let Some(base) = base {
            tags = tags.with(self.operand(base, &path.state).tags);
        }
        let out = self.fresh(site, tags, path);
        if let Some(symbol) = out.as_symbol() {
            self.symbols.info_mut(symbol).class = Some(ty.name.clone());
        }
        // A payload is read through its variant.
        let payload: Vec<_> = parts
            .iter()
            .map(|(name, it)| (format!("{variant}#{name}").into(), it.clone()))
            .collect();
        parts.extend(payload);
        self.fill(&out, parts, path);
        out
    }

    /// Puts known parts into something that was just made.
    fn fill(&mut self, made: &Value, parts: Vec<(Name, Value)>, path: &mut Path) {
        let Some(symbol) = made.as_symbol() else { return };
        self.symbols.info_mut(symbol).made = true;
        for (name, value) in parts {
            path.state.write(Location::Field(symbol, name), value);
        }
    }

    fn closure(&mut self, id: FuncId, path: &mut Path) -> Value {
        let at = FuncRef { source: self.frame().at.source, func: id };
        let closure = self.input.program.function(at);
        let mut captured = Vec::new();
        let mut tags = Tags::default();
        for capture in &closure.captures {
            let value = self.read_local(capture.outer, &path.state);
            tags = tags.with(value.tags.of_part());
            captured.push(if capture.by_ref {
                let place = path.state.location(self.depth(), capture.outer);
                if path.state.read(&place).is_none() {
                    path.state.write(place.clone(), value);
                }
                Captured::Place(capture.inner, place)
            } else {
                Captured::Value(capture.inner, value)
            });
        }
        Value { kind: Kind::Closure(at, captured), tags }
    }

    fn instance_of(&mut self, site: Site, value: &Value, ty: &TypeRef, path: &mut Path) -> Value {
        let tags = value.tags;
        match &value.kind {
            Kind::Symbol(symbol) => {
                let info = self.symbols.info(*symbol);
                if info.made
                    && let Some(class) = &info.class
                    && self.input.program.type_decl(class).is_some()
                {
                    let is = self.input.program.is_a(class, &ty.name);
                    return Value { kind: Kind::Bool(is), tags };
                }
                let test = Test::Is(last_segment(&ty.name).into());
                Value { kind: Kind::Test(*symbol, test, true), tags }
            }
            Kind::Null | Kind::Bool(_) | Kind::Int(_) | Kind::Str(_) | Kind::List(_) => {
                Value { kind: Kind::Bool(false), tags }
            }
            _ => self.fresh(site, tags.of_part(), path),
        }
    }

    /// Whether a value is of a variant.
    pub(super) fn variant_of(
        &mut self,
        site: Site,
        value: &Value,
        name: &str,
        path: &mut Path,
    ) -> Value {
        let short = last_segment(name);
        let mut tags = value.tags;
        if matches!(&value.kind, Kind::Wrap(wrapper, _) if *wrapper != Wrapper::Err) {
            tags = tags.without(Tags::FAILURE);
        }
        let kind = match (&value.kind, short) {
            (Kind::Wrap(wrapper, _), _) if wrapper_of(short).is_some() => {
                Some(Kind::Bool(wrapper_of(short) == Some(*wrapper)))
            }
            (Kind::Wrap(..), _) => Some(Kind::Bool(false)),
            (Kind::Null, _) => Some(Kind::Bool(short == "None")),
            (Kind::Case(_, case), _) => Some(Kind::Bool(&**case == short)),
            (Kind::Symbol(symbol), _) => Some(self.variant_test(*symbol, short)),
            _ => None,
        };
        match kind {
            Some(kind) => Value { kind, tags },
            None => self.fresh(site, tags.of_part(), path),
        }
    }

    fn variant_test(&self, symbol: Symbol, short: &str) -> Kind {
        let info = self.symbols.info(symbol);
        match short {
            "Err" => Kind::Test(symbol, Test::Failed, true),
            "Ok" => Kind::Test(symbol, Test::Failed, false),
            "None" => Kind::Test(symbol, Test::Null, true),
            "Some" => Kind::Test(symbol, Test::Null, false),
            _ => match &info.class {
                Some(class) if info.made => Kind::Bool(last_segment(class) == short),
                _ => Kind::Test(symbol, Test::Is(short.into()), true),
            },
        }
    }

    fn is_set(&mut self, value: &Value) -> Value {
        let kind = match &value.kind {
            Kind::Symbol(symbol) if self.symbols.info(*symbol).made => Kind::Bool(true),
            Kind::Symbol(symbol) => Kind::Test(*symbol, Test::Null, false),
            kind => Kind::Bool(!matches!(kind, Kind::Null)),
        };
        Value { kind, tags: value.tags }
    }

    /// The place under a place's last step, when that step goes to an element.
    pub(super) fn element_container(place: &Place) -> Option<Place> {
        match place.proj.split_last() {
            Some((crate::ir::Proj::Element { key: false }, before)) => {
                Some(Place { base: place.base.clone(), proj: before.to_vec() })
            }
            _ => None,
        }
    }
}

/// `Ok(x)` and the like.
pub(super) fn wrap(wrapper: Wrapper, inner: Value) -> Value {
    let tags = inner.tags;
    Value { kind: Kind::Wrap(wrapper, Box::new(inner)), tags }
}

/// Whether two values are equal, when that is known.
fn compare(left: &Value, right: &Value) -> Option<bool> {
    match (&left.kind, &right.kind) {
        (Kind::Symbol(l), Kind::Symbol(r)) => (l == r).then_some(true),
        (Kind::Symbol(_) | Kind::Test(..), _)
        | (_, Kind::Symbol(_) | Kind::Test(..))
        | (Kind::List(true), Kind::List(true))
        | (Kind::Case(..), Kind::Str(_) | Kind::Int(_))
        | (Kind::Str(_) | Kind::Int(_), Kind::Case(..)) => None,
        (Kind::Case(a, l), Kind::Case(b, r)) => {
            if l == r {
                Some(true)
            } else {
                (a == b).then_some(false)
            }
        }
        (l, r) => Some(l == r),
    }
}

/// Small counters are followed, so that a loop of a few rounds ends; larger ones are not known.
fn counted(left: &Value, right: &Value, compute: impl Fn(i64, i64) -> Option<i64>) -> Option<Kind> {
    const MAX_COUNT: i64 = 8;
    let (Kind::Int(l), Kind::Int(r)) = (&left.kind, &right.kind) else { return None };
    compute(*l, *r).filter(|it| it.abs() <= MAX_COUNT).map(Kind::Int)
}

fn order(left: &Value, right: &Value, test: impl Fn(i64, i64) -> bool) -> Option<Kind> {
    match (&left.kind, &right.kind) {
        (Kind::Int(l), Kind::Int(r)) => Some(Kind::Bool(test(*l, *r))),
        _ => None,
    }
}
