//! Closures and other callables, run in place.

use super::apply::prefix_context;
use super::call::{MAX_CLOSURE_DEPTH, Site};
use super::{Interp, Outcome};
use crate::analysis::fact::Context;
use crate::analysis::object::ObjectKind;
use crate::analysis::state::State;
use crate::analysis::summary::Effect;
use crate::analysis::value::Value;
use crate::ir::{Call, Callee, Const, FuncRef, Function, Operand};

impl Interp<'_> {
    /// Runs a closure or another callable here and now; none when it is not known.
    pub(super) fn run_callable(
        &mut self,
        state: &mut State,
        callable: &Value,
        args: &[Value],
    ) -> Option<Value> {
        match callable {
            Value::Closure(at, captured) => self.run_closure(state, *at, captured, args),
            Value::Method(it) => {
                let (receiver, name) = (it.0.clone(), it.1.clone());
                Some(self.run_method(state, receiver, &name, args))
            }
            Value::Any(them) => {
                let mut out = None;
                for it in them.iter() {
                    out = self.run_callable(state, it, args).or(out);
                }
                out
            }
            Value::Object(_) => self.run_array_callable(state, callable, args),
            Value::Param(_) | Value::Capture(_) | Value::Path(_) => {
                let context = self.context(state);
                let (callable, args) = (callable.clone(), args.to_vec());
                self.effect(Effect::Call { callable, args, context });
                None
            }
            _ => None,
        }
    }

    /// Runs what a caller gave, where the callee calls it.
    pub(super) fn run_given(
        &mut self,
        state: &mut State,
        callable: &Value,
        args: &[Value],
        context: &Context,
    ) -> Option<Value> {
        let outer = (state.transaction, state.held.clone());
        let inner = prefix_context(context, state);
        state.transaction = inner.transaction;
        state.held = inner.held;
        let result = self.run_callable(state, callable, args);
        state.transaction = outer.0;
        state.held = outer.1;
        result
    }

    /// `[$this, 'run']`.
    pub(super) fn run_array_callable(
        &mut self,
        state: &mut State,
        array: &Value,
        args: &[Value],
    ) -> Option<Value> {
        let Some(ObjectKind::Array(items)) = state.object(array).map(|it| &it.kind) else {
            return None;
        };
        let [receiver, name] = items.items.as_slice() else { return None };
        let (receiver, name) = (receiver.value.clone(), name.value.as_str()?);
        Some(self.run_method(state, receiver, &name, args))
    }

    pub(super) fn run_method(
        &mut self,
        state: &mut State,
        receiver: Value,
        name: &crate::base::Name,
        args: &[Value],
    ) -> Value {
        let call = Call {
            callee: Callee::Method {
                receiver: Operand::Const(Const::Unknown),
                name: name.clone(),
                nullsafe: false,
            },
            args: Vec::new(),
            dest: crate::ir::LocalId(u32::MAX),
            type_args: Vec::new(),
            discarded: false,
            name_span: self.span,
        };
        let site = Site {
            call: &call,
            name: name.clone(),
            receiver: receiver.clone(),
            word: None,
            is_static: matches!(receiver, Value::Class(_)),
            args: args.to_vec(),
            id: self.identity(&("callable", name)),
            result: Value::Unknown,
        };
        let types = self.types_of(state, &receiver);
        let target = types.iter().find_map(|ty| self.shared.program.method(&ty.name, name));
        match target {
            Some(at) => self.run_function(state, &site, at, 0),
            None => Value::Opaque(site.id),
        }
    }

    pub(super) fn run_closure(
        &mut self,
        state: &mut State,
        at: FuncRef,
        captured: &[Value],
        args: &[Value],
    ) -> Option<Value> {
        self.ran.insert(at);
        if self.depth >= MAX_CLOSURE_DEPTH {
            return None;
        }
        let func = self.shared.program.function(at);
        let mut nested = self.nested(at, func);
        let mut entry = State {
            locals: vec![Value::Unknown; func.locals.len()],
            heap: state.heap.clone(),
            transaction: state.transaction,
            held: state.held.clone(),
            last_write: state.last_write,
            swept: state.swept,
        };
        for (capture, value) in func.captures.iter().zip(captured) {
            if let Some(slot) = entry.locals.get_mut(capture.inner.0 as usize) {
                *slot = value.clone();
            }
        }
        for (idx, param) in func.params.iter().enumerate() {
            let value = args.get(idx).filter(|it| **it != Value::Unknown).cloned();
            let value = value.unwrap_or_else(|| nested.closure_param(idx, param));
            if let Some(slot) = entry.locals.get_mut(param.local.0 as usize) {
                *slot = value;
            }
        }
        nested.run(&entry);
        Some(self.take_over(state, func, nested))
    }

    /// Everything a closure did happens at the current point.
    pub(super) fn take_over(
        &mut self,
        state: &mut State,
        func: &Function,
        nested: Interp<'_>,
    ) -> Value {
        let own = func.parent == Some(self.at.func);
        let (outcome, after, value, ran) = nested.finish_nested();
        let Outcome { resolved, nested: inner, .. } = &outcome;
        self.nested_resolved.push((outcome.at, resolved.clone()));
        self.nested_resolved.extend(inner.iter().cloned());
        self.ran.extend(ran);
        self.durable |= outcome.summary.durable;
        self.types.extend(outcome.summary.types.clone());
        self.looked.extend(outcome.looked.iter().copied());
        for load in outcome.loads {
            let point = self.tick();
            self.loads.push((point, load));
        }
        for effect in outcome.summary.effects {
            if let Effect::Check(_) | Effect::Claim { .. } | Effect::Call { .. } = effect {
                self.effect(effect);
            }
        }
        for write in outcome.writes {
            let point = self.tick();
            self.writes.push((point, write));
        }
        self.deferred.extend(outcome.summary.deferred);
        if let Some(after) = after {
            if own {
                for capture in func.captures.iter().filter(|it| it.by_ref) {
                    let value =
                        after.locals.get(capture.inner.0 as usize).cloned().unwrap_or_default();
                    if let Some(slot) = state.locals.get_mut(capture.outer.0 as usize) {
                        *slot = value;
                    }
                }
            }
            state.heap = after.heap;
            state.transaction = after.transaction;
            state.held = after.held;
            state.last_write = after.last_write;
        }
        value
    }
}
