//! State: what is known at one program point, and how two states join.

use super::fact::{Held, Transaction};
use super::object::{Field, Object, ObjectKind};
use super::value::{Identity, Value};
use crate::base::Name;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

/// How many things may lie about before it is looked which are still led to.
const MAX_UNSWEPT: usize = 48;

/// What is known at one program point.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct State {
    /// Values of the function's variables.
    pub(crate) locals: Vec<Value>,
    /// Things, by the value that leads to them.
    pub(crate) heap: Heap,
    /// The transaction.
    pub(crate) transaction: Transaction,
    /// Held locks, in order of acquisition.
    pub(crate) held: Vec<Held>,
    /// The last write on any connection: what a connection-wide count speaks of.
    pub(crate) last_write: Option<Identity>,
    /// How many things were left when it was last looked which are led to.
    pub(crate) swept: usize,
}

impl State {
    /// Joins `other` in.
    pub(crate) fn join(&mut self, other: &Self) {
        for (mine, theirs) in self.locals.iter_mut().zip(&other.locals) {
            if mine != theirs {
                *mine = std::mem::take(mine).join(theirs.clone());
            }
        }
        self.heap.join(&other.heap);
        self.swept = self.swept.max(other.swept);
        if self.transaction != other.transaction {
            self.transaction = Transaction::Inherited;
        }
        self.held.retain(|it| other.held.iter().any(|that| that.id == it.id));
        if self.last_write != other.last_write {
            self.last_write = self.last_write.or(other.last_write);
        }
    }

    /// Forgets variables that nobody reads any more, and things that nothing leads to. Rows and locks
    /// stay: a flush or a release may still reach them.
    pub(crate) fn forget(&mut self, dying: &[usize]) {
        for &idx in dying {
            if let Some(slot) = self.locals.get_mut(idx) {
                *slot = Value::Unknown;
            }
        }
        if self.heap.len() > MAX_UNSWEPT.max(self.swept * 2) {
            self.sweep();
            self.swept = self.heap.len();
        }
    }

    fn sweep(&mut self) {
        let mut reached: BTreeMap<Value, Arc<Object>> = BTreeMap::new();
        let mut queue: Vec<Value> = Vec::new();
        for local in &self.locals {
            local.walk(&mut |it| queue.push(it.clone()));
        }
        for (root, object) in self.heap.iter() {
            let stays = !matches!(root, Value::Object(_) | Value::Opaque(_))
                || matches!(object.kind, ObjectKind::Lock(_) | ObjectKind::Row(_));
            if stays {
                queue.push(root.clone());
            }
        }
        while let Some(root) = queue.pop() {
            if reached.contains_key(&root) {
                continue;
            }
            let Some(object) = self.heap.get(&root) else { continue };
            reached.insert(root, Arc::clone(object));
            object.leads_to(&mut |it| it.walk(&mut |it| queue.push(it.clone())));
        }
        self.heap = Heap(Arc::new(reached));
    }

    /// The object behind a value.
    pub(crate) fn object(&self, value: &Value) -> Option<&Object> {
        self.heap.get(value).map(Arc::as_ref)
    }

    /// The object behind a value, to change; made when there is none.
    pub(crate) fn object_mut(&mut self, value: &Value) -> &mut Object {
        Arc::make_mut(self.heap.make_mut().entry(value.clone()).or_default())
    }

    /// Puts an object there.
    pub(crate) fn put(&mut self, value: Value, object: Object) {
        self.heap.insert(value, Arc::new(object));
    }
}

/// Things, by the value that leads to them. A copy is the same map until one of the two is changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Heap(Arc<BTreeMap<Value, Arc<Object>>>);

impl Heap {
    fn make_mut(&mut self) -> &mut BTreeMap<Value, Arc<Object>> {
        Arc::make_mut(&mut self.0)
    }

    /// Puts an object there.
    pub(crate) fn insert(&mut self, value: Value, object: Arc<Object>) {
        self.make_mut().insert(value, object);
    }

    /// Forgets the object behind a value.
    pub(crate) fn remove(&mut self, value: &Value) {
        if self.0.contains_key(value) {
            self.make_mut().remove(value);
        }
    }

    fn join(&mut self, other: &Self) {
        if Arc::ptr_eq(&self.0, &other.0) {
            return;
        }
        let mut changed: Vec<(&Value, Arc<Object>)> = Vec::new();
        let mut own = self.0.iter().peekable();
        for (key, theirs) in &*other.0 {
            while own.next_if(|it| it.0 < key).is_some() {}
            match own.next_if(|it| it.0 == key) {
                None => changed.push((key, Arc::clone(theirs))),
                Some((_, mine)) if Arc::ptr_eq(mine, theirs) || mine == theirs => (),
                Some((_, mine)) => changed.push((key, Arc::new(join_objects(key, mine, theirs)))),
            }
        }
        if !changed.is_empty() {
            let own = self.make_mut();
            changed.into_iter().for_each(|(key, object)| {
                own.insert(key.clone(), object);
            });
        }
    }
}

impl Deref for Heap {
    type Target = BTreeMap<Value, Arc<Object>>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

fn join_objects(root: &Value, mine: &Object, theirs: &Object) -> Object {
    let mut out = mine.clone();
    if out.ty.is_none() {
        out.ty.clone_from(&theirs.ty);
    }
    out.kind = join_kinds(&mine.kind, &theirs.kind);
    let names: Vec<Name> = mine.fields.keys().chain(theirs.fields.keys()).cloned().collect();
    for name in names {
        let as_loaded = || Field { value: Value::path(root.clone(), name.clone()), changed: None };
        let (a, b) = (mine.fields.get(&name), theirs.fields.get(&name));
        let joined = match (a.cloned(), b.cloned()) {
            (Some(a), Some(b)) => join_fields(a, b),
            (Some(one), None) | (None, Some(one)) => join_fields(one, as_loaded()),
            (None, None) => continue,
        };
        out.fields.insert(name, joined);
    }
    out
}

fn join_fields(a: Field, b: Field) -> Field {
    let changed = a.changed.or(b.changed);
    Field { value: a.value.join(b.value), changed }
}

fn join_kinds(mine: &ObjectKind, theirs: &ObjectKind) -> ObjectKind {
    match (mine, theirs) {
        (ObjectKind::Plain, that) => that.clone(),
        (ObjectKind::Statement(a), ObjectKind::Statement(b)) => {
            let mut out = a.clone();
            for stmt in &b.statements {
                if !out.statements.contains(stmt) {
                    out.statements.push(stmt.clone());
                }
            }
            out.text = a.text.clone().join(b.text.clone());
            for (param, value) in &b.params {
                out.params.entry(param.clone()).or_insert_with(|| value.clone());
            }
            out.ran = a.ran.or(b.ran);
            out.row = a.row.clone().or_else(|| b.row.clone());
            ObjectKind::Statement(out)
        }
        (ObjectKind::Query(a), ObjectKind::Query(b)) => {
            // A condition that only one path added cannot be relied on.
            let mut out = a.clone();
            let before = out.conditions.len();
            out.conditions.retain(|it| {
                b.conditions.iter().any(|that| that.column == it.column && that.op == it.op)
            });
            out.vague |= b.vague || out.conditions.len() != before;
            for set in &b.sets {
                if !out.sets.iter().any(|it| it.column == set.column) {
                    out.sets.push(set.clone());
                }
            }
            for (param, value) in &b.params {
                out.params.entry(param.clone()).or_insert_with(|| value.clone());
            }
            ObjectKind::Query(out)
        }
        (ObjectKind::Array(a), ObjectKind::Array(b)) => {
            let mut out = a.clone();
            for it in &b.items {
                match out.items.iter_mut().find(|mine| mine.key == it.key) {
                    Some(mine) => {
                        mine.value = std::mem::take(&mut mine.value).join(it.value.clone());
                    }
                    None => out.items.push(it.clone()),
                }
            }
            out.open |= b.open;
            ObjectKind::Array(out)
        }
        (ObjectKind::List(a), ObjectKind::List(b)) => ObjectKind::List(a.clone().join(b.clone())),
        (mine, _) => mine.clone(),
    }
}
