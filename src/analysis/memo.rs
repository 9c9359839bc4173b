//! Memo: what was looked up by name once need not be looked up again.

use rustc_hash::FxHashMap;
use std::sync::{PoisonError, RwLock};

/// Answers by name. Only what always has the same answer may be asked.
#[derive(Debug)]
pub(super) struct Memo<V>(RwLock<FxHashMap<Box<str>, V>>);

impl<V> Default for Memo<V> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<V: Clone> Memo<V> {
    /// The answer for `key`; `find` works it out when it is first asked for.
    pub(super) fn get(&self, key: &str, find: impl FnOnce() -> V) -> V {
        if let Some(found) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(key) {
            return found.clone();
        }
        let found = find();
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(key.into(), found.clone());
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_worked_out_once() {
        let memo: Memo<usize> = Memo::default();
        assert_eq!(memo.get("job", || 1), 1);
        assert_eq!(memo.get("job", || 2), 1);
        assert_eq!(memo.get("order", || 3), 3);
    }
}
