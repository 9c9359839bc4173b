//! Which types a value may have, and what a class says of its rows.

use super::Interp;
use crate::analysis::fact::Table;
use crate::analysis::object::{Object, ObjectKind, RowState};
use crate::analysis::state::State;
use crate::analysis::summary::Summary;
use crate::analysis::value::Value;
use crate::base::{Language, Name, last_segment};
use crate::ir::{ClassRef, Const, Function, LocalId, Operand, TypeKind, TypeRef};
use crate::model::{TypeFact, TypeKindHint};

/// How many users of a trait are asked for what `$this` is.
const MAX_USERS: usize = 3;

/// How many methods that assign a property are asked for its type.
const MAX_SETTERS: usize = 3;

impl<'p> Interp<'p> {
    /// The class that a static reference means here.
    pub(super) fn class_name(&self, class: &ClassRef) -> Option<Name> {
        match class {
            ClassRef::Named(name) => Some(self.shared.program.canonical(name)),
            ClassRef::SelfType | ClassRef::LateStatic => self.root.class.clone(),
            ClassRef::Parent => {
                let own = self.root.class.as_deref()?;
                let decl = self.shared.program.type_decl(own)?;
                decl.parents.first().map(|it| self.shared.program.canonical(&it.name))
            }
            ClassRef::Dynamic(_) => None,
        }
    }

    /// Types that the value may have, best first; empty when nothing is known.
    pub(super) fn types_of(&self, state: &State, value: &Value) -> Vec<TypeRef> {
        let mut out = Vec::new();
        self.collect_types(state, value, &mut out);
        if *value == Value::This {
            // A trait is what its users are.
            out.extend(self.users.iter().take(MAX_USERS).map(|it| TypeRef::named(it.clone())));
        }
        out
    }

    fn collect_types(&self, state: &State, value: &Value, out: &mut Vec<TypeRef>) {
        if out.len() > 4 {
            return;
        }
        if let Some(ty) = state.object(value).and_then(|it| it.ty.as_ref()) {
            self.push_type(out, ty);
            return;
        }
        match value {
            Value::This => out.extend(self.root.class.as_deref().map(TypeRef::named)),
            Value::Param(idx) => {
                let param = self.root.params.get(*idx as usize);
                if let Some(ty) = param.and_then(|it| it.ty.as_ref()) {
                    self.push_type(out, ty);
                }
            }
            Value::Class(name) => out.push(TypeRef::named(name.clone())),
            Value::Opaque(id) | Value::Object(id) => {
                if let Some(ty) = self.types.get(id) {
                    self.push_type(out, ty);
                }
            }
            Value::Path(it) => {
                for owner in self.types_of(state, &it.0) {
                    self.property_types(&owner.name, &it.1)
                        .iter()
                        .for_each(|it| self.push_type(out, it));
                }
            }
            Value::Element(it) => {
                for list in self.types_of(state, it) {
                    if let Some(element) = list.args.last() {
                        self.push_type(out, element);
                    }
                }
            }
            Value::Static(name) => {
                let property = name.rsplit_once("::").map(|it| (it.0, Name::from(it.1)));
                let types = property.map(|(class, name)| self.property_types(class, &name));
                types.iter().flatten().for_each(|it| self.push_type(out, it));
            }
            Value::Test(_) | Value::Truthy(_) if self.language == Language::Rust => {
                out.push(TypeRef::named("bool"));
            }
            Value::Any(them) => them.iter().for_each(|it| self.collect_types(state, it, out)),
            Value::Case(class, name) => {
                // `jobs::table` is a value of a type of that name.
                let path = format!("{class}::{name}");
                if self.shared.vocabulary.type_fact(self.language, &path).is_some() {
                    out.push(TypeRef::named(path));
                }
                // A column is no value of its table's type.
                let decl = self.shared.program.type_decl(class);
                if decl.is_none_or(|it| it.kind != TypeKind::Table) {
                    out.push(TypeRef::named(class.clone()));
                }
            }
            _ => (),
        }
    }

    /// The declared type of a property, or the types of what the class's methods assign to it.
    fn property_types(&self, class: &str, name: &Name) -> Vec<TypeRef> {
        let program = self.shared.program;
        if let Some(ty) = program.property(class, name).and_then(|it| it.ty.clone()) {
            return vec![ty];
        }
        let key = (Name::from(class), name.clone());
        if let Some(found) = self.shared.store.properties.borrow().get(&key) {
            return found.clone();
        }
        let mut out = Vec::new();
        let mut settled = true;
        for at in program.setters(class, name).into_iter().take(MAX_SETTERS) {
            match self.shared.store.summary(at) {
                Some(summary) => out.extend(assigned_type(program.function(at), &summary, name)),
                None => settled = false,
            }
        }
        if settled {
            self.shared.store.properties.borrow_mut().insert(key, out.clone());
        }
        out
    }

    /// What a value may be, with the declared default for a property that no method assigns: how a
    /// base class is told its table and key.
    pub(super) fn declared_defaults(&self, state: &State, value: &Value) -> Vec<Value> {
        let program = self.shared.program;
        let default = |it: &Value| {
            let (base, name) = it.as_path()?;
            self.types_of(state, base).iter().find_map(|ty| {
                let property = program.property(&ty.name, name)?;
                let fixed = program.setters(&ty.name, name).is_empty();
                property.default.as_ref().filter(|_| fixed).map(|it| self.constant(it))
            })
        };
        let them = value.alternatives().iter();
        them.map(|it| default(it).unwrap_or_else(|| it.clone())).collect()
    }

    fn push_type(&self, out: &mut Vec<TypeRef>, ty: &TypeRef) {
        let ty = &self.shared.program.unaliased(peel(ty));
        let ty = peel(ty);
        for it in std::iter::once(ty).chain(&ty.alternatives) {
            let it = peel(it);
            if !out.contains(it) {
                out.push(it.clone());
            }
        }
    }

    /// What is known of a library type among a class's lineage, nearest first.
    pub(super) fn fact_of(&self, class: &str) -> Option<&'p TypeFact> {
        let vocabulary = self.shared.vocabulary;
        self.lineage(class).iter().find_map(|it| vocabulary.type_fact(self.language, it))
    }

    /// Whether rows of the database have this class.
    pub(super) fn is_row_class(&self, class: &str) -> bool {
        self.fact_of(class).is_some_and(|it| it.kind == Some(TypeKindHint::Row))
    }

    /// A library class that models extend, itself of no table.
    fn is_base_class(&self, class: &str) -> bool {
        let fact = self.shared.vocabulary.type_fact(self.language, class);
        fact.is_some_and(|it| !it.table_from.is_empty() && it.name.eq_ignore_ascii_case(class))
            && self.shared.program.type_decl(class).is_none()
    }

    /// The table that a model stands for.
    pub(super) fn table_of_model(&self, class: &str) -> Table {
        let program = self.shared.program;
        if self.is_base_class(class) {
            return Table::default();
        }
        let model = Some(program.canonical(class));
        if let Some(table) = self.table_of_module(class) {
            return Table { table: Some(table), model, value: None };
        }
        let mut names: Vec<&str> = vec!["table", "__tablename__"];
        if let Some(fact) = self.fact_of(class) {
            names.extend(fact.table_from.iter().map(|it| &**it));
        }
        for ty in program.ancestry(class).iter() {
            for decl in program.type_decls(&ty.name) {
                for name in &names {
                    let property = decl.properties.iter().find(|it| &*it.name == *name);
                    if let Some(Const::Str(table)) = property.and_then(|it| it.default.as_ref()) {
                        return Table { table: Some(bare_table(table)), model, value: None };
                    }
                    let attr = decl.attrs.iter().find(|it| {
                        it.name.eq_ignore_ascii_case(name)
                            || last_segment(&it.name).eq_ignore_ascii_case(last_segment(name))
                    });
                    if let Some(table) = attr.and_then(|it| table_argument(&it.args)) {
                        return Table { table: Some(bare_table(&table)), model, value: None };
                    }
                }
            }
        }
        Table { table: None, model, value: None }
    }

    /// Types that a macro writes into the module of each table are named by it: `jobs::Entity` is
    /// `jobs`, unless its `Model` says another name.
    fn table_of_module(&self, class: &str) -> Option<Name> {
        let fact = self.shared.vocabulary.type_fact(self.language, class)?;
        let (module, _) = class.rsplit_once("::").filter(|_| fact.name.starts_with("*::"))?;
        let short = last_segment(module);
        if matches!(short, "crate" | "self" | "super") {
            return None;
        }
        let sibling = format!("{module}::Model");
        let decls = self.shared.program.type_decls(&sibling);
        let attrs = decls.iter().filter(|it| *it.name == *sibling).flat_map(|it| &it.attrs);
        let mut told = attrs.filter(|it| it.args.contains("table_name"));
        let told = told.find_map(|it| table_argument(&it.args));
        Some(told.map_or_else(|| short.into(), |it| bare_table(&it)))
    }

    /// The model of a repository, table or query type.
    pub(super) fn model_of(&self, ty: &TypeRef) -> Option<Name> {
        if self.is_row_class(&ty.name) {
            return Some(self.shared.program.canonical(&ty.name));
        }
        for ancestor in self.shared.program.ancestry(&ty.name).iter() {
            let args = if ancestor.name.eq_ignore_ascii_case(&ty.name) {
                &ty.args
            } else {
                &ancestor.args
            };
            let Some(fact) = self.shared.vocabulary.type_fact(self.language, &ancestor.name) else {
                continue;
            };
            for from in &fact.model_from {
                let found = match from.strip_prefix("name:") {
                    Some(suffix) => last_segment(&ty.name)
                        .strip_suffix(suffix)
                        .filter(|it| !it.is_empty())
                        .map(Name::from),
                    None => args.first().map(|it| it.name.clone()),
                };
                if let Some(name) = found {
                    return Some(self.shared.program.canonical(&name));
                }
            }
        }
        None
    }

    /// A variable's declared type goes to what is stored in it when nothing better is known.
    pub(super) fn typed_local(&mut self, state: &mut State, local: LocalId, value: Value) -> Value {
        let Some(ty) = self.func.locals.get(local).and_then(|it| it.ty.clone()) else {
            return value;
        };
        if self.language == Language::Rust {
            if is_primitive(&peel(&ty).name)
                && let Some(first) = state.object(&value).and_then(|it| it.fields.get("{first}"))
            {
                // `let status: String = …`: the only column of the row.
                return first.value.clone();
            }
            self.declare(state, &value, &ty);
        }
        match &value {
            Value::Unknown | Value::Derived(_) => {
                let id = self.identity(&("typed", local.0));
                self.types.insert(id, ty);
                Value::Opaque(id)
            }
            Value::Opaque(id) if self.types_of(state, &value).is_empty() => {
                self.types.insert(*id, ty);
                value
            }
            _ => value,
        }
    }

    /// What came back is of a type that the program declares.
    pub(super) fn declare(&self, state: &mut State, value: &Value, ty: &TypeRef) {
        let program = self.shared.program;
        let ty = program.unaliased(peel(ty));
        let object = match value {
            Value::Any(them) => {
                return them.iter().for_each(|it| self.declare(state, it, &ty));
            }
            value => state.object(value),
        };
        let Some(object) = object else { return };
        match (&object.kind, ty.args.first()) {
            (ObjectKind::List(row), Some(element)) if &*ty.name == "list" => {
                let (row, element) = (row.clone(), element.clone());
                self.declare(state, &row, &element);
            }
            (ObjectKind::Row(_), _) => {
                let declared = |ty: &TypeRef| program.type_decl(&ty.name).is_some();
                if declared(&ty) && !object.ty.as_ref().is_some_and(declared) {
                    state.object_mut(value).ty = Some(ty);
                }
            }
            _ => (),
        }
    }

    /// `$x instanceof Job` teaches a type.
    pub(super) fn learn_type(&mut self, state: &State, operand: &Operand, ty: &TypeRef) {
        let value = self.operand(state, operand);
        if let Value::Opaque(id) = value
            && self.types_of(state, &value).is_empty()
        {
            self.types.insert(id, ty.clone());
        }
    }

    /// An object of a row class begins as a fresh row.
    pub(super) fn start_row(&self, object: &mut Object, ty: &TypeRef) {
        if self.is_row_class(&ty.name) {
            let table = self.table_of_model(&ty.name);
            object.kind = ObjectKind::Row(RowState {
                table,
                fresh: true,
                filters: Vec::new(),
                pack: self.pack.clone(),
            });
        }
    }
}

/// The type of what a method leaves in a property of its object.
fn assigned_type(func: &Function, summary: &Summary, name: &Name) -> Option<TypeRef> {
    let object = summary.heap.get(&Value::This)?;
    object.fields.get(name)?.value.alternatives().iter().find_map(|value| match value {
        Value::Param(idx) => func.params.get(*idx as usize)?.ty.clone(),
        Value::Object(id) | Value::Opaque(id) => {
            let of_object = summary.heap.get(value).and_then(|it| it.ty.clone());
            of_object.or_else(|| summary.types.get(id).cloned())
        }
        _ => None,
    })
}

/// Rust's own types of one column.
fn is_primitive(name: &str) -> bool {
    matches!(
        name,
        "String"
            | "str"
            | "bool"
            | "char"
            | "i8"
            | "i16"
            | "i32"
            | "i64"
            | "u8"
            | "u16"
            | "u32"
            | "u64"
            | "f32"
            | "f64"
    )
}

/// `Option<X>` and `Result<X, E>` are seen through.
pub(super) fn peel(ty: &TypeRef) -> &TypeRef {
    let mut ty = ty;
    while matches!(last_segment(&ty.name), "Option" | "Result" | "MutexGuard" | "RefMut" | "Ref")
        && let Some(inner) = ty.args.first()
    {
        ty = inner;
    }
    ty
}

/// Without schema, quotes and prefix placeholders.
pub(super) fn bare_table(name: &str) -> Name {
    let name = name.rsplit('.').next().unwrap_or(name);
    let name =
        name.trim_matches(|it: char| matches!(it, '`' | '"' | '[' | ']' | '{' | '}' | '%' | '#'));
    name.trim_start_matches("__").into()
}

/// `name: 'jobs'`, `name="jobs"`, `table_name = jobs`, `"jobs"`.
fn table_argument(args: &str) -> Option<String> {
    for key in ["table_name", "table", "name"] {
        let Some(at) = args.find(key) else { continue };
        let rest = args[at + key.len()..].trim_start_matches([' ', ':', '=']);
        let rest = rest.trim_start_matches(['"', '\'', '`']);
        let name: String = rest
            .chars()
            .take_while(|it| it.is_alphanumeric() || matches!(it, '_' | '.' | ':'))
            .collect();
        if !name.is_empty() {
            return Some(last_segment(&name).to_owned());
        }
    }
    let quoted = args.trim().strip_prefix(['"', '\''])?;
    let end = quoted.find(['"', '\''])?;
    Some(quoted[..end].to_owned())
}
