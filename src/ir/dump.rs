//! The printed form of the IR: what `rowrace dump lower` shows and what lowering tests pin.
//!
//! One line per instruction. Locals print as `name` or `%n` for temporaries; a name that two locals
//! share gets its number (`job.3`). Only blocks that control can reach are printed.

use super::{
    Arg, ArrayItem, BlockId, Call, Callee, Cfg, ClassRef, Const, File, Function, Instr, InstrKind,
    LocalId, Operand, Piece, Place, PlaceBase, Proj, Rvalue, Statement, Terminator, Text, TypeDecl,
    TypeRef,
};
use crate::base::Lines;
use std::fmt::Write;

/// The whole file.
pub fn dump_file(file: &File, text: &str) -> String {
    let mut out = String::new();
    for decl in &file.types {
        dump_type(decl, &mut out);
    }
    for decl in &file.consts {
        let _ = writeln!(out, "const {} = {}", decl.name, constant(&decl.value));
    }
    let lines = Lines::of(text);
    for func in &file.functions {
        dump_function(func, &lines, &mut out);
    }
    for stmt in &file.statements {
        let _ = writeln!(out, "{}", dump_statement(stmt));
    }
    for problem in &file.problems {
        let line = problem.span.map_or(0, |it| lines.line_index(it.start) + 1);
        let _ = writeln!(out, "problem {:?} line {line}: {}", problem.kind, problem.message);
    }
    out
}

fn dump_type(decl: &TypeDecl, out: &mut String) {
    let parents: Vec<_> = decl.parents.iter().chain(&decl.traits).map(type_ref).collect();
    let _ = writeln!(out, "{:?} {} : {}", decl.kind, decl.name, parents.join(", "));
    for attr in &decl.attrs {
        let _ = writeln!(out, "  #[{}({})]", attr.name, attr.args);
    }
    for it in &decl.properties {
        let ty = it.ty.as_ref().map(type_ref).unwrap_or_default();
        let default = it.default.as_ref().map(|it| format!(" = {}", constant(it)));
        let _ = write!(out, "  {}: {ty}{}", it.name, default.unwrap_or_default());
        for attr in &it.attrs {
            let _ = write!(out, " #[{}]", attr.name);
        }
        out.push('\n');
    }
    for it in &decl.consts {
        let word = if it.is_case { "case" } else { "const" };
        let _ = writeln!(out, "  {word} {} = {}", it.name, constant(&it.value));
    }
}

/// One function with its blocks.
pub fn dump_function(func: &Function, lines: &Lines, out: &mut String) {
    let printer = Printer { func };
    let params: Vec<_> = func
        .params
        .iter()
        .map(|it| {
            let ty = it.ty.as_ref().map(|ty| format!(": {}", type_ref(ty))).unwrap_or_default();
            format!("{}{}{ty}", if it.by_ref { "&" } else { "" }, it.name)
        })
        .collect();
    let ret = func.ret.as_ref().map(|it| format!(" -> {}", type_ref(it))).unwrap_or_default();
    let _ = writeln!(out, "fn {}({}){ret} {:?}", func.name, params.join(", "), func.kind);
    for it in &func.captures {
        let by = if it.by_ref { "&" } else { "" };
        let _ = writeln!(out, "  capture {by}{}", printer.local(it.inner));
    }
    if !func.is_abstract {
        printer.cfg(&func.cfg, lines, out);
    }
}

struct Printer<'a> {
    func: &'a Function,
}

impl Printer<'_> {
    fn cfg(&self, cfg: &Cfg, lines: &Lines, out: &mut String) {
        let mut order = cfg.reverse_post_order();
        order.sort_unstable();
        let number = |id: BlockId| order.binary_search(&id).unwrap_or(usize::MAX);
        for &id in &order {
            let block = &cfg.blocks[id];
            let handler = match block.handler {
                Some(it) if block.can_throw() => format!(" handler b{}", number(it.block)),
                _ => String::new(),
            };
            let finally = if block.in_finally { " finally" } else { "" };
            let _ = writeln!(out, "  b{}:{handler}{finally}", number(id));
            for instr in &block.instrs {
                let line = lines.line_index(instr.span.start) + 1;
                let _ = writeln!(out, "    {line}: {}", self.instr(instr));
            }
            let _ = writeln!(out, "    {}", self.term(&block.term, &number));
        }
    }

    fn instr(&self, instr: &Instr) -> String {
        match &instr.kind {
            InstrKind::Assign(place, value) => {
                format!("{} = {}", self.place(place), self.rvalue(value))
            }
            InstrKind::Call(call) => self.call(call),
            InstrKind::Drop(local) => format!("drop {}", self.local(*local)),
        }
    }

    fn term(&self, term: &Terminator, number: &dyn Fn(BlockId) -> usize) -> String {
        match term {
            Terminator::Goto(to) => format!("goto b{}", number(*to)),
            Terminator::Branch { cond, then, otherwise, .. } => {
                format!("if {} b{} else b{}", self.operand(cond), number(*then), number(*otherwise))
            }
            Terminator::Multi(to) => {
                let to: Vec<_> = to.iter().map(|it| format!("b{}", number(*it))).collect();
                format!("any {}", to.join(" "))
            }
            Terminator::Catch { value, arms, uncaught } => {
                let arms: Vec<_> = arms
                    .iter()
                    .map(|it| {
                        let types: Vec<_> = it.types.iter().map(type_ref).collect();
                        format!("[{}] b{}", types.join("|"), number(it.block))
                    })
                    .collect();
                let value = self.local(*value);
                format!("catch {value} {} else b{}", arms.join(" "), number(*uncaught))
            }
            Terminator::Return { value: Some(value), .. } => {
                format!("return {}", self.operand(value))
            }
            Terminator::Return { value: None, .. } => "return".to_owned(),
            Terminator::Throw { value: Some(value), .. } => {
                format!("throw {}", self.operand(value))
            }
            Terminator::Throw { value: None, .. } => "throw".to_owned(),
            Terminator::Exit { .. } => "exit".to_owned(),
            Terminator::Unreachable => "unreachable".to_owned(),
        }
    }

    fn local(&self, id: LocalId) -> String {
        let Some(local) = self.func.locals.get(id) else { return format!("%?{}", id.0) };
        if local.name.is_empty() {
            return format!("%{}", id.0);
        }
        let shared = self.func.locals.iter().filter(|it| it.name == local.name).count() > 1;
        if shared { format!("{}.{}", local.name, id.0) } else { local.name.to_string() }
    }

    fn operand(&self, operand: &Operand) -> String {
        match operand {
            Operand::Local(id) => self.local(*id),
            Operand::Const(it) => constant(it),
        }
    }

    fn operands(&self, operands: &[Operand]) -> String {
        operands.iter().map(|it| self.operand(it)).collect::<Vec<_>>().join(", ")
    }

    fn place(&self, place: &Place) -> String {
        let mut out = match &place.base {
            PlaceBase::Local(id) => self.local(*id),
            PlaceBase::Static(class, name) => format!("{}::${name}", class_ref(class)),
            PlaceBase::Global(name) => format!("global {name}"),
        };
        for proj in &place.proj {
            let _ = match proj {
                Proj::Field(name) => write!(out, ".{name}"),
                Proj::DynField(name) => write!(out, ".{{{}}}", self.operand(name)),
                Proj::Index(key) => write!(out, "[{}]", self.operand(key)),
                Proj::Push => write!(out, "[]"),
                Proj::Variant(name, idx) => write!(out, ".{name}#{idx}"),
                Proj::VariantField(name, field) => write!(out, ".{name}#{field}"),
                Proj::Element { key: true } => write!(out, "[*key]"),
                Proj::Element { key: false } => write!(out, "[*]"),
            };
        }
        out
    }

    fn rvalue(&self, value: &Rvalue) -> String {
        match value {
            Rvalue::Use(it) => self.operand(it),
            Rvalue::Load(it) => self.place(it),
            Rvalue::Ref(it) => format!("&{}", self.place(it)),
            Rvalue::Clone(it) => format!("clone {}", self.operand(it)),
            Rvalue::Binary(op, l, r) => format!("{op:?}({}, {})", self.operand(l), self.operand(r)),
            Rvalue::Unary(op, it) => format!("{op:?}({})", self.operand(it)),
            Rvalue::Text(it) => self.text(it),
            Rvalue::Array(items) => {
                let items: Vec<_> = items.iter().map(|it| self.item(it)).collect();
                format!("[{}]", items.join(", "))
            }
            Rvalue::Struct { ty, fields, base } => {
                let mut parts: Vec<_> = fields
                    .iter()
                    .map(|(name, it)| format!("{name}: {}", self.operand(it)))
                    .collect();
                parts.extend(base.iter().map(|it| format!("..{}", self.operand(it))));
                format!("{} {{{}}}", type_ref(ty), parts.join(", "))
            }
            Rvalue::Closure(id) => format!("closure #{}", id.0),
            Rvalue::Callable(it) => format!("callable {}", self.callee(it)),
            Rvalue::InstanceOf(it, ty) => format!("{} is {}", self.operand(it), type_ref(ty)),
            Rvalue::IsVariant(it, name) => format!("{} matches {name}", self.operand(it)),
            Rvalue::IsSet(it) => format!("isset {}", self.place(it)),
            Rvalue::IsEmpty(it) => format!("empty {}", self.operand(it)),
            Rvalue::Cast(it) => format!("cast {}", self.operand(it)),
            Rvalue::Unknown(them) => format!("unknown({})", self.operands(them)),
        }
    }

    fn item(&self, item: &ArrayItem) -> String {
        let spread = if item.spread { "..." } else { "" };
        let key = item.key.as_ref().map(|it| format!("{}: ", self.operand(it))).unwrap_or_default();
        format!("{spread}{key}{}", self.operand(&item.value))
    }

    fn text(&self, text: &Text) -> String {
        let mut out = String::from("\"");
        for piece in &text.pieces {
            let _ = match piece {
                Piece::Lit { value, .. } => write!(out, "{}", value.escape_debug()),
                Piece::Hole(it) if it.numeric => write!(out, "{{{}:d}}", self.operand(&it.value)),
                Piece::Hole(it) => write!(out, "{{{}}}", self.operand(&it.value)),
            };
        }
        out.push('"');
        out
    }

    fn callee(&self, callee: &Callee) -> String {
        match callee {
            Callee::Function(name) => name.to_string(),
            Callee::Method { receiver, name, nullsafe } => {
                let arrow = if *nullsafe { "?->" } else { "->" };
                format!("{}{arrow}{name}", self.operand(receiver))
            }
            Callee::Static { class, name } => format!("{}::{name}", class_ref(class)),
            Callee::New(class) => format!("new {}", class_ref(class)),
            Callee::Value(it) => format!("({})", self.operand(it)),
            Callee::Macro(name) => format!("{name}!"),
            Callee::Unknown => "?".to_owned(),
        }
    }

    fn call(&self, call: &Call) -> String {
        let args: Vec<_> = call.args.iter().map(|it| self.arg(it)).collect();
        let dest = if call.discarded { "_".to_owned() } else { self.local(call.dest) };
        let types: Vec<_> = call.type_args.iter().map(type_ref).collect();
        let types =
            if types.is_empty() { String::new() } else { format!("<{}>", types.join(", ")) };
        format!("{dest} = {}{types}({})", self.callee(&call.callee), args.join(", "))
    }

    fn arg(&self, arg: &Arg) -> String {
        let name = arg.name.as_ref().map(|it| format!("{it}: ")).unwrap_or_default();
        let spread = if arg.spread { "..." } else { "" };
        format!("{name}{spread}{}", self.operand(&arg.value))
    }
}

/// A type as it prints: `Option<crate::Job>`, `A|B`.
pub fn type_ref(ty: &TypeRef) -> String {
    let mut out = ty.name.to_string();
    if !ty.args.is_empty() {
        let args: Vec<_> = ty.args.iter().map(type_ref).collect();
        let _ = write!(out, "<{}>", args.join(", "));
    }
    for it in &ty.alternatives {
        let _ = write!(out, "|{}", type_ref(it));
    }
    out
}

fn class_ref(class: &ClassRef) -> String {
    match class {
        ClassRef::Named(name) => name.to_string(),
        ClassRef::SelfType => "self".to_owned(),
        ClassRef::LateStatic => "static".to_owned(),
        ClassRef::Parent => "parent".to_owned(),
        ClassRef::Dynamic(_) => "{class}".to_owned(),
    }
}

/// A constant as it prints.
pub fn constant(it: &Const) -> String {
    match it {
        Const::Null => "null".to_owned(),
        Const::Bool(it) => it.to_string(),
        Const::Int(it) => it.to_string(),
        Const::Float(it) => it.to_string(),
        Const::Str(it) => format!("'{}'", it.escape_debug()),
        Const::Named { class: Some(class), name } => format!("{}::{name}", class_ref(class)),
        Const::Named { class: None, name } => name.to_string(),
        Const::Class(name) => format!("{name}::class"),
        Const::File(path) => format!("file '{}'", path.escape_debug()),
        Const::Array(items) => {
            let items: Vec<_> = items
                .iter()
                .map(|(key, value)| match key {
                    Const::Null => constant(value),
                    key => format!("{}: {}", constant(key), constant(value)),
                })
                .collect();
            format!("[{}]", items.join(", "))
        }
        Const::Unknown => "?".to_owned(),
    }
}

/// A statement on one line, without spans.
pub fn dump_statement(stmt: &Statement) -> String {
    use super::{Assign, Condition};
    fn set(it: &Assign) -> String {
        match &it.column_param {
            Some(param) => format!("{param:?}:={:?}", it.value),
            None => format!("{}:={:?}", it.column, it.value),
        }
    }
    fn condition(it: &Condition) -> String {
        if !it.any.is_empty() {
            let branches: Vec<_> = it
                .any
                .iter()
                .map(|branch| branch.iter().map(condition).collect::<Vec<_>>().join(" and "))
                .collect();
            return format!("({})", branches.join(" or "));
        }
        let foreign = if it.foreign { "foreign " } else { "" };
        let param = it.column_param.as_ref().map(|it| format!("{it:?}")).unwrap_or_default();
        format!("{foreign}{}{param} {:?} {:?}", it.column, it.op, it.values)
    }
    let mut out = format!("{:?} {}", stmt.kind, stmt.table);
    if let Some(param) = &stmt.table_param {
        let _ = write!(out, "<{param:?}>");
    }
    let sets: Vec<_> = stmt.sets.iter().map(set).collect();
    let conditions: Vec<_> = stmt.conditions.iter().map(condition).collect();
    let _ = write!(out, " set [{}] where [{}]", sets.join(", "), conditions.join("; "));
    for (flag, word) in [
        (!stmt.complete, "incomplete"),
        (stmt.aggregate, "aggregate"),
        (stmt.limit_one, "limit-one"),
        (stmt.returning, "returning"),
    ] {
        if flag {
            let _ = write!(out, " {word}");
        }
    }
    if let Some(lock) = stmt.lock {
        let _ = write!(out, " lock {lock:?}");
    }
    if let Some(source) = &stmt.source {
        let _ = write!(out, " from ({})", dump_statement(source));
    }
    if let Some(upsert) = &stmt.upsert {
        let sets: Vec<_> = upsert.sets.iter().map(set).collect();
        let conditions: Vec<_> = upsert.conditions.iter().map(condition).collect();
        let (keys, sets) = (upsert.keys.join(", "), sets.join(", "));
        let _ = write!(out, " on [{keys}] set [{sets}] where [{}]", conditions.join("; "));
    }
    out
}
