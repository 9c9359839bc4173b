//! What is a constant expression worth, without running anything?

use super::macro_tokens::{last_name, parse_exprs};
use super::names::Site;
use super::unit::Unit;
use crate::base::Name;
use crate::ir::{Const, Hole, Operand, Piece, Text};
use syn::{Expr, ExprLit, Lit, UnOp};

const MAX_DEPTH: u32 = 30;

impl Unit<'_> {
    /// The value of an expression that is constant on its face.
    pub(super) fn constant(&mut self, site: &Site, expr: &Expr) -> Const {
        self.constant_at(site, expr, MAX_DEPTH)
    }

    fn constant_at(&mut self, site: &Site, expr: &Expr, depth: u32) -> Const {
        let Some(depth) = depth.checked_sub(1) else { return Const::Unknown };
        match expr {
            Expr::Lit(it) => self.literal(&it.lit),
            Expr::Path(it) => self.path_constant(site, it),
            Expr::Reference(it) => self.constant_at(site, &it.expr, depth),
            Expr::Paren(it) => self.constant_at(site, &it.expr, depth),
            Expr::Group(it) => self.constant_at(site, &it.expr, depth),
            Expr::Cast(it) => self.constant_at(site, &it.expr, depth),
            Expr::Unary(it) => match (&it.op, self.constant_at(site, &it.expr, depth)) {
                (UnOp::Neg(_), Const::Int(value)) => {
                    value.checked_neg().map_or(Const::Unknown, Const::Int)
                }
                (UnOp::Neg(_), Const::Float(value)) => Const::Float(format!("-{value}").into()),
                (UnOp::Not(_), Const::Bool(value)) => Const::Bool(!value),
                (UnOp::Deref(_), value) => value,
                _ => Const::Unknown,
            },
            Expr::Tuple(it) if it.elems.is_empty() => Const::Null,
            Expr::Tuple(it) => self.constant_array(site, it.elems.iter(), depth),
            Expr::Array(it) => self.constant_array(site, it.elems.iter(), depth),
            Expr::Macro(it) if last_name(&it.mac) == "include_str" => {
                included(&it.mac).map_or(Const::Unknown, Const::File)
            }
            Expr::Macro(_) => match self.constant_text(site, expr).and_then(|it| as_literal(&it)) {
                Some(value) => Const::Str(value),
                None => Const::Unknown,
            },
            _ => Const::Unknown,
        }
    }

    fn constant_array<'a>(
        &mut self,
        site: &Site,
        elems: impl Iterator<Item = &'a Expr>,
        depth: u32,
    ) -> Const {
        let values = elems.map(|it| (Const::Null, self.constant_at(site, it, depth)));
        Const::Array(values.collect())
    }

    /// The value of a literal.
    pub(super) fn literal(&self, lit: &Lit) -> Const {
        match lit {
            Lit::Str(it) => Const::Str(self.cook(it).value.into()),
            Lit::Char(it) => Const::Str(it.value().to_string().into()),
            Lit::Int(it) => it.base10_parse().map_or(Const::Unknown, Const::Int),
            Lit::Byte(it) => Const::Int(it.value().into()),
            Lit::Float(it) => Const::Float(it.base10_digits().into()),
            Lit::Bool(it) => Const::Bool(it.value),
            _ => Const::Unknown,
        }
    }

    /// A string constant with its places: a literal, `concat!`, `concatcp!`, `indoc!`; constants in it
    /// are holes.
    pub(super) fn constant_text(&mut self, site: &Site, expr: &Expr) -> Option<Text> {
        match expr {
            Expr::Lit(it) => match &it.lit {
                Lit::Str(lit) => Some(Text { pieces: vec![self.cook(lit).piece()] }),
                _ => None,
            },
            Expr::Reference(it) => self.constant_text(site, &it.expr),
            Expr::Paren(it) => self.constant_text(site, &it.expr),
            Expr::Group(it) => self.constant_text(site, &it.expr),
            Expr::Macro(it) => self.constant_macro(site, &it.mac),
            _ => None,
        }
    }

    fn constant_macro(&mut self, site: &Site, mac: &syn::Macro) -> Option<Text> {
        let name = last_name(mac);
        if !matches!(name.as_str(), "concat" | "concatcp" | "indoc" | "concat_str" | "sql") {
            return None;
        }
        let mut pieces = Vec::new();
        for arg in parse_exprs(mac)? {
            pieces.push(self.constant_piece(site, &arg));
        }
        Some(Text { pieces })
    }

    fn constant_piece(&mut self, site: &Site, arg: &Expr) -> Piece {
        let span = self.spans.expr(arg);
        match arg {
            Expr::Lit(ExprLit { lit: Lit::Str(lit), .. }) => self.cook(lit).piece(),
            Expr::Lit(it) => {
                Piece::Lit { value: printed(&self.literal(&it.lit)), span, offsets: Vec::new() }
            }
            _ => {
                let value = Operand::Const(self.constant(site, arg));
                Piece::Hole(Hole { value, span, numeric: false })
            }
        }
    }
}

/// The path in `include_str!("a.sql")`, `query_file!("a.sql", x)`, `include_str!(concat!(env!("X"), "/a.sql"))`:
/// what stands in it last.
pub(super) fn included(mac: &syn::Macro) -> Option<Name> {
    let args = parse_exprs(mac)?;
    args.iter().find_map(|it| path_in(it, MAX_DEPTH))
}

fn path_in(expr: &Expr, depth: u32) -> Option<Name> {
    let depth = depth.checked_sub(1)?;
    match expr {
        Expr::Lit(ExprLit { lit: Lit::Str(lit), .. }) => Some(lit.value().into()),
        Expr::Paren(it) => path_in(&it.expr, depth),
        Expr::Group(it) => path_in(&it.expr, depth),
        Expr::Macro(it) if last_name(&it.mac) == "concat" => {
            parse_exprs(&it.mac)?.iter().rev().find_map(|it| path_in(it, depth))
        }
        _ => None,
    }
}

fn printed(value: &Const) -> Name {
    match value {
        Const::Int(it) => it.to_string().into(),
        Const::Bool(it) => it.to_string().into(),
        Const::Float(it) | Const::Str(it) => it.clone(),
        _ => "".into(),
    }
}

fn as_literal(text: &Text) -> Option<Name> {
    super::text::as_name(text)
}
