//! Which known word did someone mean who wrote another?

/// The word of `known` that takes the fewest edits to reach, when they are few for its length.
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let folded = fold(word);
    known
        .iter()
        .map(|&it| (distance(&folded, &fold(it)), it))
        .min()
        .filter(|&(edits, it)| edits <= 1 + it.len() / 4)
        .map(|(_, it)| it)
}

fn fold(word: &str) -> Vec<char> {
    // A word that is far too long is nobody's typing error.
    word.chars().take(64).map(|it| if it == '_' { '-' } else { it.to_ascii_lowercase() }).collect()
}

/// Insertions, deletions, replacements and swaps of neighbours from `a` to `b`.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (row, &from) in a.iter().enumerate() {
        let mut next = vec![row + 1];
        for (col, &to) in b.iter().enumerate() {
            let replaced = last[col] + usize::from(from != to);
            let mut best = replaced.min(last[col + 1] + 1).min(next[col] + 1);
            if row > 0 && col > 0 && from == b[col - 1] && a[row - 1] == to {
                best = best.min(before[col - 1] + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut last, next);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn typing_errors_find_their_word() {
        let known = ["exclude", "min-confidence", "fail-level", "rules"];
        for (word, wanted) in [
            ("exlude", Some("exclude")),
            ("excldue", Some("exclude")),
            ("min_confidence", Some("min-confidence")),
            ("Rule", Some("rules")),
            ("dialect", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, &known), wanted, "{word}");
        }
    }
}
