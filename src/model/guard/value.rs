//! One condition against the value that its column is set to.

use super::Resolved;
use super::name::{is_owner, is_touch};
use super::verdict::{Judge, Verdict};
use crate::base::snake_case;
use crate::ir::{Condition, ConditionOp, ParamRef, SqlExpr};

impl Judge<'_> {
    /// A condition on a column that becomes `value`.
    pub(super) fn against(&self, condition: &Condition, value: &SqlExpr) -> Verdict {
        let column = snake_case(&condition.column);
        let itself = |it: &SqlExpr| matches!(it, SqlExpr::Column(it) if it.eq_ignore_ascii_case(&condition.column));
        if itself(value) || condition.values.iter().any(itself) {
            return Verdict::Kept;
        }
        match condition.op {
            ConditionOp::Eq | ConditionOp::In => self.equal(condition, value, &column),
            ConditionOp::Ne | ConditionOp::NotIn => self.unequal(condition, value),
            ConditionOp::IsNull => self.null(value),
            ConditionOp::IsNotNull => match self.is_null(value) {
                Some(true) => Verdict::Falsified { bound: false },
                Some(false) => Verdict::Kept,
                None => Verdict::Unknown,
            },
            ConditionOp::Less => self.ordered(condition, value, true, &column),
            ConditionOp::Greater => self.ordered(condition, value, false, &column),
            ConditionOp::Like => like(condition, value),
            ConditionOp::Other => between(condition, value),
            ConditionOp::InSelect => Verdict::Unrelated,
        }
    }

    fn equal(&self, condition: &Condition, value: &SqlExpr, column: &str) -> Verdict {
        if condition.values.is_empty() || condition.values.contains(&SqlExpr::Null) {
            return Verdict::Unknown;
        }
        match value {
            SqlExpr::Relative(_) => return Verdict::Falsified { bound: true },
            SqlExpr::Conditional | SqlExpr::Column(_) => return Verdict::Unknown,
            _ => {}
        }
        let mut bound = false;
        for it in &condition.values {
            match self.same(it, value) {
                // Another worker comes with another name.
                Same::Yes if is_owner(column) && matches!(it, SqlExpr::Param(_)) => {
                    return Verdict::Fences;
                }
                Same::Yes => return Verdict::Kept,
                Same::No => {}
                Same::Assumed => bound = true,
                Same::Unknown => return Verdict::Unknown,
            }
        }
        Verdict::Falsified { bound }
    }

    fn unequal(&self, condition: &Condition, value: &SqlExpr) -> Verdict {
        if matches!(value, SqlExpr::Relative(_) | SqlExpr::Conditional | SqlExpr::Column(_)) {
            return Verdict::Unknown;
        }
        let found: Vec<Same> = condition.values.iter().map(|it| self.same(it, value)).collect();
        if found.contains(&Same::Yes) {
            Verdict::Falsified { bound: matches!(value, SqlExpr::Param(_)) }
        } else if found.iter().all(|it| *it == Same::No) {
            Verdict::Kept
        } else {
            Verdict::Unknown
        }
    }

    fn null(&self, value: &SqlExpr) -> Verdict {
        match value {
            SqlExpr::Conditional | SqlExpr::Column(_) | SqlExpr::Relative(_) => Verdict::Unknown,
            _ if self.is_null(value) == Some(true) => Verdict::Kept,
            _ => Verdict::Falsified { bound: false },
        }
    }

    fn is_null(&self, value: &SqlExpr) -> Option<bool> {
        match value {
            SqlExpr::Null => Some(true),
            SqlExpr::Conditional | SqlExpr::Column(_) => None,
            SqlExpr::Param(param) => match (self.resolve)(param) {
                Resolved::Literal(it) => Some(it == SqlExpr::Null),
                Resolved::OneOf(them) if them.contains(&SqlExpr::Null) => None,
                _ => Some(false),
            },
            _ => Some(false),
        }
    }

    fn ordered(&self, condition: &Condition, value: &SqlExpr, less: bool, column: &str) -> Verdict {
        let Some(limit) = condition.values.first() else { return Verdict::Unknown };
        let falsified = Verdict::Falsified { bound: false };
        let is_clock = |it: &SqlExpr| matches!(it, SqlExpr::Now | SqlExpr::Other(_));
        match (value, limit) {
            (SqlExpr::Int(new), SqlExpr::Int(limit)) => {
                let still = if less { new < limit } else { new > limit };
                if still { Verdict::Kept } else { falsified }
            }
            (SqlExpr::Relative(_), _) => Verdict::Reserved,
            // `t < now()` is true again a moment later; `t > now()` never is.
            (SqlExpr::Now, SqlExpr::Now) if less => Verdict::Kept,
            (SqlExpr::Null, _) | (SqlExpr::Now, SqlExpr::Now) => falsified,
            (SqlExpr::Now, SqlExpr::Param(param)) if less && is_touch(column) => {
                let is_now =
                    matches!(param, ParamRef::Named(it) if it.to_lowercase().contains("now"));
                if is_now { Verdict::Unrelated } else { Verdict::Unknown }
            }
            (SqlExpr::Now, _) if less => falsified,
            (SqlExpr::Now, _) => Verdict::Kept,
            (SqlExpr::Param(_), SqlExpr::Param(_)) if self.same(value, limit) == Same::Yes => {
                Verdict::Falsified { bound: true }
            }
            (SqlExpr::Param(_), limit) if is_clock(limit) && less => {
                Verdict::Falsified { bound: true }
            }
            (SqlExpr::Other(_), limit) if is_clock(limit) || matches!(limit, SqlExpr::Param(_)) => {
                if less {
                    falsified
                } else {
                    Verdict::Kept
                }
            }
            _ => Verdict::Unknown,
        }
    }

    /// Whether two expressions have the same value.
    fn same(&self, left: &SqlExpr, right: &SqlExpr) -> Same {
        let (left, right) = (self.term(left), self.term(right));
        match (&left, &right) {
            (Term::Unknown, _) | (_, Term::Unknown) => Same::Unknown,
            (Term::Literals(left), Term::Literals(right)) => same_literals(left, right),
            (Term::Identity(left), Term::Identity(right)) if left == right => Same::Yes,
            (Term::Param(left), Term::Param(right)) if left == right => Same::Yes,
            (Term::Text(left), Term::Text(right)) if left == right => Same::Yes,
            // Two names for one value would make the condition pointless.
            _ => Same::Assumed,
        }
    }

    fn term(&self, expr: &SqlExpr) -> Term {
        match expr {
            SqlExpr::Param(param) => match (self.resolve)(param) {
                Resolved::Literal(it) => Term::Literals(vec![it]),
                Resolved::OneOf(them) => Term::Literals(them),
                Resolved::Identity(it) => Term::Identity(it),
                Resolved::Unknown => Term::Param(param.clone()),
            },
            SqlExpr::Mixed(params) => Term::Text(params.clone()),
            SqlExpr::Str(_) | SqlExpr::Int(_) | SqlExpr::Bool(_) | SqlExpr::Null | SqlExpr::Now => {
                Term::Literals(vec![expr.clone()])
            }
            SqlExpr::Column(_)
            | SqlExpr::Relative(_)
            | SqlExpr::Conditional
            | SqlExpr::Other(_) => Term::Unknown,
        }
    }
}

/// A value to compare.
enum Term {
    Literals(Vec<SqlExpr>),
    Identity(u64),
    Param(ParamRef),
    Text(Vec<ParamRef>),
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Same {
    Yes,
    No,
    /// Different names, so different values as far as anyone can tell.
    Assumed,
    Unknown,
}

fn same_literals(left: &[SqlExpr], right: &[SqlExpr]) -> Same {
    let shared = left.iter().any(|l| right.iter().any(|r| same_literal(l, r)));
    match (shared, left, right) {
        (false, ..) => Same::No,
        (true, [_], [_]) => Same::Yes,
        _ => Same::Unknown,
    }
}

/// Whether two literals are equal in the looser of the engines.
fn same_literal(left: &SqlExpr, right: &SqlExpr) -> bool {
    let number = |it: &SqlExpr| match it {
        SqlExpr::Int(it) => Some(*it),
        SqlExpr::Bool(it) => Some(i64::from(*it)),
        SqlExpr::Str(it) => it.parse().ok(),
        _ => None,
    };
    match (left, right) {
        (SqlExpr::Str(left), SqlExpr::Str(right)) => left.eq_ignore_ascii_case(right),
        _ => number(left).is_some_and(|it| number(right) == Some(it)) || left == right,
    }
}

fn like(condition: &Condition, value: &SqlExpr) -> Verdict {
    match (condition.values.first(), value) {
        (Some(SqlExpr::Str(pattern)), SqlExpr::Str(text)) => {
            if matches_like(pattern.as_bytes(), text.as_bytes()) {
                Verdict::Kept
            } else {
                Verdict::Falsified { bound: false }
            }
        }
        (Some(SqlExpr::Str(pattern)), _) if pattern.bytes().all(|it| it == b'%') => Verdict::Kept,
        (_, SqlExpr::Null) => Verdict::Falsified { bound: false },
        _ => Verdict::Unknown,
    }
}

/// LIKE without regard to case; linear in the text for each `%`.
fn matches_like(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'%') => {
                star = Some((p + 1, t));
                p += 1;
            }
            Some(it) if *it == b'_' || it.eq_ignore_ascii_case(&text[t]) => {
                p += 1;
                t += 1;
            }
            _ => {
                let Some((after, from)) = star else { return false };
                star = Some((after, from + 1));
                p = after;
                t = from + 1;
            }
        }
    }
    pattern[p..].iter().all(|it| *it == b'%')
}

fn between(condition: &Condition, value: &SqlExpr) -> Verdict {
    match (condition.values.as_slice(), value) {
        ([SqlExpr::Int(low), SqlExpr::Int(high)], SqlExpr::Int(new)) => {
            let still = (low..=high).contains(&new);
            if still { Verdict::Kept } else { Verdict::Falsified { bound: false } }
        }
        _ => Verdict::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn like_knows_its_two_wildcards() {
        for (pattern, text, wanted) in [
            ("pend%", "pending", true),
            ("pend%", "running", false),
            ("%ing", "Running", true),
            ("r_nning", "running", true),
            ("%n%n%", "running", true),
            ("", "", true),
            ("%", "", true),
            ("_", "", false),
        ] {
            assert_eq!(
                matches_like(pattern.as_bytes(), text.as_bytes()),
                wanted,
                "{pattern} {text}"
            );
        }
    }

    #[test]
    fn literals_are_equal_as_the_engines_compare_them() {
        let text = |it: &str| SqlExpr::Str(it.into());
        assert!(same_literal(&text("Open"), &text("open")));
        assert!(same_literal(&text("1"), &SqlExpr::Int(1)));
        assert!(same_literal(&SqlExpr::Bool(true), &SqlExpr::Int(1)));
        assert!(!same_literal(&text("open"), &SqlExpr::Int(0)));
        assert!(!same_literal(&SqlExpr::Null, &SqlExpr::Int(0)));
    }
}
