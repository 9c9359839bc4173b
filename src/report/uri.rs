//! How is a path written as a URI?

use std::fmt::Write as _;

/// A relative path as a URI reference; an absolute one as a `file` URI.
pub(super) fn reference(path: &str) -> String {
    if is_absolute(path) { file("", path) } else { encoded(path) }
}

/// Whether a path starts at the root of a file system.
pub(super) fn is_absolute(path: &str) -> bool {
    let is_drive = |it: &[u8]| it[0].is_ascii_alphabetic() && it[1] == b':' && it[2] == b'/';
    path.starts_with('/') || path.as_bytes().get(..3).is_some_and(is_drive)
}

/// The `file` URI of `path`, which is relative to the folder `root` unless it is absolute.
pub(super) fn file(root: &str, path: &str) -> String {
    let whole = if is_absolute(path) {
        path.to_owned()
    } else {
        format!("{}/{path}", root.trim_end_matches('/'))
    };
    let slash = if whole.starts_with('/') { "" } else { "/" };
    format!("file://{slash}{}", encoded(&whole))
}

/// Everything but letters, digits, `-._~` and the slashes between folders is percent-encoded.
fn encoded(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(byte));
            }
            byte => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        assert_eq!(reference("src/Größe [1].php"), "src/Gr%C3%B6%C3%9Fe%20%5B1%5D.php");
        assert_eq!(reference("a:b%.php"), "a%3Ab%25.php");
        assert_eq!(reference("/tmp/a b.php"), "file:///tmp/a%20b.php");
        assert_eq!(file("/home/me/app", "src/a#.php"), "file:///home/me/app/src/a%23.php");
        assert_eq!(file("C:/app", "a.php"), "file:///C%3A/app/a.php");
        assert_eq!(file("/home", "/tmp/a.php"), "file:///tmp/a.php");
    }
}
