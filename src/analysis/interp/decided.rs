//! Variables that stand for the test which decides what is in them: a bool that is true on one side of a
//! branch, a row that is null on the other.

use super::Interp;
use super::eval::negate;
use crate::analysis::gate::Side;
use crate::analysis::value::{TestOp, Value};
use crate::ir::{BlockId, Const, InstrKind, LocalId, Operand, Rvalue};
use std::sync::Arc;

impl Interp<'_> {
    /// The value of a variable, or the test behind it.
    pub(super) fn decided(&self, local: LocalId, value: Value) -> Value {
        if is_either_bool(&value) {
            self.decided_bool(local, value)
        } else if may_be_missing(&value) {
            self.decided_thing(local, value)
        } else {
            value
        }
    }

    /// The value of a variable that is given back or asked for: with the test that decides which of two
    /// constants it is.
    pub(super) fn decided_constant(&self, operand: &Operand, value: Value) -> Value {
        let two = matches!(&value, Value::Any(them)
            if them.len() == 2 && them.iter().all(|it| matches!(it, Value::Case(..))));
        let Operand::Local(local) = operand else { return value };
        if !two {
            return value;
        }
        let mut gates = self.gates.borrow_mut();
        let mut tests: Vec<(Value, Side, Value)> = Vec::new();
        for (at, block) in self.func.cfg.blocks.iter_ids() {
            for instr in &block.instrs {
                let InstrKind::Assign(place, assigned) = &instr.kind else { continue };
                if place.as_local() != Some(*local) {
                    continue;
                }
                let Some(constant) = self.assigned_case(assigned) else { return value };
                for (block, tested) in &self.resolved.tests {
                    if let Some(side) = gates.side(*block, at)
                        && !matches!(tested, Value::Unknown | Value::Bool(_))
                    {
                        tests.push((tested.clone(), side, constant.clone()));
                    }
                }
            }
        }
        match super::export::choice_of(&tests, value.alternatives()) {
            Some(choice) => value.join(choice),
            None => value,
        }
    }

    fn assigned_case(&self, value: &Rvalue) -> Option<Value> {
        match value {
            Rvalue::Use(Operand::Const(it)) => Some(self.constant(it)),
            Rvalue::Struct { ty, .. } => self.enum_variant(&ty.name),
            _ => None,
        }
    }

    /// A variable that is true on one side of a branch and false on the other stands for the test.
    fn decided_bool(&self, local: LocalId, value: Value) -> Value {
        let mut assigned: Vec<(BlockId, bool)> = Vec::new();
        for (at, block) in self.func.cfg.blocks.iter_ids() {
            for instr in &block.instrs {
                if let InstrKind::Assign(place, Rvalue::Use(Operand::Const(Const::Bool(it)))) =
                    &instr.kind
                    && place.as_local() == Some(local)
                {
                    assigned.push((at, *it));
                }
            }
        }
        let mut gates = self.gates.borrow_mut();
        let mut tests: Vec<(Value, bool)> = Vec::new();
        for (block, tested) in &self.resolved.tests {
            for (at, is_true) in &assigned {
                if let Some(side) = gates.side(*block, *at)
                    && !matches!(tested, Value::Unknown | Value::Bool(_))
                {
                    let positive = (side == Side::Then) == *is_true;
                    if !tests.iter().any(|it| it.0 == *tested) {
                        tests.push((tested.clone(), positive));
                    }
                }
            }
        }
        match tests.as_slice() {
            [] => value,
            [(only, positive)] => {
                let only = match only {
                    Value::Test(_) | Value::Truthy(_) | Value::Got(_) => only.clone(),
                    it => Value::Truthy(Arc::new(it.clone())),
                };
                if *positive { only } else { negate(only) }
            }
            _ => Value::derived(tests.into_iter().map(|it| it.0)),
        }
    }

    /// A variable that is nothing on one side of a branch and something on the other stands for the test
    /// as well: `$free = $seat->taken ? null : $seat`.
    fn decided_thing(&self, local: LocalId, value: Value) -> Value {
        let mut assigned: Vec<(BlockId, bool)> = Vec::new();
        self.assigned(local, 0, &mut assigned);
        if !assigned.iter().any(|it| !it.1) || !assigned.iter().any(|it| it.1) {
            return value;
        }
        let mut gates = self.gates.borrow_mut();
        let things = value.clone();
        let mut out = value;
        for (block, tested) in &self.resolved.tests {
            if things.alternatives().iter().any(|it| asks_for(tested, it)) {
                continue;
            }
            let sides = assigned.iter().filter_map(|(at, filled)| {
                let side = gates.side(*block, *at)?;
                Some((side == Side::Then) == *filled)
            });
            let sides: Vec<bool> = sides.collect();
            if matches!(tested, Value::Test(_) | Value::Truthy(_) | Value::Path(_))
                && let Some(positive) = sides.first()
                && sides.iter().all(|it| it == positive)
            {
                let test = if *positive { tested.clone() } else { negate(tested.clone()) };
                out = out.join(test);
            }
        }
        out
    }

    /// Where a variable is given something (true) or nothing (false), through copies.
    fn assigned(&self, local: LocalId, depth: u32, out: &mut Vec<(BlockId, bool)>) {
        for (at, block) in self.func.cfg.blocks.iter_ids() {
            for instr in &block.instrs {
                match &instr.kind {
                    InstrKind::Assign(place, value) if place.as_local() == Some(local) => {
                        match value {
                            Rvalue::Use(Operand::Const(Const::Null | Const::Bool(false))) => {
                                out.push((at, false));
                            }
                            Rvalue::Use(Operand::Local(from)) if depth < 3 && *from != local => {
                                let n_before = out.len();
                                self.assigned(*from, depth + 1, out);
                                if out.len() <= n_before + 1 {
                                    out.truncate(n_before);
                                    out.push((at, true));
                                }
                            }
                            _ => out.push((at, true)),
                        }
                    }
                    InstrKind::Call(call) if call.dest == local => out.push((at, true)),
                    _ => (),
                }
            }
        }
    }
}

/// Whether a value is true on some paths and false on others.
fn is_either_bool(value: &Value) -> bool {
    matches!(value, Value::Any(them) if them.len() == 2 && them.iter().all(|it| matches!(it, Value::Bool(_))))
}

/// Whether a value is nothing on some paths and something on others.
fn may_be_missing(value: &Value) -> bool {
    let nothing = |it: &Value| matches!(it, Value::Null | Value::Bool(false));
    matches!(value, Value::Any(them)
        if them.iter().any(nothing) && them.iter().any(|it| matches!(it, Value::Object(_))))
}

/// Whether `tested` asks no more of `value` than whether it is there.
pub(super) fn asks_for(tested: &Value, value: &Value) -> bool {
    let nothing = |it: &Value| matches!(it, Value::Null | Value::Bool(false));
    match tested {
        Value::Truthy(inner) => **inner == *value,
        Value::Test(test) => {
            test.op != TestOp::Order && test.left == *value && test.right.iter().all(nothing)
        }
        it => it == value,
    }
}
