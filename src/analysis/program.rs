//! Program: all files joined by name. Which type declares, inherits or implements what; which function
//! a name means; what a constant is worth.
//!
//! Names are compared without case, as PHP does; Rust names that differ only in case are rare enough.
//! A name that is not declared as written is looked up by its last segment, and taken when exactly one
//! declaration has it: re-exports and module paths that the front end cannot see end up right.

use super::memo::Memo;
use crate::base::{IdVec, Language, Name, Source, SourceId, last_segment};
use crate::ir::{
    self, Callee, ClassRef, Const, File, FuncId, FuncRef, Function, InstrKind, PlaceBase, Proj,
    TypeDecl, TypeKind, TypeRef,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::sync::Arc;

/// How deep parents are followed; a cycle ends there.
const MAX_PARENTS: usize = 16;

/// Beyond so many implementations nobody asks how many there are.
const MAX_TARGETS: usize = 16;

/// How often a type's name may be another name of another.
const MAX_ALIASES: usize = 4;

/// All files of a run, joined.
#[derive(Debug)]
pub struct Program<'a> {
    files: FxHashMap<SourceId, &'a File>,
    order: Vec<SourceId>,
    types: FxHashMap<String, Vec<&'a TypeDecl>>,
    types_by_short: FxHashMap<String, Vec<&'a TypeDecl>>,
    functions: FxHashMap<String, Vec<FuncRef>>,
    functions_by_short: FxHashMap<String, Vec<FuncRef>>,
    methods: FxHashMap<String, FxHashMap<String, Vec<FuncRef>>>,
    methods_by_short: FxHashMap<String, Vec<FuncRef>>,
    children: FxHashMap<String, Vec<Name>>,
    consts: FxHashMap<String, &'a ir::ConstDecl>,
    aliases: FxHashMap<String, &'a TypeRef>,
    sources: &'a [Source],
    import_roots: FxHashSet<String>,
    closures: FxHashMap<FuncRef, Vec<FuncRef>>,
    declared_roots: FxHashSet<String>,
    static_calls: FxHashMap<String, BTreeSet<String>>,
    /// Methods that assign a property of their own object, by class and property.
    setters: FxHashMap<(String, Name), Vec<FuncRef>>,
    ancestries: Memo<Arc<[TypeRef]>>,
    resolutions: Memo<Option<FuncRef>>,
    targets: Memo<Arc<[FuncRef]>>,
}

/// `path` seen from `folder`, with `.` and `..` resolved.
fn joined(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> =
        folder.split('/').filter(|it| !it.is_empty() && *it != ".").collect();
    for part in path.split('/') {
        match part {
            "" | "." => (),
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn key(name: &str) -> String {
    name.to_lowercase()
}

/// A class and a method as one key.
fn pair(class: &str, method: &str) -> String {
    [class, method].join("\n")
}

fn first_segment(name: &str) -> &str {
    name.split(['\\', ':']).next().unwrap_or(name)
}

impl<'a> Program<'a> {
    /// Joins the files; their order does not matter for look-ups that find one declaration. `sources`
    /// are what the files were lowered from.
    pub fn link(files: &'a [File], sources: &'a [Source]) -> Self {
        let mut out = Self {
            files: FxHashMap::default(),
            order: files.iter().map(|it| it.source).collect(),
            types: FxHashMap::default(),
            types_by_short: FxHashMap::default(),
            functions: FxHashMap::default(),
            functions_by_short: FxHashMap::default(),
            methods: FxHashMap::default(),
            methods_by_short: FxHashMap::default(),
            children: FxHashMap::default(),
            consts: FxHashMap::default(),
            aliases: FxHashMap::default(),
            sources,
            import_roots: FxHashSet::default(),
            closures: FxHashMap::default(),
            declared_roots: FxHashSet::default(),
            static_calls: FxHashMap::default(),
            setters: FxHashMap::default(),
            ancestries: Memo::default(),
            resolutions: Memo::default(),
            targets: Memo::default(),
        };
        for file in files {
            out.files.insert(file.source, file);
            out.link_types(file);
            out.link_functions(file);
            for name in &file.imports {
                out.import_roots.insert(key(first_segment(name)));
            }
            for (name, ty) in &file.aliases {
                out.aliases.entry(key(name)).or_insert(ty);
                // A bare name comes from a glob import.
                out.aliases.entry(key(last_segment(name))).or_insert(ty);
            }
            for decl in &file.consts {
                out.consts.entry(key(&decl.name)).or_insert(decl);
                out.consts.entry(key(last_segment(&decl.name))).or_insert(decl);
            }
        }
        out.sort_children();
        out
    }

    fn link_types(&mut self, file: &'a File) {
        for decl in &file.types {
            self.declared_roots.insert(key(first_segment(&decl.name)));
            self.types.entry(key(&decl.name)).or_default().push(decl);
            if decl.kind != TypeKind::Impl {
                let short = key(last_segment(&decl.name));
                self.types_by_short.entry(short).or_default().push(decl);
            }
            for parent in decl.parents.iter().chain(&decl.traits) {
                self.children.entry(key(&parent.name)).or_default().push(decl.name.clone());
                let short = key(last_segment(&parent.name));
                if short != key(&parent.name) {
                    self.children.entry(short).or_default().push(decl.name.clone());
                }
            }
        }
    }

    fn link_functions(&mut self, file: &'a File) {
        for (func, it) in file.functions.iter_ids() {
            let at = FuncRef { source: file.source, func };
            if let Some(parent) = it.parent {
                let parent = FuncRef { source: file.source, func: parent };
                self.closures.entry(parent).or_default().push(at);
            }
            self.link_static_calls(it);
            self.link_setters(at, it);
            match (&it.class, it.kind) {
                (_, ir::FunctionKind::Closure | ir::FunctionKind::Script) => (),
                (Some(class), _) => {
                    let of = self.methods.entry(key(class)).or_default();
                    of.entry(key(&it.short)).or_default().push(at);
                    self.methods_by_short.entry(key(&it.short)).or_default().push(at);
                }
                (None, _) => {
                    self.functions.entry(key(&it.name)).or_default().push(at);
                    self.functions_by_short.entry(key(&it.short)).or_default().push(at);
                }
            }
        }
    }

    fn link_static_calls(&mut self, func: &Function) {
        for block in &func.cfg.blocks {
            for instr in &block.instrs {
                let InstrKind::Call(call) = &instr.kind else { continue };
                let Callee::Static { class, name } = &call.callee else { continue };
                let class = match class {
                    ClassRef::Named(class) => Some(class),
                    ClassRef::SelfType | ClassRef::LateStatic => func.class.as_ref(),
                    ClassRef::Parent | ClassRef::Dynamic(_) => None,
                };
                if let Some(class) = class {
                    self.static_calls.entry(key(class)).or_default().insert(key(name));
                }
            }
        }
    }

    fn link_setters(&mut self, at: FuncRef, func: &Function) {
        let (Some(class), Some(this)) = (&func.class, func.receiver()) else { return };
        for block in &func.cfg.blocks {
            for instr in &block.instrs {
                let InstrKind::Assign(place, _) = &instr.kind else { continue };
                let ([Proj::Field(name)], PlaceBase::Local(base)) = (&*place.proj, &place.base)
                else {
                    continue;
                };
                if *base == this {
                    let of = self.setters.entry((key(class), name.clone())).or_default();
                    if !of.contains(&at) {
                        of.push(at);
                    }
                }
            }
        }
    }

    fn sort_children(&mut self) {
        #[expect(clippy::iter_over_hash_type, reason = "each entry is sorted on its own")]
        for names in self.children.values_mut() {
            names.sort_unstable();
            names.dedup();
        }
    }

    /// Whether some file names something below that first namespace segment or crate.
    pub fn imports_root(&self, root: &str) -> bool {
        self.import_roots.contains(&key(root))
    }

    /// Whether a class below that first namespace segment is declared, or the class has no namespace.
    pub fn is_own_class(&self, class: &str) -> bool {
        !class.contains('\\') || self.declared_roots.contains(&key(first_segment(class)))
    }

    /// Whether the program calls that static method on that class, as it names it.
    pub fn calls_static(&self, class: &str, method: &str) -> bool {
        self.static_calls.get(&key(class)).is_some_and(|it| it.contains(&key(method)))
    }

    /// Files in the order given.
    pub fn files(&self) -> impl Iterator<Item = &'a File> {
        self.order.iter().filter_map(|it| self.files.get(it).copied())
    }

    /// The file of a source.
    pub fn file(&self, source: SourceId) -> &'a File {
        self.files[&source]
    }

    /// The `.sql` file that `path` means where it is written: relative to the file that names it, or to a
    /// folder above it.
    pub fn script(&self, path: &str, from: SourceId) -> Option<&'a Source> {
        let from = self.sources.iter().find(|it| it.id == from).map_or("", |it| &it.path);
        let folder = from.rsplit_once('/').map_or("", |it| it.0);
        let exact = joined(folder, path);
        let tail = path.trim_start_matches(['.', '/']);
        let scripts = self.sources.iter().filter(|it| it.language == Language::Sql && !it.exempt);
        let shared = |it: &str| it.bytes().zip(from.bytes()).take_while(|(a, b)| a == b).count();
        scripts
            .filter(|it| {
                let front = it.path.strip_suffix(tail);
                it.path == exact
                    || !tail.is_empty()
                        && front.is_some_and(|it| it.is_empty() || it.ends_with('/'))
            })
            .max_by_key(|it| (it.path == exact, shared(&it.path), std::cmp::Reverse(it.id)))
    }

    /// A function of the program.
    pub fn function(&self, at: FuncRef) -> &'a Function {
        &self.files[&at.source].functions[at.func]
    }

    /// Whether a function, or what would stand at it, is test code.
    pub fn is_exempt(&self, at: FuncRef) -> bool {
        let file = self.files[&at.source];
        file.exempt || file.functions.get(at.func).is_some_and(|it| it.exempt)
    }

    /// The path of a source, for people.
    pub fn path(&self, source: SourceId) -> &'a str {
        self.sources.get(source.0 as usize).filter(|it| it.id == source).map_or("", |it| &it.path)
    }

    /// The functions of a file.
    pub fn functions_of(&self, source: SourceId) -> &'a IdVec<FuncId, Function> {
        &self.files[&source].functions
    }

    /// The closures that stand directly in a function.
    pub fn closures_of(&self, at: FuncRef) -> &[FuncRef] {
        self.closures.get(&at).map(Vec::as_slice).unwrap_or_default()
    }

    /// The language a function is written in.
    pub fn language(&self, at: FuncRef) -> Language {
        self.files[&at.source].language
    }

    /// Every function, file by file.
    pub fn all_functions(&self) -> impl Iterator<Item = FuncRef> {
        self.files()
            .flat_map(|file| file.functions.ids().map(|func| FuncRef { source: file.source, func }))
    }

    /// The declarations of a type (several for Rust `impl` blocks); empty when the program has none.
    pub fn type_decls(&self, name: &str) -> &[&'a TypeDecl] {
        if let Some(found) = self.types.get(&key(name)) {
            return found;
        }
        match self.types_by_short.get(&key(last_segment(name))) {
            Some(found) if found.len() == 1 => found,
            _ => &[],
        }
    }

    /// The one declaration with fields or parents.
    pub fn type_decl(&self, name: &str) -> Option<&'a TypeDecl> {
        let all = self.type_decls(name);
        all.iter().find(|it| it.kind != TypeKind::Impl).or_else(|| all.first()).copied()
    }

    /// The type itself and everything it extends, implements or uses, nearest first. Library types are
    /// in it by name.
    pub fn ancestry(&self, name: &str) -> Arc<[TypeRef]> {
        self.ancestries.get(name, || self.find_ancestry(name).into())
    }

    fn find_ancestry(&self, name: &str) -> Vec<TypeRef> {
        let mut out: Vec<TypeRef> = vec![TypeRef::named(self.canonical(name))];
        let mut seen: FxHashSet<String> = FxHashSet::default();
        seen.insert(key(&out[0].name));
        let mut next = 0;
        while next < out.len() && out.len() < MAX_PARENTS * 4 {
            let current = out[next].name.clone();
            next += 1;
            for decl in self.type_decls(&current) {
                for parent in decl.parents.iter().chain(&decl.traits) {
                    let name = self.canonical(&parent.name);
                    if seen.insert(key(&name)) {
                        out.push(TypeRef { name, ..parent.clone() });
                    }
                }
            }
        }
        out
    }

    /// What a type is called where it is declared: aliases and re-exports seen through.
    pub fn unaliased(&self, ty: &TypeRef) -> TypeRef {
        let mut ty = ty.clone();
        for _ in 0..MAX_ALIASES {
            let Some(target) = self.aliases.get(&key(&ty.name)) else { break };
            if target.name == ty.name {
                break;
            }
            ty = TypeRef { by_ref: ty.by_ref, ..(*target).clone() };
        }
        ty
    }

    /// The declared name of a type, or the name as given.
    pub fn canonical(&self, name: &str) -> Name {
        if self.aliases.contains_key(&key(name)) {
            let target = self.unaliased(&TypeRef::named(name)).name;
            if *target != *name && !self.types.contains_key(&key(name)) {
                return self.type_decl(&target).map_or(target, |it| it.name.clone());
            }
        }
        self.type_decl(name).map_or_else(|| name.into(), |it| it.name.clone())
    }

    /// Whether `name` is, extends or implements `ancestor`.
    pub fn is_a(&self, name: &str, ancestor: &str) -> bool {
        self.ancestry(name).iter().any(|it| it.name.eq_ignore_ascii_case(ancestor))
    }

    /// The method that a call on `class` runs, looked up through traits and parents. An abstract one is
    /// found last.
    pub fn method(&self, class: &str, method: &str) -> Option<FuncRef> {
        self.resolutions.get(&pair(class, method), || self.find_method(class, method))
    }

    fn find_method(&self, class: &str, method: &str) -> Option<FuncRef> {
        let method = key(method);
        let mut declared = None;
        for ty in self.ancestry(class).iter() {
            let Some(found) = self.methods.get(&key(&ty.name)).and_then(|it| it.get(&method))
            else {
                continue;
            };
            for &at in found {
                if !self.function(at).is_abstract {
                    return Some(at);
                }
                declared = declared.or(Some(at));
            }
        }
        declared
    }

    /// Everything a call on a value of static type `class` may run: the method itself, or for an
    /// abstract one its implementations below `class`, at most `limit` (more: none at all).
    pub fn method_targets(&self, class: &str, method: &str, limit: usize) -> Arc<[FuncRef]> {
        let found = self
            .targets
            .get(&pair(class, method), || self.find_method_targets(class, method).into());
        if found.len() > limit { Arc::default() } else { found }
    }

    fn find_method_targets(&self, class: &str, method: &str) -> Vec<FuncRef> {
        match self.method(class, method) {
            Some(at) if !self.function(at).is_abstract => vec![at],
            _ => {
                let mut out = Vec::new();
                for child in self.descendants(class) {
                    if let Some(at) = self.method(&child, method)
                        && !self.function(at).is_abstract
                        && !out.contains(&at)
                    {
                        out.push(at);
                    }
                    if out.len() > MAX_TARGETS {
                        break;
                    }
                }
                out
            }
        }
    }

    /// Types below `class`, children first.
    pub fn descendants(&self, class: &str) -> Vec<Name> {
        let mut out: Vec<Name> = Vec::new();
        let mut queue = vec![Name::from(class)];
        while let Some(current) = queue.pop() {
            if out.len() > 256 {
                break;
            }
            for child in self.children.get(&key(&current)).into_iter().flatten() {
                if !out.contains(child) {
                    out.push(child.clone());
                    queue.push(child.clone());
                }
            }
        }
        out
    }

    /// The types that use a trait; empty for anything else.
    pub fn users(&self, name: &str) -> Vec<Name> {
        let is_trait = self.type_decl(name).is_some_and(|it| it.kind == TypeKind::Trait);
        if is_trait { self.descendants(name) } else { Vec::new() }
    }

    /// A free function by full name, or by its last segment when only one has it.
    pub fn free_function(&self, name: &str) -> Option<FuncRef> {
        if let Some(found) = self.functions.get(&key(name)) {
            return found.first().copied();
        }
        match self.functions_by_short.get(&key(last_segment(name))).map(Vec::as_slice) {
            Some([one]) => Some(*one),
            _ => None,
        }
    }

    /// Methods of that name in any type.
    pub fn methods_named(&self, method: &str) -> &[FuncRef] {
        self.methods_by_short.get(&key(method)).map(Vec::as_slice).unwrap_or_default()
    }

    /// The one concrete method of that name in the program; none when two types have it.
    pub fn unique_method(&self, method: &str) -> Option<FuncRef> {
        let mut concrete =
            self.methods_named(method).iter().filter(|it| !self.function(**it).is_abstract);
        match (concrete.next(), concrete.next()) {
            (Some(one), None) => Some(*one),
            _ => None,
        }
    }

    /// A property or field of a type or its ancestors.
    pub fn property(&self, class: &str, name: &str) -> Option<&'a ir::Property> {
        self.ancestry(class).iter().find_map(|ty| {
            self.type_decls(&ty.name)
                .iter()
                .find_map(|decl| decl.properties.iter().find(|it| *it.name == *name))
        })
    }

    /// The methods of a type or its ancestors that assign one of their own properties.
    pub fn setters(&self, class: &str, property: &Name) -> Vec<FuncRef> {
        let of = |ty: &TypeRef| self.setters.get(&(key(&ty.name), property.clone()));
        self.ancestry(class).iter().filter_map(of).flatten().copied().collect()
    }

    /// A class constant or enum case.
    pub fn class_const(
        &self,
        class: &str,
        name: &str,
    ) -> Option<(&'a TypeDecl, &'a ir::ConstDecl)> {
        self.ancestry(class).iter().find_map(|ty| {
            self.type_decls(&ty.name).iter().find_map(|decl| {
                let found = decl.consts.iter().find(|it| *it.name == *name)?;
                Some((*decl, found))
            })
        })
    }

    /// A free constant by full name or last segment.
    pub fn free_const(&self, name: &str) -> Option<&'a ir::ConstDecl> {
        self.consts.get(&key(name)).or_else(|| self.consts.get(&key(last_segment(name)))).copied()
    }

    /// The value of a constant, followed through other constants a few times.
    pub fn const_value(&self, class: Option<&str>, name: &str) -> Option<&'a Const> {
        let mut class: Option<Name> = class.map(Into::into);
        let mut name: Name = name.into();
        for _ in 0..4 {
            let (owner, decl) = match &class {
                Some(class) => {
                    let (owner, decl) = self.class_const(class, &name)?;
                    (Some(owner.name.clone()), decl)
                }
                None => (None, self.free_const(&name)?),
            };
            match &decl.value {
                Const::Named { class: of, name: next } => {
                    class = match of {
                        Some(ClassRef::Named(it)) => Some(it.clone()),
                        Some(_) => owner,
                        None => None,
                    };
                    name = next.clone();
                }
                value => return Some(value),
            }
        }
        None
    }
}
