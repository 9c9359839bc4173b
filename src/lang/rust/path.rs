//! What does a path in value position name: a variant, a constant, a column, a function?

use super::names::{Site, unraw};
use super::ty::is_type_name;
use super::unit::Unit;
use crate::base::{Name, last_segment};
use crate::ir::{Callee, ClassRef, Const, Rvalue};

/// The segments of a path without generic arguments.
pub(super) fn segments(path: &syn::Path) -> Vec<String> {
    path.segments.iter().map(|it| unraw(&it.ident)).collect()
}

/// `prefix` and last segment of a resolved path.
pub(super) fn split(full: &str) -> (Option<&str>, &str) {
    match full.rsplit_once("::") {
        Some((prefix, last)) => (Some(prefix), last),
        None => (None, full),
    }
}

/// `MAX`, `MAX_TRIES`: a constant, not a variant or type.
pub(super) fn is_constant_name(segment: &str) -> bool {
    segment.len() > 1
        && segment.starts_with(char::is_uppercase)
        && segment.chars().all(|it| it.is_uppercase() || it.is_ascii_digit() || it == '_')
}

impl Unit<'_> {
    /// The full name of a path; prelude variants stay short.
    pub(super) fn resolve_path(&self, site: &Site, path: &syn::Path) -> Name {
        let full = self.names.resolve(site, &segments(path), path.leading_colon.is_some());
        let (prefix, last) = split(&full);
        let of_prelude = match (prefix, last) {
            (Some(prefix), "Some" | "None") => last_segment(prefix) == "Option",
            (Some(prefix), "Ok" | "Err") => last_segment(prefix) == "Result",
            _ => false,
        };
        if of_prelude { last.into() } else { full }
    }

    /// The type in front of the last segment, when there is one: `Job` of `Job::find`.
    pub(super) fn class_of(path: &syn::Path, full: &str) -> Option<ClassRef> {
        let written = segments(path);
        if written.len() == 2 && written[0] == "Self" {
            return Some(ClassRef::SelfType);
        }
        let prefix = split(full).0?;
        is_type_name(last_segment(prefix)).then(|| ClassRef::Named(prefix.into()))
    }

    /// What a call of the path calls.
    pub(super) fn path_callee(&mut self, site: &Site, expr: &syn::ExprPath) -> Callee {
        if let Some(qself) = &expr.qself {
            let name = expr.path.segments.last().map(|it| unraw(&it.ident)).unwrap_or_default();
            let owner = self.type_ref(site, &qself.ty);
            let is_self = site.class.as_ref() == Some(&owner.name);
            let class = if is_self { ClassRef::SelfType } else { ClassRef::Named(owner.name) };
            return Callee::Static { class, name: name.into() };
        }
        let full = self.resolve_path(site, &expr.path);
        self.mention(&full);
        match Self::class_of(&expr.path, &full) {
            Some(class) => Callee::Static { class, name: split(&full).1.into() },
            None => Callee::Function(full),
        }
    }

    /// A path that is no variable, read as a value.
    pub(super) fn path_value(&mut self, site: &Site, expr: &syn::ExprPath) -> Rvalue {
        let last = expr.path.segments.last().map(|it| unraw(&it.ident)).unwrap_or_default();
        let is_function = |it: &Self, callee: &Callee| match callee {
            Callee::Static { name, .. } => !is_type_name(name),
            Callee::Function(full) => it.is_callable(full),
            _ => false,
        };
        let callee = self.path_callee(site, expr);
        if is_function(self, &callee) {
            return Rvalue::Callable(Box::new(callee));
        }
        match callee {
            Callee::Static { class, name } => named(Some(class), name),
            Callee::Function(full) if &*full == "None" => constant(Const::Null),
            Callee::Function(full) => {
                let (prefix, short) = split(&full);
                // A module with a lower-case member is a table with a column.
                let column = prefix.filter(|_| !last.starts_with(char::is_uppercase));
                match column {
                    Some(prefix) => named(Some(ClassRef::Named(prefix.into())), short.into()),
                    None => named(None, full),
                }
            }
            _ => constant(Const::Unknown),
        }
    }

    /// The constant that a path names.
    pub(super) fn path_constant(&mut self, site: &Site, expr: &syn::ExprPath) -> Const {
        match self.path_value(site, expr) {
            Rvalue::Use(crate::ir::Operand::Const(it)) => it,
            _ => Const::Unknown,
        }
    }
}

fn named(class: Option<ClassRef>, name: Name) -> Rvalue {
    constant(Const::Named { class, name })
}

fn constant(it: Const) -> Rvalue {
    Rvalue::Use(crate::ir::Operand::Const(it))
}
