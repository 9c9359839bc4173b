//! What does a name mean here? Items and `use` declarations of each module of the file.
//!
//! Only the file at hand is known: a name from a glob import of another file stays as written.

use crate::base::Name;
use std::collections::BTreeMap;
use syn::{Item, UseTree};

/// Names that one module, enum or function body declares or imports.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    /// Short name to full name.
    pub(super) items: BTreeMap<Name, Name>,
    /// Modules and enums whose names are all imported.
    pub(super) globs: Vec<Name>,
}

/// Where code stands: what relative names are relative to.
#[derive(Clone, Debug, Default)]
pub(super) struct Site {
    /// `crate::a::b`.
    pub(super) module: Name,
    /// What new items are named after: the module, or the function around them.
    pub(super) prefix: Name,
    /// Items and imports of function bodies, outermost first.
    pub(super) bodies: Vec<Scope>,
    /// What `Self` is.
    pub(super) class: Option<Name>,
    /// The trait of `impl Trait for Type`.
    pub(super) of_trait: Option<Name>,
    /// What generic parameters are bounded by.
    pub(super) generics: BTreeMap<Name, crate::ir::TypeRef>,
    /// Test code.
    pub(super) exempt: bool,
}

/// The modules of the file.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    modules: BTreeMap<Name, Scope>,
}

/// One name brought in by a `use`: none for a glob.
struct Import {
    short: Option<Name>,
    path: Vec<String>,
}

impl Names {
    /// Collects what `items` of `module` and of the modules inside declare and import; `imports` gets
    /// the full names of all `use` declarations.
    pub(super) fn collect(module: &Name, items: &[Item], imports: &mut Vec<Name>) -> Self {
        let mut out = Self::default();
        out.declare(module, items);
        out.import(module, items, imports);
        out
    }

    fn declare(&mut self, module: &Name, items: &[Item]) {
        let mut scope = Scope::default();
        for item in items {
            if let Some(short) = item_name(item) {
                let full = join(module, &short);
                scope.items.insert(short.as_str().into(), full.clone());
                match item {
                    Item::Mod(it) => {
                        let inner = it.content.as_ref().map_or(&[][..], |it| &it.1);
                        self.declare(&full, inner);
                    }
                    Item::Enum(it) => {
                        self.modules.insert(full.clone(), variants(&full, it));
                    }
                    _ => (),
                }
            }
        }
        self.modules.insert(module.clone(), scope);
    }

    fn import(&mut self, module: &Name, items: &[Item], imports: &mut Vec<Name>) {
        let site = Site { module: module.clone(), ..Site::default() };
        for item in items {
            match item {
                Item::Use(it) => {
                    let scope = self.scope_of(&site, it, imports);
                    let own = self.modules.entry(module.clone()).or_default();
                    own.items.extend(scope.items);
                    own.globs.extend(scope.globs);
                }
                Item::ExternCrate(it) => {
                    let full: Name = unraw(&it.ident).into();
                    imports.push(full.clone());
                    if let Some((_, rename)) = &it.rename {
                        let own = self.modules.entry(module.clone()).or_default();
                        own.items.insert(unraw(rename).into(), full);
                    }
                }
                Item::Mod(it) => {
                    let inner = it.content.as_ref().map_or(&[][..], |it| &it.1);
                    self.import(&join(module, &unraw(&it.ident)), inner, imports);
                }
                _ => (),
            }
        }
    }

    /// Names that the items among the statements of a function body bring.
    pub(super) fn body_scope<'a>(
        &self,
        site: &Site,
        items: impl Iterator<Item = &'a Item>,
        imports: &mut Vec<Name>,
    ) -> Scope {
        let mut out = Scope::default();
        for item in items {
            if let Item::Use(it) = item {
                let scope = self.scope_of(site, it, imports);
                out.items.extend(scope.items);
                out.globs.extend(scope.globs);
            } else if let Some(short) = item_name(item) {
                let full = join(&site.prefix, &short);
                out.items.insert(short.into(), full);
            }
        }
        out
    }

    fn scope_of(&self, site: &Site, item: &syn::ItemUse, imports: &mut Vec<Name>) -> Scope {
        let mut found = Vec::new();
        flatten(&item.tree, &mut Vec::new(), &mut found);
        let mut out = Scope::default();
        for it in found {
            let leading = item.leading_colon.is_some();
            let full = self.resolve(site, &it.path, leading);
            if let Some(short) = it.short {
                imports.push(full.clone());
                out.items.insert(short, full);
            } else {
                imports.push(format!("{full}::*").into());
                out.globs.push(full);
            }
        }
        out
    }

    /// Types that a `pub use` gives other names: short name here, full name there.
    pub(super) fn reexports(&self, site: &Site, item: &syn::ItemUse) -> Vec<(Name, Name)> {
        let scope = self.scope_of(site, item, &mut Vec::new());
        let is_type = |it: &Name| super::ty::is_type_name(crate::base::last_segment(it));
        scope.items.into_iter().filter(|(short, full)| is_type(short) && is_type(full)).collect()
    }

    /// The full name of a path; as written when the first segment means nothing here.
    pub(super) fn resolve(&self, site: &Site, path: &[String], leading: bool) -> Name {
        let Some((first, rest)) = path.split_first() else { return "".into() };
        if leading {
            return path.join("::").into();
        }
        match first.as_str() {
            "crate" => path.join("::").into(),
            "self" => prefixed(&site.module, rest),
            "super" => super_path(&site.module, path),
            "Self" => match &site.class {
                Some(class) => prefixed(class, rest),
                None => path.join("::").into(),
            },
            _ => match self.lookup(site, first) {
                Some(full) if rest.is_empty() || !is_of_crate(&full, first) => {
                    prefixed(&full, rest)
                }
                _ => path.join("::").into(),
            },
        }
    }

    fn lookup(&self, site: &Site, name: &str) -> Option<Name> {
        let bodies = site.bodies.iter().rev();
        let scopes = || bodies.clone().chain(self.modules.get(&site.module));
        scopes().find_map(|it| it.items.get(name)).cloned().or_else(|| {
            let mut globs = scopes().flat_map(|it| &it.globs);
            globs.find_map(|it| self.modules.get(it)?.items.get(name)).cloned()
        })
    }
}

/// Whether the name is one that the crate of the same name exports, as `anyhow::anyhow`: a macro or
/// function, so that a longer path still means the crate.
fn is_of_crate(full: &str, first: &str) -> bool {
    full.strip_prefix(first).is_some_and(|it| it.starts_with("::"))
}

/// `r#type` is `type`.
pub(super) fn unraw(ident: &syn::Ident) -> String {
    use syn::ext::IdentExt;
    ident.unraw().to_string()
}

/// `prefix::short`.
pub(super) fn join(prefix: &str, short: &str) -> Name {
    if prefix.is_empty() { short.into() } else { format!("{prefix}::{short}").into() }
}

fn prefixed(prefix: &Name, rest: &[String]) -> Name {
    rest.iter().fold(prefix.clone(), |out, it| join(&out, it))
}

fn super_path(module: &str, path: &[String]) -> Name {
    let n_supers = path.iter().take_while(|it| *it == "super").count();
    let mut module = module;
    for _ in 0..n_supers {
        module = module.rsplit_once("::").map_or("crate", |it| it.0);
    }
    prefixed(&module.into(), &path[n_supers..])
}

fn variants(full: &Name, item: &syn::ItemEnum) -> Scope {
    let mut out = Scope::default();
    for it in &item.variants {
        let short = unraw(&it.ident);
        let full = join(full, &short);
        out.items.insert(short.into(), full);
    }
    out
}

fn item_name(item: &Item) -> Option<String> {
    Some(match item {
        Item::Const(it) => unraw(&it.ident),
        Item::Enum(it) => unraw(&it.ident),
        Item::Fn(it) => unraw(&it.sig.ident),
        Item::Mod(it) => unraw(&it.ident),
        Item::Static(it) => unraw(&it.ident),
        Item::Struct(it) => unraw(&it.ident),
        Item::Trait(it) => unraw(&it.ident),
        Item::TraitAlias(it) => unraw(&it.ident),
        Item::Type(it) => unraw(&it.ident),
        Item::Union(it) => unraw(&it.ident),
        Item::Macro(it) => super::data::table_name(&it.mac)?,
        _ => return None,
    })
}

/// Import trees nest only as deep as their braces, which `nesting` bounds; `a::b::c` is a loop.
fn flatten(tree: &UseTree, prefix: &mut Vec<String>, out: &mut Vec<Import>) {
    let length = prefix.len();
    let mut tree = tree;
    while let UseTree::Path(it) = tree {
        prefix.push(unraw(&it.ident));
        tree = &it.tree;
    }
    match tree {
        UseTree::Name(it) if it.ident == "self" && !prefix.is_empty() => {
            out.push(Import {
                short: prefix.last().map(|it| it.as_str().into()),
                path: prefix.clone(),
            });
        }
        UseTree::Name(it) => push_name(&it.ident, &it.ident, prefix, out),
        UseTree::Rename(it) if it.ident == "self" && !prefix.is_empty() => {
            let short = Some(unraw(&it.rename).into());
            out.push(Import { short, path: prefix.clone() });
        }
        UseTree::Rename(it) => push_name(&it.ident, &it.rename, prefix, out),
        UseTree::Glob(_) => out.push(Import { short: None, path: prefix.clone() }),
        UseTree::Group(it) => it.items.iter().for_each(|it| flatten(it, prefix, out)),
        UseTree::Path(_) => (),
    }
    prefix.truncate(length);
}

fn push_name(name: &syn::Ident, short: &syn::Ident, prefix: &[String], out: &mut Vec<Import>) {
    let mut path = prefix.to_vec();
    path.push(unraw(name));
    out.push(Import { short: Some(unraw(short).into()), path });
}

/// The module that a file is, as far as its path tells: `src/a/b.rs` is `crate::a::b`.
pub(super) fn module_of(path: &str) -> Name {
    let inside = match path.rfind("/src/") {
        Some(at) => &path[at + "/src/".len()..],
        None => match path.strip_prefix("src/") {
            Some(inside) => inside,
            None => return "crate".into(),
        },
    };
    let stem = inside.strip_suffix(".rs").unwrap_or(inside);
    let mut parts: Vec<_> = stem.split('/').collect();
    if parts.first() == Some(&"bin") {
        return "crate".into();
    }
    if matches!(parts.last(), Some(&("mod" | "lib" | "main"))) {
        parts.pop();
    }
    parts.iter().fold("crate".into(), |out: Name, it| join(&out, &it.replace('-', "_")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_tells_the_module() {
        for (path, module) in [
            ("src/lib.rs", "crate"),
            ("src/main.rs", "crate"),
            ("src/a/b.rs", "crate::a::b"),
            ("crates/store/src/a/mod.rs", "crate::a"),
            ("src/bin/tool.rs", "crate"),
            ("before/offer.rs", "crate"),
        ] {
            assert_eq!(&*module_of(path), module, "{path}");
        }
    }

    fn resolve(code: &str, path: &str) -> String {
        let file = syn::parse_file(code).expect("valid code");
        let module: Name = "crate::a".into();
        let names = Names::collect(&module, &file.items, &mut Vec::new());
        let site = Site { module, class: Some("crate::a::Job".into()), ..Site::default() };
        let path: Vec<_> = path.split("::").map(str::to_owned).collect();
        names.resolve(&site, &path, false).to_string()
    }

    #[test]
    fn paths_are_resolved_through_use() {
        let code = "
            use sqlx::{self as db, query as q, postgres::{PgPool, *}};
            use super::store::Store; use self::inner::Part; use crate::offer;
            use Status::*; use inner::deep; use anyhow::anyhow;
            extern crate diesel as d;
            mod inner { pub struct Part; pub mod deep {} }
            enum Status { Open } fn helper() {}
            table! { jobs (id) { id -> Int8, } }
        ";
        for (path, full) in [
            ("db::Error", "sqlx::Error"),
            ("q", "sqlx::query"),
            ("PgPool", "sqlx::postgres::PgPool"),
            ("Store::new", "crate::store::Store::new"),
            ("Part", "crate::a::inner::Part"),
            ("deep::x", "crate::a::inner::deep::x"),
            ("offer::Offer", "crate::offer::Offer"),
            ("Open", "crate::a::Status::Open"),
            ("helper", "crate::a::helper"),
            ("jobs::status", "crate::a::jobs::status"),
            ("Self::new", "crate::a::Job::new"),
            ("super::super::x", "crate::x"),
            ("unknown::x", "unknown::x"),
            ("anyhow::Result", "anyhow::Result"),
            ("anyhow", "anyhow::anyhow"),
            ("d::update", "diesel::update"),
        ] {
            assert_eq!(resolve(code, path), full, "{path}");
        }
    }

    #[test]
    fn imports_are_listed_with_globs() {
        let file = syn::parse_file("use a::{b::*, c}; mod m { use super::*; }").expect("valid");
        let mut imports = Vec::new();
        Names::collect(&"crate".into(), &file.items, &mut imports);
        let imports: Vec<_> = imports.iter().map(|it| &**it).collect();
        assert_eq!(imports, ["a::b::*", "a::c", "crate::*"]);
    }
}
