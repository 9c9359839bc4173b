//! Which calls do the markers of a pack's test program name, and what do the packs make of them?
//!
//! ```text
//! $card = $database->get('card', '*', ['id' => $id]);   //~ role:load
//! $stmt->getIterator();                                 //~ MISSING role:fetch
//! ```

use super::{OPENERS, next_opener};
use std::collections::{BTreeMap, BTreeSet};

/// One role that a marker names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RoleMarker {
    /// Line that it speaks of, from 1.
    pub line: usize,
    /// The word of the role.
    pub role: String,
    /// Whether the call is known not to be understood yet.
    pub is_missing: bool,
}

/// The roles that the markers of `text` name, in order. One marker may name several.
pub fn role_markers(text: &str) -> Vec<RoleMarker> {
    let mut out = Vec::new();
    for (idx, line) in text.lines().enumerate() {
        let Some((start, opener)) = next_opener(line, 0) else { continue };
        let marker = &line[start + opener.len()..];
        let carets = marker.chars().take_while(|it| *it == '^').count();
        let is_missing = marker.split_whitespace().any(|it| it == "MISSING");
        let words = marker.trim_start_matches('^').split_whitespace();
        let words = words.take_while(|it| !OPENERS.iter().any(|opener| it.starts_with(opener)));
        let roles = words.filter_map(|it| it.strip_prefix("role:"));
        out.extend(roles.map(|role| RoleMarker {
            line: (idx + 1).saturating_sub(carets),
            role: role.to_owned(),
            is_missing,
        }));
    }
    out
}

/// Where `markers` and the roles found in each line disagree, one line of text for each.
pub fn role_corrections(
    path: &str,
    markers: &[RoleMarker],
    found: &BTreeMap<usize, BTreeSet<&str>>,
) -> Vec<String> {
    let mut out = Vec::new();
    for RoleMarker { line, role, is_missing } in markers {
        let has = found.get(line).is_some_and(|it| it.contains(&**role));
        match (has, is_missing) {
            (true, true) => out
                .push(format!("{path}:{line}: is understood, drop the word MISSING: role:{role}")),
            (false, false) => {
                let others: Vec<_> = found.get(line).into_iter().flatten().copied().collect();
                let others = if others.is_empty() { "no role" } else { &*others.join(", ") };
                out.push(format!("{path}:{line}: missing role:{role}, found {others}"));
            }
            _ => (),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_names_one_role_or_several() {
        let text = "a //~ role:load role:lock-row\n//~^ MISSING role:fetch\nb --~ stale-check\n#~ role:ack";
        let read = role_markers(text);
        let seen: Vec<_> = read.iter().map(|it| (it.line, &*it.role, it.is_missing)).collect();
        let wanted =
            [(1, "load", false), (1, "lock-row", false), (1, "fetch", true), (4, "ack", false)];
        assert_eq!(seen, wanted);
    }

    #[test]
    fn a_role_is_looked_for_in_its_line_only() {
        let markers = role_markers("a //~ role:load\nb //~ role:lock\nc //~ MISSING role:ack");
        let found =
            BTreeMap::from([(2, BTreeSet::from(["load", "query"])), (3, BTreeSet::from(["ack"]))]);
        let wanted = [
            "a.php:1: missing role:load, found no role",
            "a.php:2: missing role:lock, found load, query",
            "a.php:3: is understood, drop the word MISSING: role:ack",
        ];
        assert_eq!(role_corrections("a.php", &markers, &found), wanted);
    }
}
