//! Macros: the known ones by what they expand to, the others by what their tokens look like.

use super::block::unit_value;
use super::body::{Body, Want};
use super::call::Outgoing;
use super::macro_tokens::{
    Json, MacroArg, Matches, Pair, Repeat, Typed, last_name, parse_args, parse_exprs, parse_stmts,
};
use super::pattern::Bindings;
use crate::base::Span;
use crate::ir::{
    Arg, ArrayItem, BinaryOp, BlockId, Callee, Const, Operand, Place, Proj, Rvalue, Terminator,
    TypeRef,
};
use syn::punctuated::Punctuated;
use syn::{Expr, Macro, Token};

impl Body<'_, '_> {
    /// What a macro computes; see `Body::value`.
    #[expect(clippy::too_many_lines, reason = "one arm per kind of macro")]
    pub(super) fn lower_macro(&mut self, mac: &Macro, want: Want) -> Rvalue {
        let span = self.macro_span(mac);
        match last_name(mac).as_str() {
            "format" | "format_args" | "formatdoc" | "formatcp" => self.format_macro(mac),
            "concat" | "concatcp" | "indoc" => self.joined_literals(mac, want),
            "vec" | "smallvec" | "params" | "named_params" | "hashmap" | "btreemap" => {
                self.list_macro(mac, want)
            }
            "json" => match mac.parse_body::<Json>() {
                Ok(json) => self.json(&json),
                Err(_) => self.other_macro(mac, want),
            },
            "matches" | "assert_matches" => self.condition_macro(mac, want),
            "assert" => self.assert_macro(mac, None),
            "assert_eq" => self.assert_macro(mac, Some(BinaryOp::Eq)),
            "assert_ne" => self.assert_macro(mac, Some(BinaryOp::Ne)),
            "ensure" => self.ensure_macro(mac),
            name if name == "bail" || leaves(name) && want == Want::Nothing => {
                let args = parse_args(mac).unwrap_or_default();
                let error = self.message(&args).unwrap_or(Operand::Const(Const::Unknown));
                self.leave_err(error, span);
                unit_value()
            }
            "panic" | "unreachable" | "todo" | "unimplemented" => {
                let args = parse_args(mac).unwrap_or_default();
                self.message(&args);
                self.builder_mut().terminate(Terminator::Exit { span });
                unit_value()
            }
            "dbg" | "pin" => match parse_exprs(mac).as_deref() {
                Some([only]) => self.value(only, want),
                _ => self.other_macro(mac, want),
            },
            "dec" => Self::fixed(Const::Float(mac.tokens.to_string().replace(' ', "").into())),
            "include_str" => {
                Self::fixed(super::constant::included(mac).map_or(Const::Unknown, Const::File))
            }
            "stringify" | "env" | "file" | "line" | "column" | "module_path" => {
                Self::fixed(Const::Unknown)
            }
            "select" | "select_biased" => match self.select_macro(mac, want) {
                Some(value) => value,
                None => self.other_macro(mac, want),
            },
            "join" => match parse_exprs(mac) {
                Some(futures) => {
                    let items = futures.iter().map(|it| {
                        let value = Operand::Local(self.awaited(it));
                        let span = self.unit.spans.expr(it);
                        ArrayItem { key: None, value, spread: false, span }
                    });
                    Rvalue::Array(items.collect())
                }
                None => self.other_macro(mac, want),
            },
            "try_join" => match parse_exprs(mac) {
                Some(futures) => self.try_join(&futures, span),
                None => self.other_macro(mac, want),
            },
            "defer" => match parse_stmts(mac) {
                Some(stmts) => {
                    self.push_deferred(stmts);
                    unit_value()
                }
                None => self.other_macro(mac, want),
            },
            name if prints(name) => self.message_macro(mac, want),
            _ => self.other_macro(mac, want),
        }
    }

    fn macro_span(&self, mac: &Macro) -> Span {
        let first = mac.path.segments.first().map(|it| it.ident.span());
        let close = mac.delimiter.span().close();
        self.unit.spans.between(first.unwrap_or(close), close)
    }

    /// A call of the macro with these arguments.
    fn macro_call(
        &mut self,
        mac: &Macro,
        args: Vec<Arg>,
        type_args: Vec<TypeRef>,
        want: Want,
    ) -> Rvalue {
        let full = self.unit.resolve_path(&self.site, &mac.path);
        self.unit.mention(&full);
        let span = self.macro_span(mac);
        let name_span =
            mac.path.segments.last().map_or(span, |it| self.unit.spans.of(it.ident.span()));
        let callee = Callee::Macro(full);
        self.emit_call(Outgoing { callee, args, type_args, name_span, span }, want)
    }

    fn macro_args<'a>(&mut self, args: impl IntoIterator<Item = &'a MacroArg>) -> Vec<Arg> {
        let mut out = Vec::new();
        for it in args {
            if let Some(key) = &it.key {
                let key = self.arg(key);
                out.push(key);
            }
            let arg = self.arg(&it.expr);
            out.push(Arg { name: it.name.clone(), ..arg });
        }
        out
    }

    /// A macro that nothing is known of: its arguments are evaluated, or its statements run.
    fn other_macro(&mut self, mac: &Macro, want: Want) -> Rvalue {
        if takes_type(&last_name(mac))
            && let Ok(typed) = mac.parse_body::<Typed>()
        {
            let ty = self.unit.type_ref(&self.site, &typed.ty);
            let args = self.macro_args(&typed.args);
            return self.macro_call(mac, with_file(mac, args), vec![ty], want);
        }
        if let Some(args) = parse_args(mac) {
            let args = self.macro_args(&args);
            let args = with_file(mac, args);
            return self.macro_call(mac, args, Vec::new(), want);
        }
        match parse_stmts(mac) {
            Some(stmts) => self.stmts(&stmts, want),
            None => self.hidden_blocks(mac, want),
        }
    }

    /// `db_run! { conn: sqlite, mysql { … } postgresql { … } }`: one of the blocks runs.
    fn hidden_blocks(&mut self, mac: &Macro, want: Want) -> Rvalue {
        let blocks = super::macro_tokens::parse_blocks(mac);
        let span = self.macro_span(mac);
        let Some((last, others)) = blocks.split_last() else {
            return Rvalue::Unknown(Vec::new());
        };
        if others.is_empty() {
            return self.stmts(last, want);
        }
        let dest = self.temp();
        let done = self.new_block();
        for block in others {
            let (this, next) = (self.new_block(), self.new_block());
            self.branch(Operand::Const(Const::Unknown), (this, next), span);
            self.switch_to(this);
            let value = self.stmts(block, Want::Value);
            self.store(dest, value, span);
            self.goto(done);
            self.switch_to(next);
        }
        let value = self.stmts(last, Want::Value);
        self.store(dest, value, span);
        self.goto(done);
        self.switch_to(done);
        Rvalue::Use(Operand::Local(dest))
    }

    /// `concat!("a", "b")`.
    fn joined_literals(&mut self, mac: &Macro, want: Want) -> Rvalue {
        let expr = Expr::Macro(syn::ExprMacro { attrs: Vec::new(), mac: mac.clone() });
        match self.unit.constant_text(&self.site, &expr) {
            Some(text) => Rvalue::Text(text),
            None => self.other_macro(mac, want),
        }
    }

    /// `vec![a, b]`, `params![a]`, `named_params! { ":a": a }`, `params! { "a" => a }`.
    fn list_macro(&mut self, mac: &Macro, want: Want) -> Rvalue {
        if let Some(args) = parse_args(mac) {
            let items = args.iter().map(|it| self.list_item(it)).collect();
            return Rvalue::Array(items);
        }
        if let Ok(Repeat(expr)) = mac.parse_body() {
            return self.array(std::iter::once(&expr));
        }
        match mac.parse_body_with(Punctuated::<Pair, Token![,]>::parse_terminated) {
            Ok(pairs) => {
                let pairs: Vec<_> = pairs.into_iter().collect();
                self.keyed(&pairs)
            }
            Err(_) => self.other_macro(mac, want),
        }
    }

    fn list_item(&mut self, arg: &MacroArg) -> ArrayItem {
        let named = arg.name.clone().map(|it| Operand::Const(Const::Str(it)));
        let key = named.or_else(|| arg.key.as_ref().map(|it| self.operand(it)));
        let span = self.unit.spans.expr(&arg.expr);
        ArrayItem { key, value: self.operand(&arg.expr), spread: false, span }
    }

    fn keyed(&mut self, pairs: &[Pair]) -> Rvalue {
        let items = pairs.iter().map(|it| {
            let value = self.json(&it.value);
            let value = self.materialize(value, self.unit.spans.expr(&it.key));
            let key = Some(self.operand(&it.key));
            ArrayItem { key, value, spread: false, span: self.unit.spans.expr(&it.key) }
        });
        Rvalue::Array(items.collect())
    }

    fn json(&mut self, json: &Json) -> Rvalue {
        match json {
            Json::Null => unit_value(),
            Json::Expr(expr) => self.value(expr, Want::Value),
            Json::Map(pairs) => self.keyed(pairs),
            Json::List(items) => {
                let nowhere = self.unit.spans.nowhere();
                let items = items.iter().map(|it| {
                    let value = self.json(it);
                    let value = self.materialize(value, nowhere);
                    ArrayItem { key: None, value, spread: false, span: nowhere }
                });
                Rvalue::Array(items.collect())
            }
        }
    }

    /// Whether an arm is nothing but a macro that leaves: `None => err!("gone"),`.
    pub(super) fn is_leaving(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Macro(it) if leaves(&last_name(&it.mac)))
    }

    /// A condition that is a macro, as a jump; false when the macro is no condition.
    pub(super) fn jump_macro(&mut self, mac: &Macro, then: BlockId, otherwise: BlockId) -> bool {
        if !matches!(last_name(mac).as_str(), "matches" | "assert_matches") {
            return false;
        }
        let Ok(it) = mac.parse_body::<Matches>() else { return false };
        let subject = self.subject(&it.expr);
        self.frame().scopes.push(super::body::Names::default());
        let mut bindings = Bindings::new();
        self.bindings_of(&it.pat, &mut bindings);
        self.match_pattern(&it.pat, &Place::local(subject), &bindings, otherwise);
        self.reveal(&bindings);
        match &it.guard {
            Some(guard) => self.jump(guard, then, otherwise),
            None => self.goto(then),
        }
        self.frame().scopes.pop();
        true
    }

    /// `matches!` as a value.
    fn condition_macro(&mut self, mac: &Macro, want: Want) -> Rvalue {
        let expr = Expr::Macro(syn::ExprMacro { attrs: Vec::new(), mac: mac.clone() });
        if mac.parse_body::<Matches>().is_err() {
            return self.other_macro(mac, want);
        }
        self.condition_value(&expr, want)
    }

    /// `assert!` and the like: the process ends when the condition is false.
    fn assert_macro(&mut self, mac: &Macro, compares: Option<BinaryOp>) -> Rvalue {
        let span = self.macro_span(mac);
        let Some(args) = parse_exprs(mac) else { return unit_value() };
        let (holds, fails) = (self.new_block(), self.new_block());
        match (compares, args.as_slice()) {
            (None, [cond, ..]) => self.jump(cond, holds, fails),
            (Some(op), [left, right, ..]) => {
                let left = self.operand(left);
                let right = self.operand(right);
                let cond = self.builder_mut().eval(Rvalue::Binary(op, left, right), span);
                self.branch(cond, (holds, fails), span);
            }
            _ => self.goto(holds),
        }
        self.switch_to(fails);
        self.builder_mut().terminate(Terminator::Exit { span });
        self.switch_to(holds);
        unit_value()
    }

    /// `ensure!(cond, …)`: an error leaves the function when the condition is false.
    fn ensure_macro(&mut self, mac: &Macro) -> Rvalue {
        let span = self.macro_span(mac);
        let Some(args) = parse_args(mac) else { return unit_value() };
        let Some((cond, message)) = args.split_first() else { return unit_value() };
        let (holds, fails) = (self.new_block(), self.new_block());
        self.jump(&cond.expr, holds, fails);
        self.switch_to(fails);
        let error = self.message(message).unwrap_or(Operand::Const(Const::Unknown));
        self.leave_err(error, span);
        self.switch_to(holds);
        unit_value()
    }

    /// `info!(field = x, "text {y}", z)`, `write!(out, "…")`, `anyhow!("…")`.
    fn message_macro(&mut self, mac: &Macro, want: Want) -> Rvalue {
        let Some(args) = parse_args(mac) else { return self.other_macro(mac, want) };
        let is_literal = |it: &MacroArg| it.name.is_none() && is_string(&it.expr);
        let at = args.iter().position(is_literal).unwrap_or(args.len());
        let (fields, message) = args.split_at(at);
        let mut out = self.macro_args(fields);
        if let Some(first) = message.first() {
            let span = self.unit.spans.expr(&first.expr);
            let value = self.format(message);
            let value = self.materialize(value, span);
            out.push(Arg { value, place: None, name: None, spread: false, span });
        }
        self.macro_call(mac, out, Vec::new(), want)
    }

    /// `try_join!(a, b)`: the first `Err`, or `Ok` of all that is inside.
    fn try_join(&mut self, futures: &[Expr], span: Span) -> Rvalue {
        let dest = self.temp();
        let done = self.new_block();
        let subjects: Vec<_> = futures.iter().map(|it| self.awaited(it)).collect();
        let mut items = Vec::new();
        for subject in subjects {
            let test = Rvalue::IsVariant(Operand::Local(subject), "Err".into());
            let test = self.builder_mut().eval(test, span);
            let (fails, holds) = (self.new_block(), self.new_block());
            self.branch(test, (fails, holds), span);
            self.switch_to(fails);
            self.store(dest, Rvalue::Use(Operand::Local(subject)), span);
            self.goto(done);
            self.switch_to(holds);
            let inside = Place::local(subject).project(Proj::Variant("Ok".into(), 0));
            let value = self.builder_mut().eval(Rvalue::Load(inside), span);
            items.push(ArrayItem { key: None, value, spread: false, span });
        }
        let all = self.builder_mut().eval(Rvalue::Array(items), span);
        let ok = TypeRef::named("Ok");
        self.store(
            dest,
            Rvalue::Struct { ty: ok, fields: vec![("0".into(), all)], base: None },
            span,
        );
        self.goto(done);
        self.switch_to(done);
        Rvalue::Use(Operand::Local(dest))
    }
}

/// Macros that projects leave a function with, by their names: `err!("no such job");`.
fn leaves(name: &str) -> bool {
    let first = name.split('_').next().unwrap_or(name);
    matches!(first, "err" | "throw" | "fail" | "bail" | "yeet")
}

/// Macros whose arguments end in a format string.
fn prints(name: &str) -> bool {
    matches!(
        name,
        "println"
            | "print"
            | "eprintln"
            | "eprint"
            | "write"
            | "writeln"
            | "info"
            | "warn"
            | "error"
            | "debug"
            | "trace"
            | "log"
            | "event"
            | "anyhow"
            | "eyre"
            | "format_err"
    )
}

/// `query_file!("poll.sql", …)`: the text of the file in place of its path.
fn with_file(mac: &Macro, mut args: Vec<Arg>) -> Vec<Arg> {
    if last_name(mac).starts_with("query_file")
        && let Some(first) = args.first_mut()
        && let Operand::Const(Const::Str(path)) = &first.value
    {
        first.value = Operand::Const(Const::File(path.clone()));
    }
    args
}

/// `query_as!`, `query_file_as_unchecked!`.
fn takes_type(name: &str) -> bool {
    name.ends_with("_as") || name.contains("_as_")
}

fn is_string(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(it) => matches!(it.lit, syn::Lit::Str(_)),
        Expr::Macro(it) => matches!(last_name(&it.mac).as_str(), "concat" | "indoc"),
        _ => false,
    }
}
