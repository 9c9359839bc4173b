//! What type does a declaration have, from its native type and its doc comment?

use super::doc_type::{self, TypeScope, is_builtin};
use super::file::FileCtx;
use super::syntax::{Node, children};
use crate::ir::TypeRef;

/// Lowers a native type: `?Job`, `Job|Task`, `(A&B)|null`.
pub(super) fn native(
    ctx: &mut FileCtx<'_>,
    node: Node<'_>,
    scope: ScopeRef<'_>,
) -> Option<TypeRef> {
    let mut members = Vec::new();
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        match node.kind() {
            "union_type"
            | "intersection_type"
            | "disjunctive_normal_form_type"
            | "type_list"
            | "optional_type" => open.extend(children(node).into_iter().rev()),
            _ => members.push(named(ctx, ctx.text(node), scope)),
        }
    }
    doc_type::combine(members)
}

/// The class and the type parameters that a type may speak of.
#[derive(Clone, Copy)]
pub(super) struct ScopeRef<'n> {
    pub(super) class: Option<&'n doc_type::ClassScope>,
    pub(super) templates: &'n doc_type::Templates,
}

impl<'n> ScopeRef<'n> {
    /// Together with the names in force.
    pub(super) fn with<'m>(self, names: &'m super::names::Names) -> TypeScope<'m>
    where
        'n: 'm,
    {
        TypeScope { names, class: self.class, templates: self.templates }
    }
}

/// A type of one name; classes are kept as evidence.
pub(super) fn named(ctx: &mut FileCtx<'_>, written: &str, scope: ScopeRef<'_>) -> TypeRef {
    // A native name is never a type parameter.
    let none = doc_type::Templates::default();
    let ty = TypeScope { names: &ctx.names, class: scope.class, templates: &none }.named(written);
    if !is_builtin(&ty.name) {
        ctx.note_import(&ty.name);
    }
    ty
}

/// The declared type, unless it says less than the documented one.
pub(super) fn refine(native: Option<TypeRef>, documented: Option<TypeRef>) -> Option<TypeRef> {
    let (native, documented) = match (native, documented) {
        (Some(native), Some(documented)) => (native, documented),
        (native, documented) => return native.or(documented),
    };
    let names_elements = native.args.is_empty()
        && !is_builtin(&native.name)
        && !documented.args.is_empty()
        && (documented.name == native.name || &*documented.name == "list");
    if is_vague(&native) || native.alternatives.is_empty() && names_elements {
        // `iterable` or a collection class documented as `Job[]`: the class is kept.
        if names_elements && documented.name != native.name && !is_iterable(&native.name) {
            return Some(TypeRef { args: documented.args, ..native });
        }
        return Some(documented);
    }
    Some(native)
}

/// Whether a type says next to nothing.
pub(super) fn is_vague(ty: &TypeRef) -> bool {
    let is_open =
        matches!(&*ty.name, "array" | "iterable" | "object" | "mixed" | "callable" | "list");
    is_open && ty.args.is_empty() && ty.alternatives.is_empty()
}

fn is_iterable(name: &str) -> bool {
    matches!(name, "Traversable" | "Iterator" | "IteratorAggregate" | "Generator" | "ArrayIterator")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::dump;

    #[test]
    fn the_declared_type_wins_unless_it_is_vague() {
        let list = |it: &str| TypeRef::list(TypeRef::named(it));
        let generic =
            |it: &str| TypeRef { args: vec![TypeRef::named("Job")], ..TypeRef::named(it) };
        for (native, documented, wanted) in [
            (Some(TypeRef::named("Job")), Some(TypeRef::named("Task")), "Job"),
            (Some(TypeRef::named("array")), Some(list("Job")), "list<Job>"),
            (Some(TypeRef::named("mixed")), Some(TypeRef::named("Job")), "Job"),
            (Some(TypeRef::named("Collection")), Some(generic("Collection")), "Collection<Job>"),
            (Some(TypeRef::named("Collection")), Some(list("Job")), "Collection<Job>"),
            (Some(TypeRef::named("Generator")), Some(list("Job")), "list<Job>"),
            (Some(TypeRef::named("int")), Some(list("Job")), "int"),
            (None, Some(TypeRef::named("Job")), "Job"),
            (Some(TypeRef::named("array")), None, "array"),
        ] {
            let ty = refine(native, documented).map(|it| dump::type_ref(&it));
            assert_eq!(ty.as_deref(), Some(wanted));
        }
    }
}
