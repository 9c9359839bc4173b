//! Which type is written here? Types reduced to what method look-up needs.

use super::names::{Site, unraw};
use super::unit::Unit;
use crate::base::{Name, last_segment};
use crate::ir::TypeRef;
use std::collections::BTreeMap;
use syn::punctuated::Punctuated;
use syn::{
    GenericArgument, GenericParam, Generics, PathArguments, PathSegment, ReturnType, Type,
    TypeParamBound, WherePredicate,
};

const MAX_DEPTH: u32 = 60;

/// Wrappers that method calls see through.
const TRANSPARENT: [&str; 8] =
    ["Box", "Arc", "Rc", "Pin", "Future", "BoxFuture", "LocalBoxFuture", "IntoFuture"];
/// Types that hold many of their argument.
const LISTS: [&str; 14] = [
    "Vec",
    "VecDeque",
    "HashSet",
    "BTreeSet",
    "IndexSet",
    "SmallVec",
    "Iterator",
    "IntoIterator",
    "DoubleEndedIterator",
    "ExactSizeIterator",
    "Stream",
    "TryStream",
    "BoxStream",
    "LocalBoxStream",
];
/// Bounds that say nothing of methods.
const MARKERS: [&str; 15] = [
    "Send",
    "Sync",
    "Sized",
    "Unpin",
    "Copy",
    "Clone",
    "Debug",
    "Default",
    "Eq",
    "PartialEq",
    "Ord",
    "PartialOrd",
    "Hash",
    "UnwindSafe",
    "RefUnwindSafe",
];

/// Whether the name is that of a primitive type.
pub(super) fn is_primitive(name: &str) -> bool {
    const PRIMITIVES: [&str; 17] = [
        "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize",
        "f32", "f64", "bool", "char", "str",
    ];
    PRIMITIVES.contains(&name)
}

/// Whether a path segment names a type: `Job`, `Self`, `u64`.
pub(super) fn is_type_name(segment: &str) -> bool {
    segment.trim_start_matches('_').starts_with(char::is_uppercase) || is_primitive(segment)
}

impl Unit<'_> {
    /// A type as written.
    pub(super) fn type_ref(&mut self, site: &Site, ty: &Type) -> TypeRef {
        self.type_at(site, ty, 0)
    }

    /// What a function returns; none when it declares nothing.
    pub(super) fn return_type(&mut self, site: &Site, output: &ReturnType) -> Option<TypeRef> {
        match output {
            ReturnType::Default => None,
            ReturnType::Type(_, ty) => Some(self.type_ref(site, ty)),
        }
    }

    fn type_at(&mut self, site: &Site, ty: &Type, depth: u32) -> TypeRef {
        if depth > MAX_DEPTH {
            return TypeRef::named("_");
        }
        let depth = depth + 1;
        match ty {
            Type::Reference(it) => {
                let by_ref = it.mutability.is_some();
                let inner = self.type_at(site, &it.elem, depth);
                TypeRef { by_ref: by_ref || inner.by_ref, ..inner }
            }
            Type::Paren(it) => self.type_at(site, &it.elem, depth),
            Type::Group(it) => self.type_at(site, &it.elem, depth),
            Type::Ptr(it) => self.type_at(site, &it.elem, depth),
            Type::Slice(it) => TypeRef::list(self.type_at(site, &it.elem, depth)),
            Type::Array(it) => TypeRef::list(self.type_at(site, &it.elem, depth)),
            Type::Tuple(it) if it.elems.is_empty() => TypeRef::named("()"),
            Type::Tuple(it) => {
                let args = it.elems.iter().map(|it| self.type_at(site, it, depth)).collect();
                TypeRef { args, ..TypeRef::named("tuple") }
            }
            Type::ImplTrait(it) => self.bounds(site, &it.bounds, depth),
            Type::TraitObject(it) => self.bounds(site, &it.bounds, depth),
            Type::Path(it) => self.path_type(site, it, depth),
            Type::FnPtr(_) => TypeRef::named("fn"),
            Type::Never(_) => TypeRef::named("!"),
            _ => TypeRef::named("_"),
        }
    }

    /// The first bound that says something, or the first one.
    fn bounds(
        &mut self,
        site: &Site,
        bounds: &Punctuated<TypeParamBound, syn::Token![+]>,
        depth: u32,
    ) -> TypeRef {
        let mut paths = bounds.iter().filter_map(|it| match it {
            TypeParamBound::Trait(it) => Some(&it.path),
            _ => None,
        });
        let first = paths.clone().next();
        let telling = paths.find(|path| {
            let last = path.segments.last().map(|it| unraw(&it.ident)).unwrap_or_default();
            !MARKERS.contains(&last.as_str())
        });
        match telling.or(first) {
            Some(path) => self.named_type(site, path, depth),
            None => TypeRef::named("_"),
        }
    }

    fn path_type(&mut self, site: &Site, ty: &syn::TypePath, depth: u32) -> TypeRef {
        if let Some(qself) = &ty.qself {
            let owner = self.type_at(site, &qself.ty, depth);
            let last = ty.path.segments.last().map(|it| unraw(&it.ident)).unwrap_or_default();
            return TypeRef::named(format!("{}::{last}", owner.name));
        }
        if let Some(ident) = ty.path.get_ident()
            && let Some(bound) = site.generics.get(unraw(ident).as_str())
        {
            return bound.clone();
        }
        self.named_type(site, &ty.path, depth)
    }

    fn named_type(&mut self, site: &Site, path: &syn::Path, depth: u32) -> TypeRef {
        let name = self.resolve_path(site, path);
        self.mention(&name);
        let Some(last) = path.segments.last() else { return TypeRef::named("_") };
        let mut args = self.segment_args(site, last, depth);
        let short = last_segment(&name);
        if TRANSPARENT.contains(&short) && !args.is_empty() {
            return args.swap_remove(0);
        }
        if LISTS.contains(&short) && !args.is_empty() {
            return TypeRef::list(args.swap_remove(0));
        }
        TypeRef { args, ..TypeRef::named(name) }
    }

    fn segment_args(&mut self, site: &Site, segment: &PathSegment, depth: u32) -> Vec<TypeRef> {
        match &segment.arguments {
            PathArguments::None => Vec::new(),
            PathArguments::AngleBracketed(it) => self.generic_args(site, &it.args, depth),
            PathArguments::Parenthesized(it) => {
                it.inputs.iter().map(|it| self.type_at(site, &it.ty, depth)).collect()
            }
        }
    }

    fn generic_args(
        &mut self,
        site: &Site,
        args: &Punctuated<GenericArgument, syn::Token![,]>,
        depth: u32,
    ) -> Vec<TypeRef> {
        let types = args.iter().filter_map(|it| match it {
            GenericArgument::Type(ty) => Some(ty),
            GenericArgument::AssocType(it) => Some(&it.ty),
            _ => None,
        });
        types.map(|ty| self.type_at(site, ty, depth)).collect()
    }

    /// Generic arguments at a call: `::<_, Job>`.
    pub(super) fn turbofish(
        &mut self,
        site: &Site,
        args: &syn::AngleBracketedGenericArguments,
    ) -> Vec<TypeRef> {
        self.generic_args(site, &args.args, 0)
    }

    /// Generic arguments written anywhere in a path: `QueryBuilder::<Sqlite>::new`.
    pub(super) fn path_args(&mut self, site: &Site, path: &syn::Path) -> Vec<TypeRef> {
        let mut out = Vec::new();
        for segment in &path.segments {
            if let PathArguments::AngleBracketed(it) = &segment.arguments {
                out.extend(self.turbofish(site, it));
            }
        }
        out
    }

    /// What the type parameters of an item are bounded by, added to those around it.
    pub(super) fn bind_generics(
        &mut self,
        site: &Site,
        generics: &Generics,
    ) -> BTreeMap<Name, TypeRef> {
        let mut out = site.generics.clone();
        for param in &generics.params {
            if let GenericParam::Type(it) = param {
                let name: Name = unraw(&it.ident).into();
                out.insert(name.clone(), TypeRef::named(name));
            }
        }
        let bare = Site { generics: out.clone(), ..site.clone() };
        let params = generics.params.iter().filter_map(|it| match it {
            GenericParam::Type(it) => Some((unraw(&it.ident), &it.bounds)),
            _ => None,
        });
        let clauses = generics.where_clause.iter().flat_map(|it| &it.predicates);
        let clauses = clauses.filter_map(|it| match it {
            WherePredicate::Type(it) => match &it.bounded_ty {
                Type::Path(ty) => Some((unraw(ty.path.get_ident()?), &it.bounds)),
                _ => None,
            },
            _ => None,
        });
        for (name, bounds) in params.chain(clauses) {
            let bound = self.bounds(&bare, bounds, 0);
            let tells = !MARKERS.contains(&last_segment(&bound.name)) && &*bound.name != "_";
            if tells && out.contains_key(name.as_str()) {
                out.insert(name.into(), bound);
            }
        }
        out
    }
}
