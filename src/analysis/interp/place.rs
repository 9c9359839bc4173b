//! Reading and writing places: variables, fields, elements.

use super::Interp;
use super::eval::plain_key;
use crate::analysis::object::{ArrayEntry, ArrayState, Field, ObjectKind};
use crate::analysis::state::State;
use crate::analysis::value::Value;
use crate::base::Name;
use crate::ir::{Operand, Place, PlaceBase, Proj};
use crate::model::Role;

impl Interp<'_> {
    pub(super) fn load_place(&mut self, state: &mut State, place: &Place) -> Value {
        let mut value = match self.static_role(state, &place.base) {
            Some(found) => found,
            None => self.base(state, &place.base),
        };
        for proj in &place.proj {
            value = self.project(state, &value, proj);
        }
        value
    }

    /// A static property of a library class: `Yii::$app`.
    fn static_role(&mut self, state: &mut State, base: &PlaceBase) -> Option<Value> {
        let PlaceBase::Static(class, name) = base else { return None };
        let class = self.class_name(class)?;
        self.shared.program.type_decl(&class).is_none().then_some(())?;
        self.property_role(state, &Value::Class(class), name)
    }

    fn base(&self, state: &State, base: &PlaceBase) -> Value {
        match base {
            PlaceBase::Local(id) => state.locals.get(id.0 as usize).cloned().unwrap_or_default(),
            PlaceBase::Static(class, name) => {
                let class = self.class_name(class).unwrap_or_default();
                let root = Value::Static(format!("{class}::{name}").into());
                match state.object(&root).and_then(|it| it.fields.get("")) {
                    Some(field) => field.value.clone(),
                    None => root,
                }
            }
            PlaceBase::Global(name) => Value::Static(name.clone()),
        }
    }

    fn project(&mut self, state: &mut State, value: &Value, proj: &Proj) -> Value {
        match proj {
            Proj::Field(name) => self.read_field(state, value, name),
            Proj::Variant(_, _) => value.clone(),
            Proj::VariantField(_, name) => self.read_field(state, value, name),
            Proj::Element { key: true } => self.key_of_element(state, value),
            Proj::Element { key: false } => self.element_of(state, value),
            Proj::Index(key) => {
                let key = plain_key(self.operand(state, key));
                self.read_index(state, value, &key)
            }
            Proj::DynField(name) => match plain_key(self.operand(state, name)) {
                Value::Str(name) => self.read_field(state, value, &name),
                _ => Value::derived([value.clone()]),
            },
            Proj::Push => Value::Unknown,
        }
    }

    /// `value.name`: as written last, as the database gave it, or a count that is kept in a property.
    pub(super) fn read_field(&mut self, state: &mut State, value: &Value, name: &Name) -> Value {
        if let Value::Any(them) = value {
            let mut out: Option<Value> = None;
            for it in them.iter().filter(|it| !matches!(it, Value::Null | Value::Bool(_))) {
                let one = self.read_field(state, it, name);
                out = Some(match out {
                    Some(out) => out.join(one),
                    None => one,
                });
            }
            return out.unwrap_or_default();
        }
        if let Some(object) = state.object(value) {
            if let Some(field) = object.fields.get(name) {
                return field.value.clone();
            }
            if let ObjectKind::Array(array) = &object.kind
                && let Some(found) = array
                    .get(&Value::Str(name.clone()))
                    .or_else(|| name.parse().ok().and_then(|it| array.get(&Value::Int(it))))
            {
                return found.clone();
            }
            if let (ObjectKind::Query(_) | ObjectKind::Statement(_), "0") = (&object.kind, &**name)
            {
                // A builder's text stands first, its values second.
                return value.clone();
            }
            if matches!(&object.kind, ObjectKind::Array(array) if array.is_closed()) {
                return Value::Null;
            }
            if let ObjectKind::Outcome(id) = &object.kind
                && self.names_a_count(name)
            {
                return Value::Count(*id);
            }
            if matches!(object.kind, ObjectKind::Condition(..)) {
                return Value::Unknown;
            }
        }
        if let Some(found) = self.property_role(state, value, name) {
            return found;
        }
        match value {
            Value::Unknown
            | Value::Failed
            | Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::Str(_) => Value::Unknown,
            Value::Case(..) if &**name == "value" => value.clone(),
            Value::Derived(_) | Value::Choice(_) | Value::Test(_) | Value::Truthy(_) => {
                value.clone()
            }
            value => Value::path(value.clone(), name.clone()),
        }
    }

    /// A callee's path into something that is known here is what is known of it.
    pub(super) fn settled(&self, state: &State, value: &Value) -> Value {
        value.substitute(&|it| {
            let (base, name) = it.as_path()?;
            let base = super::row::non_null(self.settled(state, base));
            let mut out: Option<Value> = None;
            for one in base.alternatives() {
                let found = match state.object(one).and_then(|it| it.entry(name)) {
                    Some(found) => found.clone(),
                    None => Value::path(one.clone(), name.clone()),
                };
                out = Some(match out {
                    Some(out) => out.join(found),
                    None => found,
                });
            }
            out
        })
    }

    /// Whether the vocabulary knows a count by that name: `result.rows_affected`, called or not.
    fn names_a_count(&self, name: &str) -> bool {
        let mut known = self.shared.vocabulary.candidates(self.language, name);
        known.any(|(it, _)| matches!(it.role, Role::Count { .. }))
    }

    fn read_index(&mut self, state: &mut State, value: &Value, key: &Value) -> Value {
        match key {
            Value::Str(name) => self.read_field(state, value, name),
            Value::Int(idx) => {
                if let Some(ObjectKind::Array(array)) = state.object(value).map(|it| &it.kind)
                    && let Some(found) = array.get(key)
                {
                    return found.clone();
                }
                match state.object(value).map(|it| &it.kind) {
                    Some(ObjectKind::List(_)) => self.element_of(state, value),
                    // A row by position, or an unknown list.
                    _ => match value {
                        Value::Unknown => Value::Unknown,
                        value => Value::path(value.clone(), idx.to_string()),
                    },
                }
            }
            Value::Case(_, name) => self.read_field(state, value, &name.clone()),
            _ => self.element_of(state, value),
        }
    }

    /// Any element of a list: the row that stands for all, or the join of an array's values.
    pub(super) fn element_of(&mut self, state: &mut State, value: &Value) -> Value {
        match state.object(value).map(|it| &it.kind) {
            Some(ObjectKind::List(row)) => self.settled(state, row),
            Some(ObjectKind::Array(array)) => {
                let mut items: Vec<Value> = array.items.iter().map(|it| it.value.clone()).collect();
                if array.open && items.is_empty() {
                    items.push(Value::Unknown);
                }
                items.into_iter().reduce(Value::join).unwrap_or_default()
            }
            Some(ObjectKind::Statement(stmt)) => stmt.row.clone().unwrap_or_default(),
            Some(ObjectKind::Query(_)) => {
                // Iterating a query runs it.
                let value = value.clone();
                self.run_select(state, &value, crate::model::Yield::Row, None, false)
            }
            Some(ObjectKind::Row(_)) => value.clone(),
            _ => match value {
                Value::Any(them) => {
                    let them: Vec<Value> =
                        them.iter().map(|it| self.element_of(state, it)).collect();
                    them.into_iter().reduce(Value::join).unwrap_or_default()
                }
                value => Value::element(value.clone()),
            },
        }
    }

    pub(super) fn store(&mut self, state: &mut State, place: &Place, value: Value) {
        if let Some(local) = place.as_local() {
            let value = self.typed_local(state, local, value);
            if let Some(slot) = state.locals.get_mut(local.0 as usize) {
                *slot = value;
            }
            return;
        }
        let Some((last, front)) = place.proj.split_last() else {
            self.store_static(state, &place.base, value);
            return;
        };
        let mut container = self.base(state, &place.base);
        for proj in front {
            container = self.project(state, &container, proj);
        }
        if matches!(container, Value::Unknown | Value::Failed | Value::Null) {
            container = self.spring_into_being(state, &place.base, front);
        }
        self.store_in(state, &container, last, value);
    }

    /// `$data['x'] = 1` on an unset variable makes an array.
    fn spring_into_being(&mut self, state: &mut State, base: &PlaceBase, front: &[Proj]) -> Value {
        let (PlaceBase::Local(local), []) = (base, front) else { return Value::Unknown };
        let out = Value::Object(self.identity(&("sprung", local.0)));
        let kind = ObjectKind::Array(ArrayState { items: Vec::new(), open: true });
        state.object_mut(&out).kind = kind;
        if let Some(slot) = state.locals.get_mut(local.0 as usize) {
            *slot = out.clone();
        }
        out
    }

    fn store_static(&mut self, state: &mut State, base: &PlaceBase, value: Value) {
        if let PlaceBase::Static(class, name) = base {
            let class = self.class_name(class).unwrap_or_default();
            let root = Value::Static(format!("{class}::{name}").into());
            let span = self.span;
            let field = Field { value, changed: Some(span) };
            state.object_mut(&root).fields.insert("".into(), field);
        }
    }

    fn store_in(&mut self, state: &mut State, container: &Value, last: &Proj, value: Value) {
        match last {
            Proj::Field(name) | Proj::VariantField(_, name) => {
                self.set_field(state, container, name, value);
            }
            Proj::DynField(name) => {
                if let Value::Str(name) = plain_key(self.operand(state, name)) {
                    self.set_field(state, container, &name, value);
                }
            }
            Proj::Index(key) => {
                let key = plain_key(self.operand(state, key));
                self.set_index(state, container, key, value);
            }
            Proj::Push => self.push_item(state, container, value),
            Proj::Variant(..) | Proj::Element { .. } => (),
        }
    }

    fn set_index(&mut self, state: &mut State, container: &Value, key: Value, value: Value) {
        let span = self.span;
        if let Some(ObjectKind::Array(_)) = state.object(container).map(|it| &it.kind)
            && let ObjectKind::Array(array) = &mut state.object_mut(container).kind
        {
            match array.items.iter_mut().find(|it| it.key == key) {
                Some(item) => item.value = value,
                None => array.items.push(ArrayEntry { key, value, span }),
            }
            return;
        }
        if let Value::Str(name) = key {
            self.set_field(state, container, &name, value);
        }
    }

    fn push_item(&mut self, state: &mut State, container: &Value, value: Value) {
        let span = self.span;
        if let Some(ObjectKind::Array(_)) = state.object(container).map(|it| &it.kind)
            && let ObjectKind::Array(array) = &mut state.object_mut(container).kind
        {
            super::list::push(array, value, span);
        }
    }

    /// Changes a field of whatever the value stands for.
    pub(super) fn set_field(
        &mut self,
        state: &mut State,
        container: &Value,
        name: &Name,
        value: Value,
    ) {
        let span = self.span;
        match container {
            Value::Any(them) => {
                for it in them.iter() {
                    self.set_field(state, it, name, value.clone());
                }
            }
            it if it.is_constant() || matches!(it, Value::Unknown | Value::Failed) => (),
            container => {
                let field = Field { value, changed: Some(span) };
                state.object_mut(container).fields.insert(name.clone(), field);
            }
        }
    }

    /// The word by which `place` is read goes to the temporary that receives it.
    pub(super) fn note_word(&mut self, from: &Place, to: &Place) {
        let Some(to) = to.as_local() else { return };
        let named = from.proj.iter().rev().find_map(|it| match it {
            Proj::Field(name) | Proj::VariantField(_, name) => Some(name.clone()),
            Proj::Index(Operand::Const(crate::ir::Const::Str(name))) => Some(name.clone()),
            _ => None,
        });
        let word = named.or_else(|| match &from.base {
            PlaceBase::Local(id) => self.word_of(*id),
            PlaceBase::Static(_, name) | PlaceBase::Global(name) => Some(name.clone()),
        });
        if let Some(word) = word {
            self.words.insert(to, word);
        }
    }

    /// The name of a variable, or the word by which a temporary was read.
    pub(super) fn word_of(&self, local: crate::ir::LocalId) -> Option<Name> {
        match self.func.locals.get(local) {
            Some(it) if !it.name.is_empty() => Some(it.name.clone()),
            _ => self.words.get(&local).cloned(),
        }
    }
}
