//! Where does a place of the last text that parsed stand in the text of now?

/// One edit between two texts: all between the longest common beginning and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shift {
    /// Bytes that both begin with.
    prefix: usize,
    /// Length of the old text without what both end with.
    old_end: usize,
    /// Length of the new text without it.
    new_end: usize,
}

impl Shift {
    /// The edit that makes `new` of `old`.
    pub(super) fn between(old: &str, new: &str) -> Self {
        let same = |(a, b): &(u8, u8)| a == b;
        let prefix = old.bytes().zip(new.bytes()).take_while(same).count();
        let longest = old.len().min(new.len()) - prefix;
        let ends = old.bytes().rev().zip(new.bytes().rev());
        let suffix = ends.take_while(same).count().min(longest);
        Self { prefix, old_end: old.len() - suffix, new_end: new.len() - suffix }
    }

    /// The offset in the new text; what was inside of the edit is at its start.
    pub(super) fn offset(self, offset: usize) -> usize {
        if offset >= self.old_end {
            offset - self.old_end + self.new_end
        } else {
            offset.min(self.prefix)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_around_an_edit_move_with_it() {
        for (old, new, offset, wanted) in [
            ("abcdef", "abcdef", 3, 3),
            ("abcdef", "abXXcdef", 1, 1),
            ("abcdef", "abXXcdef", 4, 6),
            ("abcdef", "abf", 4, 2),
            ("abcdef", "abf", 5, 2),
            ("abcdef", "", 3, 0),
            ("aaaa", "aa", 4, 2),
        ] {
            assert_eq!(Shift::between(old, new).offset(offset), wanted, "{old} {new} {offset}");
        }
    }
}
