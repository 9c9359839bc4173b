//! Callable: which function a registered handler names: a closure, `[$this, 'run']`, `$this->run(...)`,
//! a function by name, or an object that can be called.

use super::MessageInput;
use super::settings::definition;
use crate::base::Name;
use crate::ir::{
    Call, Callee, ClassRef, Const, FuncRef, Function, InstrKind, LocalId, Operand, Place,
    PlaceBase, Proj, Rvalue,
};
use crate::model::Access;

/// Methods that run when an object is called.
const INVOKE: &str = "__invoke";

/// The function that the argument at `access` names.
pub(super) fn handler(
    input: &MessageInput<'_>,
    at: FuncRef,
    call: &Call,
    access: &Access,
) -> Option<FuncRef> {
    let Access::Arg(idx, name) = access else { return None };
    let named = call.args.iter().find(|it| it.name.is_some() && it.name == *name);
    let arg = named.or_else(|| call.args.get(*idx as usize))?;
    of_operand(input, at, &arg.value)
}

fn of_operand(input: &MessageInput<'_>, at: FuncRef, operand: &Operand) -> Option<FuncRef> {
    let program = input.program;
    let func = program.function(at);
    let local = match operand {
        Operand::Local(local) => *local,
        Operand::Const(Const::Str(name)) => return program.free_function(name),
        Operand::Const(_) => return None,
    };
    match definition(func, local) {
        Some(Rvalue::Closure(id)) => Some(FuncRef { source: at.source, func: *id }),
        Some(Rvalue::Callable(callee)) => of_callee(input, func, callee),
        Some(Rvalue::Array(items)) => match &items[..] {
            [object, method] => {
                let Operand::Const(Const::Str(method)) = &method.value else { return None };
                let class = class_of(input, func, &object.value)?;
                program.method(&class, method)
            }
            _ => None,
        },
        Some(Rvalue::Text(text)) => program.free_function(&text.as_literal()?),
        _ => {
            let class = class_of(input, func, operand)?;
            program.method(&class, INVOKE)
        }
    }
}

fn of_callee(input: &MessageInput<'_>, func: &Function, callee: &Callee) -> Option<FuncRef> {
    let program = input.program;
    match callee {
        Callee::Method { receiver, name, .. } => {
            program.method(&class_of(input, func, receiver)?, name)
        }
        Callee::Static { class: ClassRef::Named(class), name } => program.method(class, name),
        Callee::Static { name, .. } => program.method(func.class.as_deref()?, name),
        Callee::Function(name) => program.free_function(name),
        Callee::New(_) | Callee::Value(_) | Callee::Macro(_) | Callee::Unknown => None,
    }
}

/// The class of an object, by its variable, its property or its construction.
fn class_of(input: &MessageInput<'_>, func: &Function, operand: &Operand) -> Option<Name> {
    let local = match operand {
        Operand::Local(local) => *local,
        Operand::Const(Const::Class(name)) => return Some(name.clone()),
        Operand::Const(_) => return None,
    };
    if let Some(it) = func.locals.get(local) {
        if matches!(&*it.name, "this" | "self") {
            return func.class.clone();
        }
        if let Some(ty) = &it.ty {
            return Some(ty.name.clone());
        }
    }
    match definition(func, local) {
        Some(Rvalue::Load(place)) => property_class(input, func, place),
        Some(Rvalue::Use(operand)) => class_of(input, func, operand),
        _ => constructed(func, local),
    }
}

/// `$this->handler` by its declaration.
fn property_class(input: &MessageInput<'_>, func: &Function, place: &Place) -> Option<Name> {
    let PlaceBase::Local(base) = place.base else { return None };
    let [Proj::Field(name)] = &place.proj[..] else { return None };
    let class = class_of(input, func, &Operand::Local(base))?;
    let property = input.program.property(&class, name)?;
    property.ty.as_ref().map(|it| it.name.clone())
}

fn constructed(func: &Function, local: LocalId) -> Option<Name> {
    let mut instrs = func.cfg.blocks.iter().flat_map(|it| &it.instrs);
    instrs.find_map(|it| match &it.kind {
        InstrKind::Call(call) if call.dest == local => match &call.callee {
            Callee::New(ClassRef::Named(name)) => Some(name.clone()),
            _ => None,
        },
        _ => None,
    })
}
