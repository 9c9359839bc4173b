//! Tokens with their places and the parameters inside.

use crate::ir::ParamRef;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::Token;

/// A parameter inside a token.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Atom {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) mark: Mark,
}

impl Atom {
    pub(super) fn new(start: usize, end: usize, mark: Mark) -> Self {
        Self { start: offset(start), end: offset(end), mark }
    }
}

/// What a parameter looked like; numbers are given when the whole text is known.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Mark {
    /// `?`.
    Question,
    /// `%s`, `%d`, `{}`.
    Printf,
    /// Anything that says itself which one it is.
    Known(ParamRef),
}

/// A token with its place.
#[derive(Clone, Debug)]
pub(super) struct Lexed {
    pub(super) token: Token,
    pub(super) start: u32,
    pub(super) end: u32,
    /// The parameters in a word or a quoted text.
    pub(super) atoms: Vec<Atom>,
}

impl Lexed {
    /// The keyword that it is; `NoKeyword` for everything else.
    pub(super) fn keyword(&self) -> Keyword {
        match &self.token {
            Token::Word(word) => word.keyword,
            _ => Keyword::NoKeyword,
        }
    }

    /// Whether it is the unquoted word `word`, in any case.
    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(&self.token, Token::Word(it)
            if it.quote_style.is_none() && self.atoms.is_empty() && it.value.eq_ignore_ascii_case(word))
    }

    /// Whether it is nothing but parameters.
    pub(super) fn is_param(&self) -> bool {
        matches!(&self.token, Token::Word(it) if it.value == PARAM_NAME) && !self.atoms.is_empty()
    }

    /// Whether a value may end with it, so that an operator must follow.
    pub(super) fn ends_value(&self) -> bool {
        match &self.token {
            Token::Word(word) => !expects_value(word.keyword),
            Token::Number(..)
            | Token::SingleQuotedString(_)
            | Token::DollarQuotedString(_)
            | Token::HexStringLiteral(_)
            | Token::RParen
            | Token::RBracket => true,
            _ => false,
        }
    }
}

/// A value follows this word.
fn expects_value(keyword: Keyword) -> bool {
    matches!(
        keyword,
        Keyword::SELECT
            | Keyword::WHERE
            | Keyword::AND
            | Keyword::OR
            | Keyword::NOT
            | Keyword::IN
            | Keyword::IS
            | Keyword::LIKE
            | Keyword::ILIKE
            | Keyword::BETWEEN
            | Keyword::SET
            | Keyword::VALUES
            | Keyword::VALUE
            | Keyword::LIMIT
            | Keyword::OFFSET
            | Keyword::INTERVAL
            | Keyword::ON
            | Keyword::BY
            | Keyword::WHEN
            | Keyword::THEN
            | Keyword::ELSE
            | Keyword::CASE
            | Keyword::FROM
            | Keyword::UPDATE
            | Keyword::INTO
            | Keyword::JOIN
            | Keyword::TABLE
            | Keyword::RETURNING
            | Keyword::HAVING
            | Keyword::AS
            | Keyword::TOP
            | Keyword::ANY
            | Keyword::ALL
            | Keyword::SOME
            | Keyword::FETCH
            | Keyword::FIRST
            | Keyword::NEXT
            | Keyword::USING
            | Keyword::REGEXP
            | Keyword::RLIKE
            | Keyword::GLOB
            | Keyword::MATCH
            | Keyword::DISTINCT
            | Keyword::ESCAPE
            | Keyword::DIV
            | Keyword::XOR
            | Keyword::TO
            | Keyword::ARRAY
            | Keyword::ROW
            | Keyword::CALL
            | Keyword::RETURN
    )
}

/// The value of a word that is nothing but parameters; not an identifier in any engine's text.
pub(super) const PARAM_NAME: &str = "\u{e000}";

/// A word token; only a plain one can be a keyword.
pub(super) fn word(value: &str, quote: Option<char>, plain: bool) -> Token {
    match Token::make_word(value, quote) {
        Token::Word(mut it) if !plain => {
            it.keyword = Keyword::NoKeyword;
            Token::Word(it)
        }
        token => token,
    }
}

pub(super) fn is_word_start(it: char) -> bool {
    it == '_' || it.is_alphabetic()
}

pub(super) fn is_word_part(it: char) -> bool {
    is_word_start(it) || it == '$' || it.is_alphanumeric()
}

/// A byte offset; texts are shorter than 4 GiB.
pub(super) fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
