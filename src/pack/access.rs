//! Access paths as packs write them: `receiver`, `arg1:name`, `result.elements`, `=text`.

use crate::model::Access;

/// The access path of that text; none when it is not one.
pub(super) fn parse_access(text: &str) -> Option<Access> {
    if let Some(literal) = text.strip_prefix('=') {
        return Some(Access::Literal(literal.into()));
    }
    let mut parts = text.split('.');
    let mut access = parse_base(parts.next()?)?;
    for part in parts {
        access = match part {
            "" => return None,
            "elements" => Access::Elements(Box::new(access)),
            name => Access::Field(Box::new(access), name.into()),
        };
    }
    Some(access)
}

fn parse_base(text: &str) -> Option<Access> {
    match text {
        "receiver" => return Some(Access::Receiver),
        "result" => return Some(Access::Result),
        _ => (),
    }
    if let Some(from) = text.strip_prefix("args") {
        return Some(Access::ArgsFrom(parse_index(from)?));
    }
    let arg = text.strip_prefix("arg")?;
    match arg.split_once(':') {
        None => Some(Access::Arg(parse_index(arg)?, None)),
        Some((_, "")) => None,
        Some((idx, name)) => Some(Access::Arg(parse_index(idx)?, Some(name.into()))),
    }
}

/// Up to two digits; `+1` and the like are not for us.
fn parse_index(text: &str) -> Option<u32> {
    let digits = text.len() <= 2 && text.bytes().all(|it| it.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

/// The greatest argument position that a path speaks of; a named argument has no fixed position.
pub(super) fn position(access: &Access) -> Option<u32> {
    match access {
        Access::Arg(idx, None) | Access::ArgsFrom(idx) => Some(*idx),
        Access::Arg(_, Some(_)) | Access::Receiver | Access::Result | Access::Literal(_) => None,
        Access::Elements(inner) | Access::Field(inner, _) => position(inner),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read() {
        let arg = |idx| Access::Arg(idx, None);
        for (text, wanted) in [
            ("receiver", Access::Receiver),
            ("result", Access::Result),
            ("arg0", arg(0)),
            ("arg1:callback", Access::Arg(1, Some("callback".into()))),
            ("args1", Access::ArgsFrom(1)),
            ("=FOR UPDATE", Access::Literal("FOR UPDATE".into())),
            ("=a.b", Access::Literal("a.b".into())),
            ("arg0.elements", Access::Elements(Box::new(arg(0)))),
            ("arg0.id", Access::Field(Box::new(arg(0)), "id".into())),
            (
                "result.elements.id",
                Access::Field(Box::new(Access::Elements(Box::new(Access::Result))), "id".into()),
            ),
        ] {
            assert_eq!(parse_access(text), Some(wanted), "{text}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for text in ["", "arg", "argx", "args", "arg+1", "arg0:", "arg0.", "self", "arg100"] {
            assert_eq!(parse_access(text), None, "{text}");
        }
    }
}
