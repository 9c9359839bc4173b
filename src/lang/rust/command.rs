//! Command: how is a command that is sent as a text lowered?
//!
//! ```text
//! redis::cmd("LREM").arg("busy").arg(1).arg(raw).query_async(&mut con).await
//! con.lrem("busy", 1, raw).await                                               lowered as this
//! ```
//!
//! The connection has the type that its methods are known by, whatever the variable was declared as.

use super::body::{Body, Want};
use super::call::{Outgoing, Step, only};
use super::names::unraw;
use crate::base::Span;
use crate::ir::{Callee, InstrKind, Operand, Place, Rvalue, TypeRef};
use syn::{Expr, ExprMethodCall, Lit};

/// The function that begins a command.
const COMMAND: &str = "redis::cmd";
/// The type whose methods are the commands.
const CONNECTION: &str = "redis::Commands";

/// The parts of a command, as far as it is one.
struct Command<'e> {
    name: String,
    args: Vec<&'e Expr>,
    connection: &'e Expr,
    sent: &'e ExprMethodCall,
}

impl Body<'_, '_> {
    /// Lowers the command at the root of a chain; gives its result, its place, and how many of the
    /// chain's innermost steps it took. None: it is no command.
    pub(super) fn command(
        &mut self,
        root: &Expr,
        steps: &[Step<'_>],
        want: Want,
    ) -> Option<(Rvalue, Span, usize)> {
        let command = self.command_of(root, steps)?;
        let taken = command.args.len() + 1;
        let want = if taken == steps.len() { want } else { Want::Value };
        let first = self.unit.spans.expr(root);
        let span = first.cover(self.unit.spans.of(command.sent.paren_token.span.close()));
        let connection = self.operand(command.connection);
        let ty = TypeRef::named(CONNECTION);
        let receiver = self.builder_mut().local("", Some(ty));
        // Something else than the variable: what that was declared as does not count.
        let seen_as = Rvalue::Unknown(vec![connection]);
        let assign = InstrKind::Assign(Place::local(receiver), seen_as);
        self.builder_mut().push(assign, first);
        let args = command.args.iter().map(|it| self.arg(it)).collect();
        let type_args = match &command.sent.turbofish {
            Some(it) => self.unit.turbofish(&self.site, it),
            None => Vec::new(),
        };
        let callee = Callee::Method {
            receiver: Operand::Local(receiver),
            name: command.name.as_str().into(),
            nullsafe: false,
        };
        let out = Outgoing { callee, args, type_args, name_span: first, span };
        Some((self.emit_call(out, want), span, taken))
    }

    fn command_of<'e>(&mut self, root: &'e Expr, steps: &[Step<'e>]) -> Option<Command<'e>> {
        let Expr::Call(call) = root else { return None };
        let Expr::Path(path) = &*call.func else { return None };
        let Some(Expr::Lit(text)) = only(&call.args) else { return None };
        let Lit::Str(text) = &text.lit else { return None };
        let Callee::Function(full) = self.unit.path_callee(&self.site, path) else { return None };
        full.strip_suffix(COMMAND).filter(|it| it.is_empty() || it.ends_with("::"))?;
        let text = text.value();
        let name = text.split_whitespace().next()?.to_lowercase();
        let mut args = Vec::new();
        for step in steps.iter().rev() {
            let Step::Method(it) = step else { return None };
            match (unraw(&it.method).as_str(), only(&it.args)) {
                ("arg", Some(arg)) => args.push(arg),
                ("query" | "query_async" | "exec" | "exec_async", Some(connection)) => {
                    return Some(Command { name, args, connection, sent: it });
                }
                _ => return None,
            }
        }
        None
    }
}
