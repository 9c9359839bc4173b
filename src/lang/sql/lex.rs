//! Characters to tokens, for every engine and every templating habit at once.
//!
//! The parser's own tokenizer has to know the engine before it can tell a comment from a table
//! prefix or a placeholder from an operator; texts in code rarely say which engine they are for.
//! This lexer reads them all: quotes, comments, placeholders, holes, template marks. A *parameter*
//! (hole, placeholder, template mark) becomes a word, so that it may stand wherever a name, a value
//! or a clause may; what it stands for is kept in its atoms. Places are byte offsets of the buffer.

use super::leftover::{self, Leftover};
use super::text::Buffer;
use crate::base::Name;
use crate::ir::{Engine, ParamRef};
use sqlparser::ast::DollarQuotedString;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::Token;

/// A parameter inside a token.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Atom {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) mark: Mark,
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
    fn ends_value(&self) -> bool {
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
        Keyword::SELECT | Keyword::WHERE | Keyword::AND | Keyword::OR | Keyword::NOT | Keyword::IN
            | Keyword::IS | Keyword::LIKE | Keyword::ILIKE | Keyword::BETWEEN | Keyword::SET
            | Keyword::VALUES | Keyword::VALUE | Keyword::LIMIT | Keyword::OFFSET
            | Keyword::INTERVAL | Keyword::ON | Keyword::BY | Keyword::WHEN | Keyword::THEN
            | Keyword::ELSE | Keyword::CASE | Keyword::FROM | Keyword::UPDATE | Keyword::INTO
            | Keyword::JOIN | Keyword::TABLE | Keyword::RETURNING | Keyword::HAVING | Keyword::AS
            | Keyword::TOP | Keyword::ANY | Keyword::ALL | Keyword::SOME | Keyword::FETCH
            | Keyword::FIRST | Keyword::NEXT | Keyword::USING | Keyword::REGEXP | Keyword::RLIKE
            | Keyword::GLOB | Keyword::MATCH | Keyword::DISTINCT | Keyword::ESCAPE | Keyword::DIV
            | Keyword::XOR | Keyword::TO | Keyword::ARRAY | Keyword::ROW | Keyword::CALL
            | Keyword::RETURN
    )
}

/// The value of a word that is nothing but parameters; not an identifier in any engine's text.
pub(super) const PARAM_NAME: &str = "\u{e000}";

/// What the lexer found next.
#[derive(Debug)]
pub(super) enum Step {
    Token(Lexed),
    /// The statement ends here: `;`, or the delimiter that the script chose.
    End(u32),
    /// So does everything that is open: `GO`.
    Batch,
    /// A quote that is not closed; the lexer goes on behind it on the next line.
    Unterminated(u32),
    Eof,
}

/// Reads a range of a buffer.
#[derive(Debug)]
pub(super) struct Lexer<'a> {
    pub(super) buffer: &'a Buffer<'a>,
    pub(super) at: usize,
    end: usize,
    engine: Option<Engine>,
    /// `\'` does not end a text.
    backslash: bool,
    /// A file: psql commands, DELIMITER, GO.
    script: bool,
    delimiter: Option<String>,
    /// The last token, for what depends on it.
    prev: Option<Lexed>,
    in_hint: bool,
    brackets: u32,
    /// `start..end` of every comment, delimiters included.
    pub(super) comments: Vec<(u32, u32)>,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(buffer: &'a Buffer<'a>, engine: Option<Engine>) -> Self {
        let text = &buffer.text;
        let backslash = match engine {
            Some(Engine::MySql) => true,
            Some(_) => false,
            None => text.contains("\\'") || text.contains("\\\"") || text.contains('`'),
        };
        Self {
            buffer,
            at: 0,
            end: text.len(),
            engine,
            backslash,
            script: false,
            delimiter: None,
            prev: None,
            in_hint: false,
            brackets: 0,
            comments: Vec::new(),
        }
    }

    /// Only the bytes `start..end`.
    pub(super) fn within(mut self, start: u32, end: u32) -> Self {
        self.at = start as usize;
        self.end = (end as usize).min(self.end);
        self
    }

    /// As the text of a file.
    pub(super) fn as_script(mut self) -> Self {
        self.script = true;
        self
    }

    pub(super) fn with_backslash(mut self, backslash: bool) -> Self {
        self.backslash = backslash;
        self
    }

    pub(super) fn backslash(&self) -> bool {
        self.backslash
    }

    /// Skips to behind the line that ends the data of a `COPY .. FROM STDIN`.
    pub(super) fn skip_copy_data(&mut self) {
        self.skip_line();
        while self.at < self.end {
            let line = self.rest().split('\n').next().unwrap_or_default().trim_end();
            self.skip_line();
            if line == "\\." {
                return;
            }
        }
    }

    /// The next token or end of a statement.
    pub(super) fn step(&mut self) -> Step {
        loop {
            self.skip_blank();
            if self.script && self.skip_command() {
                continue;
            }
            if self.script && self.skip_go() {
                self.prev = None;
                return Step::Batch;
            }
            break;
        }
        if self.at >= self.end {
            return Step::Eof;
        }
        let start = self.at;
        if let Some(delimiter) = &self.delimiter
            && self.rest().starts_with(delimiter.as_str())
        {
            self.at += delimiter.len();
            self.prev = None;
            return Step::End(offset(start));
        }
        if self.rest().starts_with(';') && self.delimiter.is_none() {
            self.at += 1;
            self.prev = None;
            return Step::End(offset(start));
        }
        let Some((token, atoms)) = self.token() else {
            self.at = start;
            self.skip_line();
            self.prev = None;
            return Step::Unterminated(offset(start));
        };
        let lexed = Lexed { token, start: offset(start), end: offset(self.at), atoms };
        self.prev = Some(lexed.clone());
        Step::Token(lexed)
    }

    fn rest(&self) -> &'a str {
        self.buffer.text.get(self.at..self.end).unwrap_or_default()
    }

    fn skip_line(&mut self) {
        self.at = self.rest().find('\n').map_or(self.end, |it| self.at + it + 1);
    }

    fn skip_blank(&mut self) {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start_matches(is_blank).len();
            self.at += blank;
            let rest = self.rest();
            if self.in_hint && rest.starts_with("*/") {
                self.in_hint = false;
                self.at += 2;
            } else if rest.starts_with("/*!") {
                self.in_hint = true;
                let digits = rest[3..].bytes().take_while(u8::is_ascii_digit).count();
                self.at += 3 + digits;
            } else if rest.starts_with("/*") {
                self.comment(block_comment_len(rest));
            } else if rest.starts_with("--") || self.is_hash_comment(rest) {
                self.comment(rest.find('\n').unwrap_or(rest.len()));
            } else {
                return;
            }
        }
    }

    fn comment(&mut self, len: usize) {
        self.comments.push((offset(self.at), offset(self.at + len)));
        self.at += len;
    }

    /// `#` begins a comment in MySQL, an operator in PostgreSQL, a name in SQL Server and Joomla.
    fn is_hash_comment(&self, rest: &str) -> bool {
        let Some(after) = rest.strip_prefix('#') else { return false };
        let Some(next) = after.chars().next() else { return true };
        if after.starts_with("__") || after.starts_with('{') || after.starts_with('>') {
            return false;
        }
        let line_begins = self.buffer.text[..self.at].trim_end_matches([' ', '\t']);
        let at_line_start = line_begins.is_empty() || line_begins.ends_with('\n');
        is_blank(next) || at_line_start || self.engine == Some(Engine::MySql)
    }

    /// A line for psql or for the `mysql` client.
    fn skip_command(&mut self) -> bool {
        if !self.is_line_start() {
            return false;
        }
        let rest = self.rest();
        if rest.starts_with('\\') {
            self.skip_line();
            return true;
        }
        let word = "delimiter";
        if rest.get(..word.len()).is_some_and(|it| it.eq_ignore_ascii_case(word))
            && rest[word.len()..].starts_with([' ', '\t'])
        {
            let line = rest[word.len()..].split('\n').next().unwrap_or_default().trim();
            let chosen = line.split_whitespace().next().unwrap_or(";").to_owned();
            self.delimiter = (chosen != ";").then_some(chosen);
            self.skip_line();
            return true;
        }
        false
    }

    /// A batch separator of SQL Server's tools.
    fn skip_go(&mut self) -> bool {
        if !self.is_line_start() {
            return false;
        }
        let line = self.rest().split('\n').next().unwrap_or_default();
        let mut words = line.split_whitespace();
        let go = words.next().is_some_and(|it| it.eq_ignore_ascii_case("go"));
        let count = words.next().is_none_or(|it| it.bytes().all(|it| it.is_ascii_digit()));
        if go && count {
            self.skip_line();
        }
        go && count
    }

    fn is_line_start(&self) -> bool {
        let before = self.buffer.text[..self.at].trim_end_matches([' ', '\t', '\u{feff}']);
        before.is_empty() || before.ends_with('\n')
    }

    /// None when a quote is not closed.
    fn token(&mut self) -> Option<(Token, Vec<Atom>)> {
        let rest = self.rest();
        let first = rest.chars().next()?;
        match first {
            '\'' => return self.quoted('\''),
            '"' | '`' => return self.quoted(first),
            '$' if let Some(it) = dollar_quoted(rest) => {
                self.at += it.0;
                return Some((Token::DollarQuotedString(it.1), Vec::new()));
            }
            '[' if self.brackets == 0 && self.begins_name(rest) => return self.quoted('['),
            '0'..='9' => return Some(self.number()),
            '.' if rest[1..].starts_with(|it: char| it.is_ascii_digit())
                && !self.adjoins_value() =>
            {
                return Some(self.number());
            }
            _ => {}
        }
        if let Some(it) = self.prefixed_string(rest) {
            return it;
        }
        if let Some((len, mark)) = self.param(rest) {
            let start = offset(self.at);
            self.at += len;
            let atom = Atom { start, end: offset(self.at), mark };
            return Some((word(PARAM_NAME.to_owned(), None, false), vec![atom]));
        }
        if self.buffer.hole_at(self.at).is_some()
            || is_word_start(first)
            || leftover::in_word(rest, true).is_some()
        {
            return Some(self.word());
        }
        Some((self.operator(rest, first), Vec::new()))
    }

    /// `N'..'`, `E'..'`, `x'..'`, `_utf8'..'`.
    #[expect(clippy::option_option, reason = "outer: it is none; inner: it is not closed")]
    fn prefixed_string(&mut self, rest: &str) -> Option<Option<(Token, Vec<Atom>)>> {
        let len = rest.bytes().take_while(|it| it.is_ascii_alphanumeric() || *it == b'_').count();
        let prefix = &rest[..len];
        if !rest[len..].starts_with('\'') {
            return None;
        }
        let introducer = prefix.starts_with('_') && len > 1;
        if !introducer && !matches!(prefix, "N" | "n" | "E" | "e" | "X" | "x" | "B" | "b") {
            return None;
        }
        self.at += len;
        let backslash = self.backslash;
        self.backslash |= prefix.eq_ignore_ascii_case("e");
        let out = self.quoted('\'');
        self.backslash = backslash;
        Some(out.map(|(token, atoms)| match token {
            Token::SingleQuotedString(it) if prefix.eq_ignore_ascii_case("x") => {
                (Token::HexStringLiteral(it), atoms)
            }
            token => (token, atoms),
        }))
    }

    /// A text or a quoted name, with the parameters inside.
    fn quoted(&mut self, open: char) -> Option<(Token, Vec<Atom>)> {
        let close = if open == '[' { ']' } else { open };
        let body = self.at + 1;
        let mut value = String::new();
        let mut atoms = Vec::new();
        let mut at = body;
        loop {
            if at >= self.end {
                return None;
            }
            if let Some(hole) = self.buffer.hole_at(at) {
                let end = at + Buffer::hole_len();
                atoms.push(atom(at, end, Mark::Known(ParamRef::Hole(hole))));
                at = end;
                continue;
            }
            let it = self.buffer.text[at..self.end].chars().next()?;
            let next = at + it.len_utf8();
            if it == close && self.buffer.text[next..self.end].starts_with(close) && open != '[' {
                value.push(close);
                at = next + close.len_utf8();
            } else if it == close {
                break;
            } else if it == '\\' && self.backslash && open != '`' && open != '[' {
                let escaped = self.buffer.text[next..self.end].chars().next()?;
                value.push(unescape(escaped));
                at = next + escaped.len_utf8();
            } else {
                value.push(it);
                at = next;
            }
        }
        self.at = at + 1;
        if atoms.is_empty() {
            atoms = leftover::in_quotes(&self.buffer.text[body..at], body);
            if atoms.iter().any(|it| it.start as usize == body && it.end as usize == at) {
                value.clear();
            }
        }
        Some((self.quoted_token(open, value, &atoms), atoms))
    }

    /// `"x"` is a name in the standard and a text in MySQL: a name here when it can be one, since
    /// the parser takes a name wherever it takes a text.
    fn quoted_token(&self, open: char, value: String, atoms: &[Atom]) -> Token {
        let name_like = !value.is_empty() && value.chars().all(|it| is_word_part(it) || it == '.');
        match open {
            '\'' => Token::SingleQuotedString(value),
            '"' if self.engine == Some(Engine::MySql) && !self.prev_is_period() => {
                Token::SingleQuotedString(value)
            }
            '"' if !name_like && atoms.is_empty() && !self.prev_is_period() => {
                Token::SingleQuotedString(value)
            }
            _ => {
                let value = if value.is_empty() { PARAM_NAME.to_owned() } else { value };
                word(value, Some(open), false)
            }
        }
    }

    fn prev_is_period(&self) -> bool {
        self.prev.as_ref().is_some_and(|it| it.token == Token::Period)
    }

    /// The last token is a value and ends right here.
    fn adjoins_value(&self) -> bool {
        self.prev.as_ref().is_some_and(|it| it.end as usize == self.at && it.ends_value())
    }

    /// `[name]` of SQL Server, and not a subscript or an array.
    fn begins_name(&self, rest: &str) -> bool {
        if rest.starts_with("[[") || self.adjoins_value() {
            return false;
        }
        if self.prev.as_ref().is_some_and(|it| it.is_word("array") || it.token == Token::RBracket) {
            return false;
        }
        let Some(close) = rest.find(']') else { return false };
        let name = &rest[1..close];
        name.starts_with(is_word_start)
            && name.chars().all(|it| is_word_part(it) || matches!(it, ' ' | '-' | '.' | '$' | '#'))
    }

    fn number(&mut self) -> (Token, Vec<Atom>) {
        let rest = self.rest();
        let digits = |from: usize| {
            rest[from..].bytes().take_while(|it| it.is_ascii_digit() || *it == b'_').count()
        };
        if rest.starts_with("0x") || rest.starts_with("0X") {
            let len = rest[2..].bytes().take_while(u8::is_ascii_hexdigit).count();
            self.at += 2 + len;
            return (Token::HexStringLiteral(rest[2..2 + len].to_owned()), Vec::new());
        }
        let mut len = digits(0);
        if rest[len..].starts_with('.') {
            len += 1 + digits(len + 1);
        }
        if rest[len..].starts_with(['e', 'E']) {
            let sign = usize::from(rest[len + 1..].starts_with(['+', '-']));
            let exponent = digits(len + 1 + sign);
            len += if exponent > 0 { 1 + sign + exponent } else { 0 };
        }
        let joined = rest[len..].starts_with(is_word_part)
            || self.buffer.hole_at(self.at + len).is_some();
        if joined && !rest[..len].contains('.') {
            return self.word();
        }
        self.at += len;
        (Token::Number(rest[..len].replace('_', ""), false), Vec::new())
    }

    /// A word: letters, holes and template marks that touch.
    fn word(&mut self) -> (Token, Vec<Atom>) {
        let mut name = String::new();
        let mut atoms = Vec::new();
        let mut template = false;
        while self.at < self.end {
            let rest = self.rest();
            if let Some(hole) = self.buffer.hole_at(self.at) {
                let end = self.at + Buffer::hole_len();
                atoms.push(atom(self.at, end, Mark::Known(ParamRef::Hole(hole))));
                self.at = end;
                continue;
            }
            let Some(it) = rest.chars().next() else { break };
            if is_word_part(it) && !rest.starts_with("${") {
                name.push(it);
                self.at += it.len_utf8();
            } else if let Some(len) = self.joins_entity(rest, it, &name) {
                name.push_str(&rest[..len]);
                self.at += len;
            } else if let Some(found) = self.template_mark(rest, &name, &atoms) {
                template = true;
                match found {
                    Leftover::Name { text, len } => {
                        name.push_str(text);
                        self.at += len;
                    }
                    Leftover::Param { mark, len } => {
                        atoms.push(atom(self.at, self.at + len, mark));
                        self.at += len;
                    }
                }
            } else {
                break;
            }
        }
        let plain = !template && atoms.is_empty();
        let value = if name.is_empty() { PARAM_NAME.to_owned() } else { name };
        (word(value, None, plain), atoms)
    }

    fn template_mark(&self, rest: &'a str, name: &str, atoms: &[Atom]) -> Option<Leftover<'a>> {
        let start = name.is_empty() && atoms.is_empty();
        let found = leftover::in_word(rest, start)?;
        match found {
            // `{jobs}` is a name where a table stands and a value elsewhere; a prefix when it touches.
            Leftover::Name { text, len } if rest.starts_with('{') => {
                let touches = !start || rest[len..].starts_with(is_word_start);
                let names_table = self.expects_table() && !leftover::is_generic(text);
                let known = rest.starts_with("{{%") || (names_table && !touches);
                let param = ParamRef::Named(Name::from(text));
                Some(if known {
                    Leftover::Name { text, len }
                } else {
                    Leftover::Param { mark: Mark::Known(param), len }
                })
            }
            found => Some(found),
        }
    }

    /// A table's name comes next.
    fn expects_table(&self) -> bool {
        self.prev.as_ref().is_some_and(|it| {
            matches!(
                it.keyword(),
                Keyword::UPDATE
                    | Keyword::FROM
                    | Keyword::INTO
                    | Keyword::JOIN
                    | Keyword::TABLE
                    | Keyword::DELETE
            )
        })
    }

    /// `App\Entity\Job` and `AppBundle:Job` are one name.
    fn joins_entity(&self, rest: &str, it: char, name: &str) -> Option<usize> {
        let follows = rest[it.len_utf8()..].starts_with(is_word_start);
        let joins = match it {
            '\\' => follows && !name.is_empty(),
            ':' => {
                follows
                    && self.expects_table()
                    && name.starts_with(char::is_uppercase)
                    && !rest.starts_with("::")
            }
            _ => false,
        };
        joins.then_some(it.len_utf8())
    }

    /// A placeholder, and how long it is.
    fn param(&self, rest: &str) -> Option<(usize, Mark)> {
        if rest.starts_with('?') {
            return self.question(rest);
        }
        if rest.starts_with(':') && (self.brackets > 0 && self.adjoins_value()) {
            return None;
        }
        leftover::param(rest)
    }

    /// `?` is a placeholder, or PostgreSQL's "has this key" when it stands between two values.
    fn question(&self, rest: &str) -> Option<(usize, Mark)> {
        let digits = rest[1..].bytes().take_while(u8::is_ascii_digit).count();
        if let Ok(number) = rest[1..=digits].parse::<u32>() {
            let mark = Mark::Known(ParamRef::Position(number.saturating_sub(1)));
            return Some((1 + digits, mark));
        }
        let after_value = self.prev.as_ref().is_some_and(|it| it.ends_value());
        let between = after_value && !matches!(self.engine, Some(Engine::MySql | Engine::Sqlite));
        let key = rest[1..].trim_start_matches(['|', '&', ' ']);
        if between && (key.starts_with(['\'', '$', ':', '?']) || key.starts_with("array")) {
            return None;
        }
        Some((1, Mark::Question))
    }

    fn operator(&mut self, rest: &str, first: char) -> Token {
        match first {
            '[' => self.brackets += 1,
            ']' => self.brackets = self.brackets.saturating_sub(1),
            _ => {}
        }
        for (text, token) in OPERATORS {
            if rest.starts_with(text) {
                self.at += text.len();
                return token.clone();
            }
        }
        self.at += first.len_utf8();
        Token::Char(first)
    }
}

/// The longest first.
const OPERATORS: &[(&str, Token)] = &[
    ("!~~*", Token::ExclamationMarkDoubleTildeAsterisk),
    ("->>", Token::LongArrow),
    ("#>>", Token::HashLongArrow),
    ("<=>", Token::Spaceship),
    ("!~~", Token::ExclamationMarkDoubleTilde),
    ("!~*", Token::ExclamationMarkTildeAsterisk),
    ("~~*", Token::DoubleTildeAsterisk),
    ("->", Token::Arrow),
    ("#>", Token::HashArrow),
    ("#-", Token::HashMinus),
    ("@>", Token::AtArrow),
    ("<@", Token::ArrowAt),
    ("@@", Token::AtAt),
    ("@?", Token::AtQuestion),
    ("<>", Token::Neq),
    ("!=", Token::Neq),
    ("<=", Token::LtEq),
    (">=", Token::GtEq),
    ("==", Token::DoubleEq),
    ("=>", Token::RArrow),
    ("::", Token::DoubleColon),
    (":=", Token::Assignment),
    ("||", Token::StringConcat),
    ("&&", Token::Overlap),
    ("<<", Token::ShiftLeft),
    (">>", Token::ShiftRight),
    ("!~", Token::ExclamationMarkTilde),
    ("~~", Token::DoubleTilde),
    ("~*", Token::TildeAsterisk),
    ("?|", Token::QuestionPipe),
    ("?&", Token::QuestionAnd),
    ("?", Token::Question),
    ("=", Token::Eq),
    ("<", Token::Lt),
    (">", Token::Gt),
    ("+", Token::Plus),
    ("-", Token::Minus),
    ("*", Token::Mul),
    ("/", Token::Div),
    ("%", Token::Mod),
    ("(", Token::LParen),
    (")", Token::RParen),
    (",", Token::Comma),
    (".", Token::Period),
    (";", Token::SemiColon),
    (":", Token::Colon),
    ("[", Token::LBracket),
    ("]", Token::RBracket),
    ("{", Token::LBrace),
    ("}", Token::RBrace),
    ("&", Token::Ampersand),
    ("|", Token::Pipe),
    ("^", Token::Caret),
    ("~", Token::Tilde),
    ("!", Token::ExclamationMark),
    ("#", Token::Sharp),
    ("@", Token::AtSign),
    ("\\", Token::Backslash),
];

fn atom(start: usize, end: usize, mark: Mark) -> Atom {
    Atom { start: offset(start), end: offset(end), mark }
}

/// A word token; only a plain one can be a keyword.
fn word(value: String, quote: Option<char>, plain: bool) -> Token {
    match Token::make_word(&value, quote) {
        Token::Word(mut it) if !plain => {
            it.keyword = Keyword::NoKeyword;
            Token::Word(it)
        }
        token => token,
    }
}

/// `$$ body $$` or `$tag$ body $tag$`, and its length.
fn dollar_quoted(rest: &str) -> Option<(usize, DollarQuotedString)> {
    let tag_len = rest[1..].find('$')?;
    let tag = &rest[1..=tag_len];
    if !tag.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
        || tag.starts_with(|it: char| it.is_ascii_digit())
    {
        return None;
    }
    let open = &rest[..tag_len + 2];
    let body = rest[open.len()..].find(open)?;
    let value = rest[open.len()..open.len() + body].to_owned();
    let tag = (!tag.is_empty()).then(|| tag.to_owned());
    Some((open.len() * 2 + body, DollarQuotedString { value, tag }))
}

/// Block comments nest in PostgreSQL and SQL Server; where that leaves them open, they do not.
fn block_comment_len(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut depth = 0_u32;
    let mut at = 0;
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"/*" => depth += 1,
            b"*/" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    rest[2..].find("*/").map_or(rest.len(), |it| it + 4)
}

fn unescape(it: char) -> char {
    match it {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        '0' => '\0',
        it => it,
    }
}

fn is_blank(it: char) -> bool {
    it.is_whitespace() || it == '\u{feff}' || it == '\0'
}

pub(super) fn is_word_start(it: char) -> bool {
    it == '_' || it.is_alphabetic()
}

pub(super) fn is_word_part(it: char) -> bool {
    is_word_start(it) || it == '$' || it.is_alphanumeric()
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
