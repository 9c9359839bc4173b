//! What is known of the file while it is lowered, and the walk over its modules.

use super::names::{Names, Site, join, module_of, unraw};
use super::span::Spans;
use super::{attr, comment, decl};
use crate::base::{Language, Name, Problem, ProblemKind, Source, Span, last_segment};
use crate::ir::{self, FuncId, Function};
use indexmap::IndexSet;
use std::collections::BTreeSet;
use syn::{Item, Type};

/// The file under lowering.
pub(super) struct Unit<'s> {
    pub(super) source: &'s Source,
    pub(super) spans: Spans<'s>,
    pub(super) names: Names,
    pub(super) file: ir::File,
    /// Types with an `impl Drop` in this file, by full name.
    pub(super) drop_types: BTreeSet<Name>,
    /// Structs of this file, by full name.
    structs: BTreeSet<Name>,
    /// Those that are called to be built.
    tuple_structs: BTreeSet<Name>,
    /// Functions of this file, by full name.
    functions: BTreeSet<Name>,
    imports: IndexSet<Name>,
}

impl<'s> Unit<'s> {
    pub(super) fn new(source: &'s Source, spans: Spans<'s>) -> Self {
        let mut file = ir::File::empty(source.id, Language::Rust);
        file.exempt = source.exempt;
        Self {
            source,
            spans,
            names: Names::default(),
            file,
            drop_types: BTreeSet::new(),
            structs: BTreeSet::new(),
            tuple_structs: BTreeSet::new(),
            functions: BTreeSet::new(),
            imports: IndexSet::new(),
        }
    }

    /// Lowers all items.
    pub(super) fn lower(mut self, syntax: &syn::File) -> ir::File {
        let module = module_of(&self.source.path);
        self.file.exempt |= attr::is_test(&syntax.attrs);
        let mut imports = Vec::new();
        self.names = Names::collect(&module, &syntax.items, &mut imports);
        self.imports.extend(imports);
        let exempt = self.file.exempt;
        let site = Site { prefix: module.clone(), module, exempt, ..Site::default() };
        self.survey(&site, &syntax.items);
        decl::lower_items(&mut self, &site, &syntax.items);
        self.file.comments = comment::scan(self.source);
        self.file.imports = self.imports.into_iter().collect();
        self.file
    }

    /// Notes what items are before any body is lowered.
    pub(super) fn survey(&mut self, site: &Site, items: &[Item]) {
        for item in items {
            match item {
                Item::Mod(it) => {
                    let inner = it.content.as_ref().map_or(&[][..], |it| &it.1);
                    self.survey(&inner_module(site, &it.ident), inner);
                }
                Item::Struct(it) => {
                    let name = join(&site.prefix, &unraw(&it.ident));
                    if matches!(it.fields, syn::Fields::Unnamed(_)) {
                        self.tuple_structs.insert(name.clone());
                    }
                    self.structs.insert(name);
                }
                Item::Fn(it) => {
                    self.functions.insert(join(&site.prefix, &unraw(&it.sig.ident)));
                }
                Item::Impl(it) => self.survey_impl(site, it),
                _ => (),
            }
        }
    }

    fn survey_impl(&mut self, site: &Site, item: &syn::ItemImpl) {
        let Some((path, _)) = &item.trait_ else { return };
        let is_drop = path.segments.last().is_some_and(|it| it.ident == "Drop");
        if let (true, Type::Path(ty)) = (is_drop, &*item.self_ty) {
            let name = self.resolve_path(site, &ty.path);
            self.drop_types.insert(name);
        }
    }

    /// Whether the name is a function of this file, or a constructor.
    pub(super) fn is_callable(&self, full: &str) -> bool {
        matches!(full, "Some" | "Ok" | "Err")
            || self.functions.contains(full)
            || self.tuple_structs.contains(full)
    }

    /// Whether the name is a struct of this file.
    pub(super) fn is_struct(&self, full: &str) -> bool {
        self.structs.contains(full)
    }

    /// Notes a name that tells which libraries the file uses.
    pub(super) fn mention(&mut self, full: &Name) {
        let is_path = full.contains("::") && !full.starts_with("Self::");
        if is_path && !self.imports.contains(full) {
            self.imports.insert(full.clone());
        }
    }

    /// Records names that `use` declarations inside of functions import.
    pub(super) fn extend_imports(&mut self, imports: Vec<Name>) {
        self.imports.extend(imports);
    }

    /// Whether the type is dropped with a visible effect: by its `impl Drop` here, or because it is
    /// called a guard.
    pub(super) fn is_guard(&self, full: &str) -> bool {
        self.drop_types.contains(full) || last_segment(full).ends_with("Guard")
    }

    /// Reserves an id, so that closures can name the function around them.
    pub(super) fn reserve(&mut self, function: Function) -> FuncId {
        self.file.functions.push(function)
    }

    /// Records that something is not analysed.
    pub(super) fn limit(&mut self, span: Span, message: &str) {
        self.file.problems.push(Problem {
            kind: ProblemKind::Limit,
            path: self.source.path.clone(),
            span: Some(span),
            message: message.to_owned(),
        });
    }
}

/// The site of an inline module.
pub(super) fn inner_module(site: &Site, ident: &syn::Ident) -> Site {
    let module = join(&site.prefix, &unraw(ident));
    Site { prefix: module.clone(), module, exempt: site.exempt, ..Site::default() }
}
