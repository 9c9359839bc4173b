//! Give up: where code settles a message on purpose although its work failed, and how a failure that was
//! looked at once is looked at again.

use super::classify::Operands;
use super::explore::Explorer;
use super::state::{CaughtBy, Failure, Path, Phase, State};
use super::value::{Kind, Tags, Value, Wrapper};
use crate::base::{Name, last_segment};
use crate::ir::{BlockId, Callee, ClassRef, Terminator};

impl Explorer<'_, '_> {
    /// Whether control is on a way that was chosen by how often the message was tried: after so many
    /// attempts it is dropped on purpose.
    pub(super) fn was_tried_enough(&mut self, path: &Path) -> bool {
        let Some((depth, chosen)) = path.state.delivery.attempts else { return false };
        let Some(frame) = self.frames.get(usize::from(depth)).copied() else { return false };
        self.shape(frame.at).dominates(chosen, frame.block)
    }

    /// A block that returns the failed result hands it on, also through what dies in it before.
    pub(super) fn hand_on_failure(&mut self, block: BlockId, path: &mut Path) {
        const MAX_STEPS: usize = 16;
        let cfg = &self.func().cfg;
        let mut at = block;
        for _ in 0..MAX_STEPS {
            match &cfg.blocks[at].term {
                Terminator::Goto(next) => at = *next,
                _ => break,
            }
        }
        let Terminator::Return { value: Some(value), .. } = &cfg.blocks[at].term else { return };
        let value = self.operand(value, &path.state);
        let is_failed = self.is_failed(&value, &path.state);
        if let Some(failure) = &mut path.state.delivery.failure
            && is_failed
            && path.state.delivery.strand.is_none()
            && matches!(&failure.phase, Phase::Caught(it) if it.by == CaughtBy::Arm)
        {
            failure.phase = Phase::Flying;
        }
    }

    /// Whether an answer tells the broker which messages failed: `{ batch_item_failures }`.
    pub(super) fn hands_out_failures(&self, value: &Value, state: &State) -> bool {
        let inner = match &value.kind {
            Kind::Wrap(Wrapper::Ok, inner) => inner,
            _ => value,
        };
        let Some(symbol) = inner.as_symbol().filter(|it| self.symbols.info(*it).made) else {
            return false;
        };
        let tells = |name: &str| self.input.words.give_back_phrases.matches(name);
        state
            .fields
            .range((symbol, Name::from(""))..)
            .take_while(|((it, _), _)| *it == symbol)
            .any(|((_, name), value)| tells(name) && value.truth() != Some(false))
    }

    /// Whether a call that nothing is known of is given an object in which the failure was put:
    /// `$event->error = $e; $this->trigger($event)`.
    pub(super) fn hands_on_in_a_field(&self, operands: &Operands<'_>, state: &State) -> bool {
        let holds = |it: &Value| {
            it.as_symbol().is_some_and(|symbol| {
                let fields = state.fields.range((symbol, Name::from(""))..);
                fields
                    .take_while(|((it, _), _)| *it == symbol)
                    .any(|(_, value)| value.tags.has(Tags::FAILURE))
            })
        };
        !self.is_log(operands) && operands.args.iter().any(holds)
    }

    /// `invalidate_cdns()`, `send_email()`, `CacheInvalidation::queue()`.
    pub(super) fn only_tells(&self, operands: &Operands<'_>) -> bool {
        let words = self.input.words;
        let class = match &operands.call.callee {
            Callee::Static { class: ClassRef::Named(class), .. } => last_segment(class),
            _ => "",
        };
        words.tells.has_first_or_last_word(operands.short()) || words.tidies.matches(class)
    }

    /// `$notification->save()`, `invalidate_cdns()`: it only tells somebody, or tidies up.
    pub(super) fn is_notice(&self, operands: &Operands<'_>) -> bool {
        if self.only_tells(operands) {
            return true;
        }
        let receiver = operands.name.rsplit_once('.').map_or("", |it| it.0);
        let name = receiver.rsplit('.').next().unwrap_or(receiver);
        self.input.words.notices.has(name)
    }

    /// A failed result that an arm only passed along is on its way again when it is tested once more.
    pub(super) fn look_again(path: &mut Path) {
        if let Some(Failure { phase, .. }) = &mut path.state.delivery.failure
            && path.state.delivery.strand.is_none()
            && matches!(&*phase, Phase::Caught(it) if it.by == CaughtBy::Arm && it.exit.is_none())
        {
            *phase = Phase::Flying;
        }
    }
}
