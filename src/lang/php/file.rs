//! What does lowering one file carry along: the text, names in force, depth, and what it made so far.

use super::doc_type::is_builtin;
use super::names::{self, Names};
use super::syntax::{Node, first_child};
use crate::base::{Comment, Name, Problem, ProblemKind, Source, Span};
use crate::ir::{CfgBuilder, File, FuncId, Function, FunctionKind, TypeRef, Visibility};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// How deep expressions, statements and declarations may nest.
const MAX_DEPTH: usize = 250;
/// How many problems of one file are worth telling.
const MAX_PROBLEMS: usize = 20;

/// The state of lowering one file.
pub(super) struct FileCtx<'a> {
    pub(super) source: &'a Source,
    pub(super) out: File,
    pub(super) names: Names,
    /// Lower-cased short names of the functions that the file declares.
    pub(super) declared: FxHashSet<String>,
    imports: BTreeSet<Name>,
    /// Lines that hold anonymous classes, once for each.
    anonymous: Vec<usize>,
    depth: usize,
}

impl<'a> FileCtx<'a> {
    pub(super) fn new(source: &'a Source) -> Self {
        let mut out = File::empty(source.id, source.language);
        out.exempt = source.exempt;
        Self {
            source,
            out,
            names: Names::default(),
            declared: FxHashSet::default(),
            imports: BTreeSet::new(),
            anonymous: Vec::new(),
            depth: 0,
        }
    }

    pub(super) fn finish(mut self) -> File {
        // Classes inside of methods are done before the class around them.
        self.out.types.sort_by_key(|it| it.span.start);
        self.out.imports = self.imports.into_iter().collect();
        self.out
    }

    pub(super) fn text(&self, node: Node<'_>) -> &'a str {
        self.slice(node.start_byte(), node.end_byte())
    }

    pub(super) fn slice(&self, start: usize, end: usize) -> &'a str {
        self.source.text.get(start..end).unwrap_or_default()
    }

    pub(super) fn span(&self, node: Node<'_>) -> Span {
        Span::new(self.source.id, node.start_byte(), node.end_byte())
    }

    /// The empty span behind `node`.
    pub(super) fn end_of(&self, node: Node<'_>) -> Span {
        Span::new(self.source.id, node.end_byte(), node.end_byte())
    }

    pub(super) fn problem(&mut self, kind: ProblemKind, span: Span, message: &str) {
        if self.out.problems.len() < MAX_PROBLEMS {
            self.out.problems.push(Problem {
                kind,
                path: self.source.path.clone(),
                span: Some(span),
                message: message.to_owned(),
            });
        }
    }

    /// Goes one level down; false, with a problem recorded, when that is too deep. Every `true` is
    /// followed by [`Self::leave`].
    pub(super) fn enter(&mut self, node: Node<'_>) -> bool {
        if self.depth >= MAX_DEPTH {
            let span = self.span(node);
            self.problem(ProblemKind::Limit, span, "code nests too deeply; this part is skipped");
            return false;
        }
        self.depth += 1;
        true
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Resolves a class name and keeps it as evidence of what the file uses.
    pub(super) fn class_name(&mut self, written: &str) -> Name {
        let name = self.names.class(written);
        self.note_import(&name);
        name
    }

    /// Resolves a function name as called.
    pub(super) fn function_name(&mut self, written: &str) -> Name {
        let known = self.declared.contains(&written.to_lowercase());
        let name = self.names.function(written, known);
        if name.contains('\\') {
            self.note_import(&name);
        }
        name
    }

    pub(super) fn note_import(&mut self, name: &Name) {
        if !self.imports.contains(name) {
            self.imports.insert(name.clone());
        }
    }

    /// Keeps the class names of a documented type as evidence.
    pub(super) fn note_type(&mut self, ty: &TypeRef) {
        if !is_builtin(&ty.name) {
            self.note_import(&ty.name);
        }
        for it in ty.args.iter().chain(&ty.alternatives) {
            self.note_type(it);
        }
    }

    /// A place for a function that is about to be lowered.
    pub(super) fn reserve(&mut self, span: Span) -> FuncId {
        let (cfg, locals) = CfgBuilder::new(span).finish();
        self.out.functions.push(Function {
            name: "".into(),
            short: "".into(),
            kind: FunctionKind::Free,
            class: None,
            of_trait: None,
            params: Vec::new(),
            ret: None,
            captures: Vec::new(),
            parent: None,
            attrs: Vec::new(),
            doc: None,
            visibility: Visibility::Public,
            is_async: false,
            is_generator: false,
            is_abstract: false,
            exempt: self.source.exempt,
            locals,
            cfg,
            span,
            name_span: span,
        })
    }

    /// The doc comment that belongs to a declaration: right before it, or behind its attributes.
    pub(super) fn doc_of(&self, node: Node<'_>) -> Option<&Comment> {
        let past_attributes = first_child(node)
            .filter(|it| it.kind() == "attribute_list")
            .and_then(|it| self.doc_after(it.end_byte()));
        past_attributes.or_else(|| self.doc_before(node.start_byte()))
    }

    fn doc_before(&self, start: usize) -> Option<&Comment> {
        let mut end = start;
        let upto = self.out.comments.partition_point(|it| it.span.range().end <= start);
        for comment in self.out.comments[..upto].iter().rev() {
            if !self.slice(comment.span.range().end, end).trim().is_empty() {
                return None;
            }
            if self.is_doc(comment) {
                return Some(comment);
            }
            end = comment.span.range().start;
        }
        None
    }

    fn doc_after(&self, end: usize) -> Option<&Comment> {
        let idx = self.out.comments.partition_point(|it| it.span.range().start < end);
        let comment = self.out.comments.get(idx)?;
        let gap = self.slice(end, comment.span.range().start);
        (gap.trim().is_empty() && self.is_doc(comment)).then_some(comment)
    }

    fn is_doc(&self, comment: &Comment) -> bool {
        let range = comment.span.range();
        self.slice(range.start, range.end).starts_with("/**")
    }

    /// A name for an anonymous class: `class@12`, the next one on that line `class@12#1`.
    pub(super) fn anonymous_name(&mut self, node: Node<'_>) -> Name {
        let line = node.start_position().row + 1;
        let n_before = self.anonymous.iter().filter(|it| **it == line).count();
        self.anonymous.push(line);
        let suffix = if n_before == 0 { String::new() } else { format!("#{n_before}") };
        self.names.declared(&format!("class@{line}{suffix}"))
    }

    /// The name of something that is declared in the namespace in force.
    pub(super) fn declared_name(&self, node: Option<Node<'_>>) -> Name {
        let short = node.map_or("", |it| self.text(it));
        self.names.declared(&names::clean(short))
    }
}
