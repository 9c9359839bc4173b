//! Which variables does an instruction or terminator read?

use super::{
    Block, Callee, ClassRef, Instr, InstrKind, LocalId, Operand, Piece, Place, PlaceBase, Proj,
    Rvalue, Terminator,
};

/// Calls `visit` for every variable that the block reads, captures of its closures left out.
pub fn block_reads(block: &Block, visit: &mut dyn FnMut(LocalId)) {
    for instr in &block.instrs {
        instr_reads(instr, visit);
    }
    match &block.term {
        Terminator::Branch { cond, .. } => operand(cond, visit),
        Terminator::Return { value: Some(value), .. }
        | Terminator::Throw { value: Some(value), .. } => {
            operand(value, visit);
        }
        Terminator::Catch { value, .. } => visit(*value),
        Terminator::Goto(_)
        | Terminator::Multi(_)
        | Terminator::Return { value: None, .. }
        | Terminator::Throw { value: None, .. }
        | Terminator::Exit { .. }
        | Terminator::Unreachable => (),
    }
}

/// Calls `visit` for every variable that the instruction reads. A variable that is assigned through
/// (`$a['x'] = 1`) is read.
pub fn instr_reads(instr: &Instr, visit: &mut dyn FnMut(LocalId)) {
    match &instr.kind {
        InstrKind::Assign(to, value) => {
            if to.as_local().is_none() {
                place(to, visit);
            }
            rvalue(value, visit);
        }
        InstrKind::Call(call) => {
            callee(&call.callee, visit);
            for arg in &call.args {
                operand(&arg.value, visit);
                if let Some(it) = &arg.place {
                    place(it, visit);
                }
            }
        }
        InstrKind::Drop(local) => visit(*local),
    }
}

fn rvalue(value: &Rvalue, visit: &mut dyn FnMut(LocalId)) {
    match value {
        Rvalue::Use(it)
        | Rvalue::Clone(it)
        | Rvalue::Unary(_, it)
        | Rvalue::InstanceOf(it, _)
        | Rvalue::IsVariant(it, _)
        | Rvalue::IsEmpty(it)
        | Rvalue::Cast(it) => operand(it, visit),
        Rvalue::Load(it) | Rvalue::Ref(it) | Rvalue::IsSet(it) => place(it, visit),
        Rvalue::Binary(_, left, right) => {
            operand(left, visit);
            operand(right, visit);
        }
        Rvalue::Text(text) => {
            for piece in &text.pieces {
                if let Piece::Hole(hole) = piece {
                    operand(&hole.value, visit);
                }
            }
        }
        Rvalue::Array(items) => {
            for item in items {
                item.key.iter().for_each(|it| operand(it, visit));
                operand(&item.value, visit);
            }
        }
        Rvalue::Struct { fields, base, .. } => {
            fields.iter().map(|it| &it.1).chain(base).for_each(|it| operand(it, visit));
        }
        Rvalue::Closure(_) => (),
        Rvalue::Callable(it) => callee(it, visit),
        Rvalue::Unknown(them) => them.iter().for_each(|it| operand(it, visit)),
    }
}

fn callee(callee: &Callee, visit: &mut dyn FnMut(LocalId)) {
    match callee {
        Callee::Method { receiver, .. } => operand(receiver, visit),
        Callee::Value(it) => operand(it, visit),
        Callee::Static { class, .. } | Callee::New(class) => class_ref(class, visit),
        Callee::Function(_) | Callee::Macro(_) | Callee::Unknown => (),
    }
}

fn class_ref(class: &ClassRef, visit: &mut dyn FnMut(LocalId)) {
    if let ClassRef::Dynamic(it) = class {
        operand(it, visit);
    }
}

fn place(place: &Place, visit: &mut dyn FnMut(LocalId)) {
    match &place.base {
        PlaceBase::Local(id) => visit(*id),
        PlaceBase::Static(class, _) => class_ref(class, visit),
        PlaceBase::Global(_) => (),
    }
    for proj in &place.proj {
        if let Proj::Index(it) | Proj::DynField(it) = proj {
            operand(it, visit);
        }
    }
}

fn operand(operand: &Operand, visit: &mut dyn FnMut(LocalId)) {
    if let Operand::Local(id) = operand {
        visit(*id);
    }
}
