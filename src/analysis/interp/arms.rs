//! Which way does a call go, when what it is given is known?
//!
//! ```text
//! fn charge(add: bool) { match add { true => UPDATE 1, false => UPDATE 2 } }
//! charge(false);                            UPDATE 2, and not UPDATE 1
//!
//! fn word(it: State) -> &str { match it { State::Open => "o", State::Done => "d" } }
//! word(State::Done);                        "d"
//! ```
//!
//! A function that gives each case of an enum the case of the same name gives back what it is given.

use super::Interp;
use crate::analysis::gate::{Gates, Side};
use crate::analysis::summary::Arm;
use crate::analysis::value::{Test, TestOp, Value};
use crate::base::{last_segment, snake_case};
use crate::ir::BlockId;

/// Conditions that are kept of one place.
const MAX_CONDITIONS: usize = 12;

/// Returns that are kept apart.
const MAX_ARMS: usize = 40;

impl Interp<'_> {
    /// What the parameters must be for control to come to `block`.
    pub(super) fn conditions_of(
        &self,
        gates: &mut Gates<'_>,
        block: BlockId,
    ) -> Vec<(Value, bool)> {
        let asked = self.resolved.tests.iter().filter(|it| asks_a_parameter(it.1));
        let mut out = Vec::new();
        for (branch, tested) in asked {
            if let Some(side) = gates.side(*branch, block) {
                out.push((tested.clone(), side == Side::Then));
            }
        }
        out.truncate(MAX_CONDITIONS);
        out
    }

    /// The constants that are returned, each with what the parameters must be for it; none when
    /// something else is returned as well.
    pub(super) fn arms(&self) -> Vec<Arm> {
        let returns = self.normal_returns();
        let constant = returns.iter().all(|it| it.1.is_constant());
        if !constant || returns.len() < 2 || returns.len() > MAX_ARMS {
            return Vec::new();
        }
        let mut gates = self.gates.borrow_mut();
        let arm = |(block, value, _): &(BlockId, Value, _)| Arm {
            only_if: self.conditions_of(&mut gates, *block),
            value: value.clone(),
        };
        let out: Vec<Arm> = returns.into_iter().map(arm).collect();
        if out.iter().any(|it| !it.only_if.is_empty()) { out } else { Vec::new() }
    }
}

/// The parameter itself, when each of its cases is given the one of the same name.
pub(super) fn renamed(arms: &[Arm]) -> Option<Value> {
    let mut subject = None;
    for arm in arms {
        let Value::Case(_, given) = &arm.value else { return None };
        let mut held = arm.only_if.iter().filter(|it| it.1).map(|it| &it.0);
        let (Some(Value::Test(test)), None) = (held.next(), held.next()) else { return None };
        let [Value::Case(_, asked)] = test.right.as_slice() else { return None };
        if test.op != TestOp::Eq || snake_case(asked) != snake_case(given) {
            return None;
        }
        if *subject.get_or_insert(&test.left) != &test.left {
            return None;
        }
    }
    subject.cloned()
}

/// What is returned, when the arguments exclude some of the arms.
pub(super) fn taken(arms: &[Arm], bind: impl Fn(&Value) -> Value) -> Option<Value> {
    let possible = |arm: &&Arm| {
        !arm.only_if.iter().any(|(tested, holds)| verdict(&bind(tested)) == Some(!holds))
    };
    let left: Vec<&Arm> = arms.iter().filter(possible).collect();
    let fewer = !left.is_empty() && left.len() < arms.len();
    fewer.then(|| left.into_iter().map(|it| it.value.clone()).reduce(Value::join))?
}

/// Keeps of the conditions what is still open; false when one of them does not hold.
pub(super) fn still_open(only_if: &mut Vec<(Value, bool)>) -> bool {
    let possible = only_if.iter().all(|(tested, holds)| verdict(tested) != Some(!holds));
    only_if.retain(|it| asks_a_parameter(&it.0));
    possible
}

fn asks_a_parameter(tested: &Value) -> bool {
    match tested {
        Value::Param(_) | Value::This => true,
        Value::Truthy(inner) => asks_a_parameter(inner),
        Value::Test(it) => {
            it.op != TestOp::Order
                && asks_a_parameter(&it.left)
                && it.right.iter().all(Value::is_constant)
        }
        _ => false,
    }
}

/// Whether a test is true, as far as constants tell.
fn verdict(tested: &Value) -> Option<bool> {
    match tested {
        Value::Bool(it) => Some(*it),
        Value::Null => Some(false),
        Value::Truthy(inner) => verdict(inner),
        Value::Test(it) => verdict_of(it),
        _ => None,
    }
}

fn verdict_of(test: &Test) -> Option<bool> {
    let left = match &test.left {
        Value::Truthy(_) | Value::Test(_) => Value::Bool(verdict(&test.left)?),
        it => it.clone(),
    };
    let found: Option<Vec<bool>> =
        left.alternatives().iter().map(|it| is_one_of(it, &test.right)).collect();
    let found = found?;
    let first = *found.first()?;
    let sure = found.iter().all(|it| *it == first);
    match test.op {
        TestOp::Eq => sure.then_some(first),
        TestOp::Ne => sure.then_some(!first),
        TestOp::Order => None,
    }
}

fn is_one_of(left: &Value, right: &[Value]) -> Option<bool> {
    let found: Vec<Option<bool>> = right.iter().map(|it| is_same_constant(left, it)).collect();
    if found.contains(&Some(true)) {
        return Some(true);
    }
    (!right.is_empty() && found.iter().all(|it| *it == Some(false))).then_some(false)
}

/// Whether two constants are equal; none when that is not known.
fn is_same_constant(a: &Value, b: &Value) -> Option<bool> {
    match (a, b) {
        (Value::Case(class, name), Value::Case(other_class, other)) => {
            (last_segment(class) == last_segment(other_class)).then(|| name == other)
        }
        (Value::Bool(_), Value::Bool(_))
        | (Value::Int(_), Value::Int(_))
        | (Value::Null, Value::Null) => Some(a == b),
        (Value::Null, other) | (other, Value::Null) => other.is_constant().then_some(false),
        _ => Some(a.as_str()? == b.as_str()?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn case(name: &str) -> Value {
        Value::Case("State".into(), name.into())
    }

    fn is(left: Value, right: &str) -> Value {
        Value::Test(Arc::new(Test { op: TestOp::Eq, left, right: vec![case(right)] }))
    }

    fn arms(given: [(&str, &str); 2]) -> Vec<Arm> {
        let first = is(Value::Param(0), given[0].0);
        let second = is(Value::Param(0), given[1].0);
        vec![
            Arm { only_if: vec![(first.clone(), true)], value: case(given[0].1) },
            Arm { only_if: vec![(first, false), (second, true)], value: case(given[1].1) },
        ]
    }

    #[test]
    fn a_constant_takes_its_arm() {
        let arms = arms([("Open", "A"), ("Done", "B")]);
        let bind = |with: Value| {
            move |it: &Value| it.substitute(&|it| (*it == Value::Param(0)).then(|| with.clone()))
        };
        assert_eq!(taken(&arms, bind(case("Done"))), Some(case("B")));
        assert_eq!(taken(&arms, bind(case("Open"))), Some(case("A")));
        assert_eq!(taken(&arms, bind(Value::Param(3))), None);
        assert_eq!(taken(&arms, bind(Value::Case("Other".into(), "Open".into()))), None);
    }

    #[test]
    fn cases_of_the_same_names_pass_through() {
        assert_eq!(renamed(&arms([("Open", "Open"), ("Done", "Done")])), Some(Value::Param(0)));
        assert_eq!(renamed(&arms([("Open", "Done"), ("Done", "Open")])), None);
    }
}
