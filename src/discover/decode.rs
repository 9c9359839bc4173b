//! Which text do these bytes hold? Never fails: what is no text stands as U+FFFD.

/// The text of `bytes`: UTF-8, or UTF-16 when a byte order mark says so. The mark is left out.
/// A NUL becomes a space, so that no parser takes it for the end.
pub(super) fn decode(bytes: &[u8]) -> String {
    let text = match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => lossy(rest),
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes),
        _ => lossy(bytes),
    };
    if text.contains('\0') { text.replace('\0', " ") } else { text }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let units = pairs.iter().map(|&pair| unit(pair));
    let mut text: String =
        char::decode_utf16(units).map(|it| it.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    if !rest.is_empty() {
        text.push(char::REPLACEMENT_CHARACTER);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn marks_are_left_out_and_bad_bytes_are_replaced() {
        for (bytes, wanted) in [
            (&b"<?php"[..], "<?php"),
            (b"\xEF\xBB\xBF<?php", "<?php"),
            (b"\xFF\xFE<\0?\0", "<?"),
            (b"\xFE\xFF\0<\0?", "<?"),
            (b"\xFF\xFE<\0?", "<\u{FFFD}"),
            (b"\xFF\xFE\x00\xD8a\0", "\u{FFFD}a"),
            (b"a\xE9b", "a\u{FFFD}b"),
            (b"a\0b", "a b"),
            (b"", ""),
        ] {
            assert_eq!(decode(bytes), wanted, "{bytes:?}");
        }
    }
}
