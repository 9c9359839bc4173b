//! `.sql` files: their statements in order, their comments, and the places that are not understood.

use super::engine;
use super::lex::Lexer;
use super::read::Reader;
use super::split::{self, Chunk};
use super::text::{Buffer, SqlText};
use super::tree::Refused;
use crate::base::{Comment, Language, Name, Problem, ProblemKind, Source, Span};
use crate::ir;

/// Lowers a file. A statement that is refused becomes a problem; the rest goes on.
pub fn lower(source: &Source) -> ir::File {
    let mut file = ir::File::empty(source.id, Language::Sql);
    file.exempt = source.exempt;
    let whole = Span::new(source.id, 0, source.text.len());
    let text = SqlText::literal(Name::from(source.text.as_str()), whole);
    let buffer = Buffer::new(&text);
    let mut lexer = Lexer::new(&buffer, None).for_script();
    let backslash = lexer.backslash();
    let mut ctx = Ctx { source, buffer: &buffer, backslash, file: &mut file };
    while let Some(mut chunk) = split::next_chunk(&mut lexer) {
        ctx.chunk(&mut chunk);
    }
    for (start, end) in lexer.comments {
        file.comments.push(comment(source, start, end));
    }
    file
}

struct Ctx<'a> {
    source: &'a Source,
    buffer: &'a Buffer<'a>,
    backslash: bool,
    file: &'a mut ir::File,
}

impl Ctx<'_> {
    fn chunk(&mut self, chunk: &mut Chunk) {
        if let Some(at) = chunk.unterminated {
            self.problem(Some(at), "a quote is not closed");
        }
        let positions = split::number_params(std::slice::from_mut(chunk));
        let evidence = engine::evidence(&self.buffer.text, chunk.tokens.iter());
        let (buffer, backslash) = (self.buffer, self.backslash);
        let reader = Reader { buffer, engine: evidence, evidence, backslash };
        let mut found = Vec::new();
        let result = reader.chunk(chunk, &mut found);
        for stmt in &mut found {
            stmt.positions = positions;
        }
        self.file.statements.append(&mut found);
        if let Err(Refused { at, message }) = result
            && chunk.unterminated.is_none()
        {
            let at = at.or(chunk.tokens.first().map(|it| it.start));
            self.problem(at, &plain(&message));
        }
    }

    fn problem(&mut self, at: Option<u32>, message: &str) {
        let span = at.map(|at| Span::new(self.source.id, at as usize, at as usize + 1));
        self.file.problems.push(Problem {
            kind: ProblemKind::Syntax,
            path: self.source.path.clone(),
            span,
            message: message.to_owned(),
        });
    }
}

/// The parser's words without its idea of a place.
fn plain(message: &str) -> String {
    let text = message.split(" at Line: ").next().unwrap_or(message);
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => String::new(),
    }
}

fn comment(source: &Source, start: u32, end: u32) -> Comment {
    let span = Span::new(source.id, start as usize, end as usize);
    let text = source.text.get(span.range()).unwrap_or_default();
    let inner = text
        .strip_prefix("/*")
        .map(|it| it.strip_suffix("*/").unwrap_or(it))
        .or_else(|| text.strip_prefix("--"))
        .or_else(|| text.strip_prefix('#'))
        .unwrap_or(text);
    Comment { span, text: inner.trim().to_owned() }
}
