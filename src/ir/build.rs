//! Building control-flow graphs: straight code, branches, loops, `try` with `finally` copied once for
//! each way of leaving.
//!
//! A front end keeps its own syntax; the builder keeps blocks and *scopes* (loops, handlers,
//! `finally` bodies and destructors). To leave through scopes the front end calls [`leave`], which
//! asks it, through [`Lowering`], to lower each `finally` body again on the way out:
//!
//! ```text
//! try { return f(); } finally { g(); }      b0: t1 = f()   handler b2
//!                                               goto b1
//!                                           b1: g()             (copy: return)
//!                                               return t1
//!                                           b2: g()             (copy: throw)
//!                                               throw e
//! ```

use super::{
    Block, BlockId, CatchArm, Cfg, Handler, Instr, InstrKind, Local, LocalId, Operand, Place,
    Rvalue, Terminator, TypeRef,
};
use crate::base::{IdVec, Name, Span};

/// What the code under construction is nested in.
#[derive(Clone, Debug)]
enum Scope {
    Loop { label: Option<Name>, break_to: BlockId, continue_to: BlockId },
    Handler(Handler),
    Finally(u32),
}

/// Scopes taken off the stack, to be put back by `CfgBuilder::restore`.
#[derive(Debug)]
pub struct Unwound(Vec<Scope>);

/// A way of leaving the current scopes.
#[derive(Clone, Debug)]
pub enum Exit {
    /// `return`.
    Return {
        /// The value.
        value: Option<Operand>,
        /// The statement.
        span: Span,
    },
    /// `break`, out of `levels` loops or of the labelled one.
    Break {
        /// From 1.
        levels: usize,
        /// Rust label.
        label: Option<Name>,
    },
    /// `continue` of the `levels`th loop or of the labelled one.
    Continue {
        /// From 1.
        levels: usize,
        /// Rust label.
        label: Option<Name>,
    },
}

/// What a front end offers so that `finally` bodies can be lowered again.
pub trait Lowering {
    /// The builder of the function under construction.
    fn builder(&mut self) -> &mut CfgBuilder;
    /// Lowers the body that was pushed as `token`, into the current block.
    fn lower_finally(&mut self, token: u32);
}

/// A `catch` to lower: its types, the variable and its place; the body is lowered by the caller.
#[derive(Clone, Debug)]
pub struct Catch {
    /// Types it takes; empty takes all.
    pub types: Vec<TypeRef>,
    /// From `catch` to the closing parenthesis.
    pub span: Span,
}

/// A function body under construction.
#[derive(Debug)]
pub struct CfgBuilder {
    blocks: IdVec<BlockId, Block>,
    locals: IdVec<LocalId, Local>,
    current: BlockId,
    scopes: Vec<Scope>,
    finally_depth: u32,
    end: Span,
}

impl CfgBuilder {
    /// An empty body; `end` is where falling off the end is shown.
    pub fn new(end: Span) -> Self {
        let mut out = Self {
            blocks: IdVec::default(),
            locals: IdVec::default(),
            current: BlockId(0),
            scopes: Vec::new(),
            finally_depth: 0,
            end,
        };
        out.current = out.new_block();
        out
    }

    /// A named variable. The caller maps names to locals.
    pub fn local(&mut self, name: impl Into<Name>, ty: Option<TypeRef>) -> LocalId {
        self.locals.push(Local { name: name.into(), ty })
    }

    /// A temporary.
    pub fn temp(&mut self) -> LocalId {
        self.local("", None)
    }

    /// The declared or inferred type of a local, to set or read.
    pub fn local_mut(&mut self, id: LocalId) -> &mut Local {
        &mut self.locals[id]
    }

    /// A block that nothing leads to yet; it has the handler of the current scopes.
    pub fn new_block(&mut self) -> BlockId {
        let handler = self.scopes.iter().rev().find_map(|it| match it {
            Scope::Handler(handler) => Some(*handler),
            _ => None,
        });
        self.blocks.push(Block {
            instrs: Vec::new(),
            term: Terminator::Unreachable,
            handler,
            in_finally: self.finally_depth > 0,
            exit: None,
        })
    }

    /// The block that receives instructions.
    pub fn current(&self) -> BlockId {
        self.current
    }

    /// Goes on in `block`.
    pub fn switch_to(&mut self, block: BlockId) {
        self.current = block;
    }

    /// Ends the current block and goes on in a new one that nothing leads to.
    pub fn terminate(&mut self, term: Terminator) {
        self.blocks[self.current].term = term;
        self.current = self.new_block();
    }

    /// Ends the current block with a jump; what follows is unreachable until `switch_to`.
    pub fn goto(&mut self, to: BlockId) {
        self.terminate(Terminator::Goto(to));
    }

    /// Branches on `cond` to two new blocks, (true, false), and goes on in the first.
    pub fn branch(&mut self, cond: Operand, span: Span) -> (BlockId, BlockId) {
        let then = self.new_block();
        let otherwise = self.new_block();
        self.blocks[self.current].term = Terminator::Branch { cond, then, otherwise, span };
        self.current = then;
        (then, otherwise)
    }

    /// Appends an instruction.
    pub fn push(&mut self, kind: InstrKind, span: Span) {
        let current = self.current;
        self.blocks[current].instrs.push(Instr { kind, span });
    }

    /// `place = value`.
    pub fn assign(&mut self, place: Place, value: Rvalue, span: Span) {
        self.push(InstrKind::Assign(place, value), span);
    }

    /// A fresh temporary that holds `value`.
    pub fn eval(&mut self, value: Rvalue, span: Span) -> Operand {
        let temp = self.temp();
        self.assign(Place::local(temp), value, span);
        Operand::Local(temp)
    }

    /// The result of the call that was appended last, when nobody reads it.
    pub fn discarded_result(&self) -> Option<LocalId> {
        match self.blocks[self.current].instrs.last().map(|it| &it.kind) {
            Some(InstrKind::Call(call)) if call.discarded => Some(call.dest),
            _ => None,
        }
    }

    /// Marks the current block as left by a `break` or `continue`; to be called before [`leave`].
    pub fn mark_exit(&mut self, span: Span) {
        let current = self.current;
        self.blocks[current].exit = Some(span);
    }

    /// Enters a loop (or `switch`, which `break` leaves as well).
    pub fn push_loop(&mut self, label: Option<Name>, break_to: BlockId, continue_to: BlockId) {
        self.scopes.push(Scope::Loop { label, break_to, continue_to });
    }

    /// Leaves the innermost scope, whatever it is.
    pub fn pop_scope(&mut self) {
        self.scopes.pop();
    }

    /// From here on a body of the front end runs on every way out: `finally`, `Drop`, `defer!`.
    pub fn push_finally(&mut self, token: u32) {
        self.scopes.push(Scope::Finally(token));
    }

    /// From here on throws go to `handler`. Starts a new block.
    pub fn push_handler(&mut self, handler: Handler) {
        self.scopes.push(Scope::Handler(handler));
        self.fresh_block();
    }

    /// Leaves a handler. Starts a new block.
    pub fn pop_handler(&mut self) {
        self.scopes.pop();
        self.fresh_block();
    }

    /// Goes on in a new block that has the current handler.
    pub fn fresh_block(&mut self) {
        let next = self.new_block();
        self.blocks[self.current].term = Terminator::Goto(next);
        self.current = next;
    }

    /// Marks the blocks made until `leave_finally` as parts of a `finally` copy.
    pub fn enter_finally(&mut self) {
        self.finally_depth += 1;
        self.fresh_block();
    }

    /// See `enter_finally`.
    pub fn leave_finally(&mut self) {
        self.finally_depth = self.finally_depth.saturating_sub(1);
        self.fresh_block();
    }

    /// Whether something leads to the current block, or it is the entry or holds instructions.
    pub fn is_reachable(&self) -> bool {
        self.current == Cfg::ENTRY
            || !self.blocks[self.current].instrs.is_empty()
            || self.blocks.iter().any(|it| {
                it.term.successors().contains(&self.current)
                    || it.handler.is_some_and(|handler| handler.block == self.current)
            })
    }

    fn restore(&mut self, unwound: Unwound) {
        self.scopes.extend(unwound.0.into_iter().rev());
    }

    /// Ends the body: falling off the end returns nothing.
    pub fn finish(mut self) -> (Cfg, IdVec<LocalId, Local>) {
        let term = Terminator::Return { value: None, span: self.end };
        self.blocks[self.current].term = term;
        (Cfg { blocks: self.blocks }, self.locals)
    }
}

/// Leaves by `exit`, lowering a copy of every `finally` body on the way. What follows is unreachable.
/// A `break` or `continue` without its loop ends the block as unreachable.
pub fn leave(ctx: &mut impl Lowering, exit: Exit) {
    let mut unwound = Unwound(Vec::new());
    let target = unwind(ctx, &exit, &mut unwound);
    let builder = ctx.builder();
    let term = match (exit, target) {
        (Exit::Return { value, span }, _) => Terminator::Return { value, span },
        (_, Some(to)) => Terminator::Goto(to),
        (_, None) => Terminator::Unreachable,
    };
    let current = builder.current;
    builder.blocks[current].term = term;
    builder.restore(unwound);
    builder.current = builder.new_block();
}

/// Takes scopes off until the exit's target, lowering `finally` bodies; gives the block to go to.
fn unwind(ctx: &mut impl Lowering, exit: &Exit, unwound: &mut Unwound) -> Option<BlockId> {
    let (mut levels, label, wants_break) = match exit {
        Exit::Return { .. } => (usize::MAX, &None, false),
        Exit::Break { levels, label } => (*levels, label, true),
        Exit::Continue { levels, label } => (*levels, label, false),
    };
    while let Some(scope) = ctx.builder().scopes.pop() {
        unwound.0.push(scope.clone());
        match scope {
            Scope::Handler(_) => (),
            Scope::Finally(token) => {
                ctx.builder().enter_finally();
                ctx.lower_finally(token);
                ctx.builder().leave_finally();
            }
            Scope::Loop { label: own, break_to, continue_to } => {
                let hit = match label {
                    Some(label) => own.as_ref() == Some(label),
                    None if levels <= 1 => true,
                    None => false,
                };
                if hit {
                    return Some(if wants_break { break_to } else { continue_to });
                }
                levels = levels.saturating_sub(usize::from(levels != usize::MAX));
            }
        }
    }
    None
}

/// Lowers `try`: `body` and `arm(index)` are called with the scopes set; `finally` names the body that
/// `Lowering::lower_finally` lowers. Each arm's variable is assigned from `Handler::value` by `arm`,
/// which gets that local.
pub fn lower_try<C: Lowering>(
    ctx: &mut C,
    catches: &[Catch],
    finally: Option<u32>,
    mut body: impl FnMut(&mut C),
    mut arm: impl FnMut(&mut C, usize, LocalId),
) {
    let value = ctx.builder().temp();
    let done = ctx.builder().new_block();
    let uncaught = ctx.builder().new_block();
    if let Some(token) = finally {
        ctx.builder().push_finally(token);
        ctx.builder().push_handler(Handler { block: uncaught, value });
    }
    let dispatch = (!catches.is_empty()).then(|| ctx.builder().new_block());
    if let Some(block) = dispatch {
        ctx.builder().push_handler(Handler { block, value });
    }
    body(ctx);
    if dispatch.is_some() {
        ctx.builder().pop_handler();
    }
    ctx.builder().goto(done);
    if let Some(dispatch) = dispatch {
        let mut arms = Vec::with_capacity(catches.len());
        for (idx, it) in catches.iter().enumerate() {
            let block = ctx.builder().new_block();
            ctx.builder().switch_to(block);
            arms.push(CatchArm { types: it.types.clone(), block, span: it.span });
            arm(ctx, idx, value);
            ctx.builder().goto(done);
        }
        ctx.builder().blocks[dispatch].term = Terminator::Catch { value, arms, uncaught };
    }
    finish_try(ctx, finally, (done, uncaught), value);
}

fn finish_try(
    ctx: &mut impl Lowering,
    finally: Option<u32>,
    (done, uncaught): (BlockId, BlockId),
    value: LocalId,
) {
    if finally.is_some() {
        ctx.builder().pop_scope();
        ctx.builder().pop_scope();
    }
    ctx.builder().switch_to(uncaught);
    if let Some(token) = finally {
        ctx.builder().enter_finally();
        ctx.lower_finally(token);
        ctx.builder().leave_finally();
    }
    let span = ctx.builder().end;
    ctx.builder().terminate(Terminator::Throw { value: Some(Operand::Local(value)), span });
    ctx.builder().switch_to(done);
    if let Some(token) = finally {
        ctx.builder().enter_finally();
        ctx.lower_finally(token);
        ctx.builder().leave_finally();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::SourceId;
    use crate::ir::{Call, Callee};

    struct Ctx {
        builder: CfgBuilder,
        finally: &'static str,
    }

    fn span() -> Span {
        Span::new(SourceId(0), 0, 0)
    }

    fn call(builder: &mut CfgBuilder, name: &str) {
        let dest = builder.temp();
        let call = Call {
            callee: Callee::Function(name.into()),
            args: Vec::new(),
            dest,
            type_args: Vec::new(),
            discarded: true,
            name_span: span(),
        };
        builder.push(InstrKind::Call(Box::new(call)), span());
    }

    impl Lowering for Ctx {
        fn builder(&mut self) -> &mut CfgBuilder {
            &mut self.builder
        }
        fn lower_finally(&mut self, _token: u32) {
            let name = self.finally;
            call(&mut self.builder, name);
        }
    }

    fn copies(cfg: &Cfg) -> usize {
        cfg.reverse_post_order()
            .into_iter()
            .flat_map(|it| &cfg.blocks[it].instrs)
            .filter(|it| matches!(&it.kind, InstrKind::Call(call) if call.callee == Callee::Function("ack".into())))
            .count()
    }

    #[test]
    fn finally_is_copied_for_return_throw_and_fall_through() {
        let mut ctx = Ctx { builder: CfgBuilder::new(span()), finally: "ack" };
        let catches = [Catch { types: Vec::new(), span: span() }];
        lower_try(
            &mut ctx,
            &catches,
            Some(0),
            |ctx| call(&mut ctx.builder, "work"),
            |ctx, _, _| {
                call(&mut ctx.builder, "log");
                leave(ctx, Exit::Return { value: None, span: span() });
            },
        );
        let (cfg, _) = ctx.builder.finish();
        cfg.validate().expect("a valid graph");
        assert_eq!(copies(&cfg), 3);
    }

    #[test]
    fn continue_runs_the_finally_of_its_loop_body() {
        let mut ctx = Ctx { builder: CfgBuilder::new(span()), finally: "ack" };
        let head = ctx.builder.new_block();
        let after = ctx.builder.new_block();
        ctx.builder.goto(head);
        ctx.builder.switch_to(head);
        ctx.builder.push_loop(None, after, head);
        lower_try(
            &mut ctx,
            &[],
            Some(0),
            |ctx| leave(ctx, Exit::Continue { levels: 1, label: None }),
            |_, _, _| (),
        );
        ctx.builder.pop_scope();
        ctx.builder.goto(head);
        ctx.builder.switch_to(after);
        let (cfg, _) = ctx.builder.finish();
        cfg.validate().expect("a valid graph");
        assert_eq!(copies(&cfg), 1, "nothing in the body throws or falls through");
    }
}
