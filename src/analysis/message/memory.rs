//! Memory: reading and writing variables, properties, elements and captures.

use super::explore::Explorer;
use super::state::{Path, State};
use super::value::{Kind, Location, Origin, Symbol, Tags, Value, Wrapper};
use crate::base::{Name, last_segment};
use crate::ir::{ClassRef, Const, LocalId, Operand, Place, PlaceBase, Proj};

/// Where an assignment goes, and the container that it changes.
enum Slot {
    Whole(Location),
    /// A list of which an element is written.
    Part(Location),
    Lost,
}

impl Explorer<'_, '_> {
    pub(super) fn read_local(&mut self, local: LocalId, state: &State) -> Value {
        let location = state.location(self.depth(), local);
        if let Some(value) = state.read(&location) {
            return value.clone();
        }
        match location {
            Location::Field(symbol, name) => self.part(symbol, &name, Tags::default()),
            Location::Local(..) | Location::Static(_) => {
                let key = self.frame().key;
                let symbol = self.symbols.intern(Origin::Unset(key, local));
                Value::symbol(symbol, Tags::default())
            }
        }
    }

    pub(super) fn set_local(&mut self, local: LocalId, mut value: Value, state: &mut State) {
        let func = self.func();
        let name = func.locals.get(local).map_or("", |it| &*it.name);
        let carries = value.tags.has(Tags::DATA) && matches!(value.kind, Kind::Symbol(_));
        if carries && self.input.words.message.has(name) {
            value.tags = value.tags.with(Tags::MESSAGE);
        }
        if carries && self.input.words.attempts.has(name) {
            value.tags = value.tags.with(Tags::ATTEMPTS);
        }
        let location = state.location(self.depth(), local);
        state.write(location, value);
    }

    pub(super) fn operand(&mut self, operand: &Operand, state: &State) -> Value {
        match operand {
            Operand::Local(it) => self.read_local(*it, state),
            Operand::Const(it) => self.constant(it),
        }
    }

    pub(super) fn constant(&mut self, it: &Const) -> Value {
        let kind = match it {
            Const::Null => Kind::Null,
            Const::Bool(it) => Kind::Bool(*it),
            Const::Int(it) => Kind::Int(*it),
            Const::Str(it) => Kind::Str(it.clone()),
            Const::Class(it) => Kind::Case(it.clone(), "class".into()),
            Const::Array(items) => Kind::List(!items.is_empty()),
            Const::Named { class, name } => return self.named_constant(class.as_ref(), name),
            Const::Float(_) | Const::File(_) | Const::Unknown => return self.unset("constant"),
        };
        Value::of(kind)
    }

    fn named_constant(&mut self, class: Option<&ClassRef>, name: &Name) -> Value {
        let program = self.input.program;
        let owner = class.map(|it| self.class_name(it));
        let declared = match &owner {
            Some(owner) => program.class_const(owner, name).map(|(_, it)| it),
            None => program.free_const(name),
        };
        let is_case = declared.is_some_and(|it| it.is_case);
        if let Some(value) = program.const_value(owner.as_deref(), name)
            && !is_case
            && !matches!(value, Const::Named { .. } | Const::Unknown | Const::Float(_))
        {
            return self.constant(&value.clone());
        }
        let owner = owner.as_deref().map(last_segment).unwrap_or_default();
        Value::of(Kind::Case(owner.into(), last_segment(name).into()))
    }

    /// The name that a class reference stands for in the running function.
    pub(super) fn class_name(&self, class: &ClassRef) -> Name {
        let own = || self.func().class.clone().unwrap_or_else(|| "".into());
        match class {
            ClassRef::Named(it) => it.clone(),
            ClassRef::SelfType | ClassRef::LateStatic => own(),
            ClassRef::Parent => {
                let decl = self.input.program.type_decl(&own());
                decl.and_then(|it| it.parents.first()).map_or_else(own, |it| it.name.clone())
            }
            ClassRef::Dynamic(_) => "".into(),
        }
    }

    /// Something unknown that is always the same.
    pub(super) fn unset(&mut self, what: &str) -> Value {
        let this = self.symbols.intern(Origin::Site(0));
        let symbol = self.symbols.intern(Origin::Part(this, what.into()));
        Value::symbol(symbol, Tags::default())
    }

    /// A part of a symbol that nothing was written to.
    fn part(&mut self, symbol: Symbol, name: &Name, tags: Tags) -> Value {
        let part = self.symbols.intern(Origin::Part(symbol, name.clone()));
        Value::symbol(part, tags)
    }

    /// Reads a place.
    pub(super) fn load(&mut self, place: &Place, state: &State) -> Value {
        let mut value = match &place.base {
            PlaceBase::Local(it) => self.read_local(*it, state),
            PlaceBase::Static(class, name) => {
                let location = self.static_location(class, name);
                self.read_static(location, state)
            }
            PlaceBase::Global(name) => self.read_static(Location::Static(name.clone()), state),
        };
        for proj in &place.proj {
            value = self.project(&value, proj, state);
        }
        value
    }

    fn static_location(&self, class: &ClassRef, name: &Name) -> Location {
        Location::Static(format!("{}::{name}", self.class_name(class)).into())
    }

    fn read_static(&mut self, location: Location, state: &State) -> Value {
        match (state.read(&location), location) {
            (Some(value), _) => value.clone(),
            (None, Location::Static(name)) => self.unset(&name),
            (None, Location::Local(..) | Location::Field(..)) => self.unset("static"),
        }
    }

    fn project(&mut self, value: &Value, proj: &Proj, state: &State) -> Value {
        if let (Kind::Wrap(wrapper, inner), Proj::Variant(name, _)) = (&value.kind, proj)
            && wrapper_of(name) == Some(*wrapper)
        {
            return (**inner).clone().tagged(value.tags);
        }
        let name = self.part_name(proj, state);
        let tags = match proj {
            Proj::Variant(variant, _) if wrapper_of(variant) == Some(Wrapper::Err) => {
                value.tags.of_part().with(Tags::FAILURE)
            }
            Proj::Variant(variant, _) if wrapper_of(variant).is_some() => value.tags,
            Proj::Element { .. } => value.tags,
            Proj::Field(field) if self.input.words.attempts.has(field) => {
                value.tags.of_part().with(Tags::ATTEMPTS)
            }
            _ => value.tags.of_part(),
        };
        match &value.kind {
            Kind::Symbol(symbol) => {
                let held = state.read(&Location::Field(*symbol, name.clone())).cloned();
                held.map_or_else(|| self.part(*symbol, &name, tags), |it| it.tagged(tags))
            }
            Kind::Null => Value { kind: Kind::Null, tags },
            _ => self.unset(&name).tagged(tags),
        }
    }

    /// The name under which a part is kept.
    fn part_name(&mut self, proj: &Proj, state: &State) -> Name {
        match proj {
            Proj::Field(name) => name.clone(),
            Proj::Index(key) | Proj::DynField(key) => {
                let key = self.operand(key, state);
                key_name(&key).unwrap_or_else(|| "[]".into())
            }
            Proj::Push => "[]".into(),
            Proj::Variant(name, idx) => format!("{}#{idx}", last_segment(name)).into(),
            Proj::VariantField(name, field) => format!("{}#{field}", last_segment(name)).into(),
            Proj::Element { key } => if *key { "[*key]" } else { "[*]" }.into(),
        }
    }

    /// `place = value`.
    pub(super) fn assign(&mut self, place: &Place, value: Value, path: &mut Path) {
        if let Some(local) = place.as_local() {
            self.set_local(local, value, &mut path.state);
            return;
        }
        match self.slot(place, &path.state) {
            Slot::Whole(location) => path.state.write(location, value),
            Slot::Part(location) => {
                let container = path.state.read(&location).cloned();
                let container = container.unwrap_or_else(|| Value::of(Kind::List(false)));
                let tags = container.tags.with(value.tags.of_part());
                path.state.write(location, Value { kind: Kind::List(true), tags });
            }
            Slot::Lost => (),
        }
    }

    /// Where the last step of a place is kept.
    pub(super) fn slot_location(&mut self, place: &Place, state: &State) -> Option<Location> {
        if let Some(local) = place.as_local() {
            return Some(state.location(self.depth(), local));
        }
        match self.slot(place, state) {
            Slot::Whole(location) => Some(location),
            Slot::Part(_) | Slot::Lost => None,
        }
    }

    fn slot(&mut self, place: &Place, state: &State) -> Slot {
        let Some((last, before)) = place.proj.split_last() else {
            return match &place.base {
                PlaceBase::Local(it) => Slot::Whole(state.location(self.depth(), *it)),
                PlaceBase::Static(class, name) => Slot::Whole(self.static_location(class, name)),
                PlaceBase::Global(name) => Slot::Whole(Location::Static(name.clone())),
            };
        };
        let outer = Place { base: place.base.clone(), proj: before.to_vec() };
        let container = self.load(&outer, state);
        let is_element = matches!(last, Proj::Index(_) | Proj::Push);
        match container.kind {
            Kind::Symbol(symbol) if !is_element || self.symbols.info(symbol).made => {
                Slot::Whole(Location::Field(symbol, self.part_name(last, state)))
            }
            _ if is_element => match self.slot(&outer, state) {
                Slot::Whole(location) => Slot::Part(location),
                Slot::Part(_) | Slot::Lost => Slot::Lost,
            },
            _ => Slot::Lost,
        }
    }
}

/// `Ok`, `Err` or `Some` by name.
pub(super) fn wrapper_of(name: &str) -> Option<Wrapper> {
    match last_segment(name) {
        "Ok" => Some(Wrapper::Ok),
        "Err" => Some(Wrapper::Err),
        "Some" => Some(Wrapper::Some),
        _ => None,
    }
}

/// A key as a part's name.
pub(super) fn key_name(key: &Value) -> Option<Name> {
    match &key.kind {
        Kind::Str(it) => Some(it.clone()),
        Kind::Int(it) => Some(it.to_string().into()),
        Kind::Case(class, name) => Some(format!("{class}::{name}").into()),
        _ => None,
    }
}
