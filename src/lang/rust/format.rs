//! Format strings: `"… {name} … {0:?} … {}"` as a text with holes.

use super::body::{Body, Want};
use super::expr::is_numeric;
use super::macro_tokens::{MacroArg, last_name, parse_args};
use super::text::Cooked;
use crate::base::Name;
use crate::ir::{Const, Hole, Operand, Piece, Rvalue, Text};
use std::collections::BTreeMap;
use std::ops::Range;
use syn::{Expr, Lit};

/// A part of a format string, by byte range in its value.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    Lit(Range<usize>),
    Hole { arg: HoleArg, range: Range<usize> },
}

#[derive(Clone, Debug, PartialEq)]
enum HoleArg {
    Next,
    Position(usize),
    Named(String),
}

/// Splits a format string; a brace that is never closed belongs to the literal.
fn split(value: &str) -> Vec<Part> {
    let bytes = value.as_bytes();
    let mut out = Vec::new();
    let (mut from, mut at) = (0, 0);
    while at < bytes.len() {
        if matches!(bytes[at], b'{' | b'}') && bytes.get(at + 1) == Some(&bytes[at]) {
            at += 2;
            continue;
        }
        let close = value[at..].find('}').filter(|_| bytes[at] == b'{').map(|it| at + it);
        let Some(close) = close else {
            at += value[at..].chars().next().map_or(1, char::len_utf8);
            continue;
        };
        if from < at {
            out.push(Part::Lit(from..at));
        }
        push_hole(&value[at + 1..close], at..close + 1, &mut out);
        at = close + 1;
        from = at;
    }
    if from < bytes.len() {
        out.push(Part::Lit(from..bytes.len()));
    }
    out
}

fn push_hole(inside: &str, range: Range<usize>, out: &mut Vec<Part>) {
    let (name, spec) = inside.split_once(':').unwrap_or((inside, ""));
    let name = name.trim();
    let arg = match name.parse() {
        Ok(position) => HoleArg::Position(position),
        Err(_) if name.is_empty() => HoleArg::Next,
        Err(_) => HoleArg::Named(name.to_owned()),
    };
    // `{:.*}` takes its precision from the arguments first; it prints nothing by itself.
    if spec.contains(".*") && arg == HoleArg::Next {
        out.push(Part::Hole { arg: HoleArg::Next, range: range.start..range.start });
    }
    out.push(Part::Hole { arg, range });
}

/// The arguments behind a format string, evaluated.
struct FormatArgs {
    positional: Vec<Value>,
    named: BTreeMap<Name, Value>,
}

#[derive(Clone)]
struct Value {
    operand: Operand,
    numeric: bool,
}

impl Body<'_, '_> {
    /// `format!(…)`.
    pub(super) fn format_macro(&mut self, mac: &syn::Macro) -> Rvalue {
        match parse_args(mac) {
            Some(args) => self.format(&args),
            None => Rvalue::Unknown(Vec::new()),
        }
    }

    /// A format string and what it prints.
    pub(super) fn format(&mut self, args: &[MacroArg]) -> Rvalue {
        let Some((first, rest)) = args.split_first() else {
            return Rvalue::Use(Operand::Const(Const::Str("".into())));
        };
        let Some(literals) = self.format_literals(&first.expr) else {
            let first = std::iter::once(first);
            let all = first.chain(rest).map(|it| self.operand(&it.expr)).collect();
            return Rvalue::Unknown(all);
        };
        let args = self.format_args(rest);
        let mut next = 0;
        let mut pieces = Vec::new();
        for cooked in &literals {
            for part in split(&cooked.value) {
                let piece = self.format_part(cooked, part, &args, &mut next);
                pieces.extend(piece);
            }
        }
        Rvalue::Text(Text { pieces })
    }

    /// The literals that a format string consists of.
    fn format_literals(&mut self, expr: &Expr) -> Option<Vec<Cooked>> {
        match expr {
            Expr::Lit(it) => match &it.lit {
                Lit::Str(lit) => Some(vec![self.unit.cook(lit)]),
                _ => None,
            },
            Expr::Group(it) => self.format_literals(&it.expr),
            Expr::Macro(it) if matches!(last_name(&it.mac).as_str(), "concat" | "indoc") => {
                let args = super::macro_tokens::parse_exprs(&it.mac)?;
                let parts: Option<Vec<_>> =
                    args.iter().map(|it| self.format_literals(it)).collect();
                Some(parts?.into_iter().flatten().collect())
            }
            _ => None,
        }
    }

    fn format_args(&mut self, args: &[MacroArg]) -> FormatArgs {
        let mut out = FormatArgs { positional: Vec::new(), named: BTreeMap::new() };
        for arg in args {
            let operand = self.operand(&arg.expr);
            let value = Value { operand, numeric: is_numeric(&arg.expr) };
            match &arg.name {
                Some(name) => {
                    out.named.insert(name.clone(), value);
                }
                None => out.positional.push(value),
            }
        }
        out
    }

    fn format_part(
        &mut self,
        cooked: &Cooked,
        part: Part,
        args: &FormatArgs,
        next: &mut usize,
    ) -> Option<Piece> {
        let (arg, range) = match part {
            Part::Lit(range) => return Some(cooked.format_piece(range)),
            Part::Hole { arg, range } => (arg, range),
        };
        let value = match arg {
            HoleArg::Next => {
                *next += 1;
                args.positional.get(*next - 1).cloned()
            }
            HoleArg::Position(at) => args.positional.get(at).cloned(),
            HoleArg::Named(name) => {
                args.named.get(name.as_str()).cloned().or_else(|| self.inline_capture(&name))
            }
        };
        let unknown = Value { operand: Operand::Const(Const::Unknown), numeric: false };
        let Value { operand, numeric } = value.unwrap_or(unknown);
        let span = cooked.part_span(range.clone());
        (!range.is_empty()).then_some(Piece::Hole(Hole { value: operand, span, numeric }))
    }

    /// `{name}`: a variable or constant in scope.
    fn inline_capture(&mut self, name: &str) -> Option<Value> {
        let ident = syn::parse_str::<syn::Ident>(name).ok()?;
        let path = syn::ExprPath { attrs: Vec::new(), qself: None, path: ident.into() };
        let value = match self.variable(name) {
            Some(local) => Rvalue::Use(Operand::Local(local)),
            None => self.unit.path_value(&self.site, &path),
        };
        match value {
            Rvalue::Use(operand) => Some(Value { operand, numeric: false }),
            _ => None,
        }
    }

    /// A message as an argument: a format string, or a value.
    pub(super) fn message(&mut self, args: &[MacroArg]) -> Option<Operand> {
        let first = args.first()?;
        let span = self.unit.spans.expr(&first.expr);
        let is_literal = self.format_literals(&first.expr).is_some();
        let value = match args {
            [only] if !is_literal => self.value(&only.expr, Want::Value),
            args => self.format(args),
        };
        Some(self.materialize(value, span))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(value: &str) -> Vec<String> {
        split(value)
            .into_iter()
            .map(|it| match it {
                Part::Lit(range) => value[range].to_owned(),
                Part::Hole { arg, .. } => format!("{arg:?}"),
            })
            .collect()
    }

    #[test]
    fn holes_of_all_kinds() {
        assert_eq!(
            shown("a {} b {0:?} {name:>4}{{x}}"),
            ["a ", "Next", " b ", "Position(0)", " ", "Named(\"name\")", "{{x}}"]
        );
        assert_eq!(shown("{:.*}"), ["Next", "Next"]);
        assert_eq!(shown("ü{x}ü"), ["ü", "Named(\"x\")", "ü"]);
    }

    #[test]
    fn open_braces_are_literal() {
        assert_eq!(shown("a { b"), ["a { b"]);
        assert_eq!(shown("}"), ["}"]);
        assert_eq!(shown(""), Vec::<String>::new());
    }
}
