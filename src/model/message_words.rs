//! Which names speak of queue messages where no vocabulary says so: settling, giving back, loading, and
//! the calls that pass a failure on, drop it, or have nothing to do with the work.
//!
//! Home-grown code acknowledges in its own words. These lists are evidence only: a name counts when the
//! receiver or an argument came from a load, or is a handler's message.

use super::words::{WordSet, Words};
use crate::base::snake_case;
use std::collections::BTreeSet;

/// Names that match as a whole, in any spelling: `basicAck` and `basic_ack` are one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameSet(BTreeSet<String>);

impl NameSet {
    /// Names with blanks between them, in any spelling.
    pub fn of(names: &str) -> Self {
        Self(names.split_whitespace().map(snake_case).collect())
    }

    /// Whether `name` is one of them.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains(&snake_case(name))
    }

    /// Whether the first or the last word of `name` is one of them.
    pub fn has_first_or_last_word(&self, name: &str) -> bool {
        let name = snake_case(name);
        let last = name.rsplit('_').next().unwrap_or(&name);
        self.0.contains(last) || self.has_first_word(&name)
    }

    /// Whether the first word of `name` is one of them: `get` takes `getBody` and `get`.
    pub fn has_first_word(&self, name: &str) -> bool {
        let name = snake_case(name);
        let first = name.split('_').next().unwrap_or(&name);
        self.0.contains(first)
    }
}

/// The words of the message rules.
#[derive(Clone, Debug, Default)]
pub struct MessageWords {
    /// The lists that all rules share: errors, logs, courtesies, states, comments.
    pub general: Words,
    /// Settles a message wherever it is said of one.
    pub ack: NameSet,
    /// Settles a message when the message itself is the receiver or an argument.
    pub weak_ack: NameSet,
    /// First words of calls that give a message back or park it.
    pub give_back: NameSet,
    /// The same, and calls that record a failure, by words anywhere in the name.
    pub give_back_phrases: WordSet,
    /// Gives it back to the broker so that it comes again; a body that settles instead is a fault.
    pub redeliver: NameSet,
    /// Sends a message.
    pub publish: NameSet,
    /// Takes a message from somewhere.
    pub load: NameSet,
    /// Takes the next message out of a stream or list of messages.
    pub next: NameSet,
    /// Variables and parameters that hold a message.
    pub message: NameSet,
    /// First words of calls that cannot lose work: accessors and conversions.
    pub accessor: NameSet,
    /// Whole names of such calls.
    pub harmless: NameSet,
    /// Calls that read a text; a retry does not mend what they refuse.
    pub parse: WordSet,
    /// Errors that say that somebody has done the work already.
    pub done_before: WordSet,
    /// Exception types that take nearly everything.
    pub catch_all: NameSet,
    /// Calls that add to a collection.
    pub collect: NameSet,
    /// Types of collections in memory.
    pub collections: NameSet,
    /// Calls that count a collection.
    pub count: NameSet,
    /// Calls that hand a failed result on as it is.
    pub passes_failure: NameSet,
    /// Calls that replace a failed result by a default.
    pub drops_failure: NameSet,
    /// Calls that end the process or thread on a failed result.
    pub unwraps: NameSet,
    /// Calls that take a value out and leave nothing.
    pub takes: NameSet,
    /// Calls that test a variant, and the variant.
    pub variant_tests: Vec<(String, String)>,
    /// Methods that run when an object dies.
    pub destructors: Vec<String>,
    /// Settings and options that acknowledge at hand-over when they are true.
    pub auto_ack: NameSet,
    /// Calls of which one argument, by position, does the same.
    pub auto_ack_args: Vec<(String, u32)>,
    /// Settings that, when false, undo such a setting.
    pub late_offset: NameSet,
    /// Code that waits for an answer: a reply that is lost is asked for again.
    pub replies: WordSet,
    /// Methods that the framework calls when a job has failed for good.
    pub failure_hooks: NameSet,
    /// Columns that tell age, owner or heartbeat.
    pub lease_columns: WordSet,
    /// Names that say how often a message was tried.
    pub attempts: NameSet,
    /// First or last words of functions that do something which is lost when they fail.
    pub work: NameSet,
    /// First or last words of the program's own functions that only tell somebody, or tidy up.
    pub tells: NameSet,
    /// Words of variables and classes that speak to another machine.
    pub remote: NameSet,
    /// Requests that are called like accessors.
    pub requests: NameSet,
    /// Calls of a message or job that do its work.
    pub runs: NameSet,
    /// Functions that wait for a result no longer than so long.
    pub timeouts: NameSet,
    /// Words in the names of types whose functions only tidy up.
    pub tidies: WordSet,
    /// Variables that hold something which only tells somebody.
    pub notices: NameSet,
    /// Calls whose result is that of the callable that they are given.
    pub chains: NameSet,
}

impl MessageWords {
    /// The built-in lists beside the shared ones.
    #[expect(clippy::too_many_lines, reason = "one list after the other")]
    pub fn new(general: Words) -> Self {
        Self {
            general,
            ack: NameSet::of(
                "ack acknowledge acknowledge_message ack_message basic_ack double_ack delete_message \
                 delete_message_batch commit_message complete_job finish_job mark_processed \
                 mark_as_processed mark_handled xack lrem zrem x_ack l_rem z_rem send_ack \
                 acknowledge_batch delete_from_queue delete_item",
            ),
            weak_ack: NameSet::of(
                "complete finish done settle delete remove success succeed commit commit_async \
                 confirm close resolve mark_done archive",
            ),
            give_back: NameSet::of(
                "nack nak reject requeue reenqueue release retry later bury park fail postpone \
                 reschedule defer quarantine redeliver delay unlease unack unclaim",
            ),
            give_back_phrases: word_set(
                "nack requeue re_queue re_enqueue put_back give_back push_back send_back hand_back \
                 dead_letter dead_letters dead_letter_queue dlq dlx parked parking failed failure \
                 failures poison change_message_visibility modify_ack_deadline return_to_queue \
                 kill_job undeliverable basic_reject mark_error mark_errored record_error note_error \
                 save_error store_error retry_later schedule_retry",
            ),
            redeliver: NameSet::of(
                "nack nak requeue release retry give_back put_back redeliver reenqueue basic_nack \
                 negative_acknowledge return_to_queue",
            ),
            publish: NameSet::of(
                "publish basic_publish send send_message produce enqueue push later push_raw lpush \
                 rpush l_push r_push xadd x_add zadd z_add dispatch put send_to_queue push_on \
                 later_on republish send_command send_event add_job push_job schedule create_item \
                 publish_message",
            ),
            load: NameSet::of(
                "receive receive_message receive_messages reserve reserve_job reserve_with_timeout \
                 pull consume dequeue pop pop_job poll recv get_message fetch_message next_message \
                 next_job claim_item wait_task take_job fetch_job reserve_next basic_get read_message \
                 read_messages",
            ),
            next: NameSet::of(
                "next try_next recv try_recv pop pop_front shift array_shift array_pop poll_next \
                 next_message",
            ),
            message: NameSet::of(
                "message msg job envelope delivery task queue_item queued_message amqp_message \
                 amqp_msg queue_message raw_message sqs_message received borrowed_message \
                 kafka_message letter work_item received_message",
            ),
            accessor: NameSet::of(
                "get is has to as into with count len try_into from new default clone iter collect \
                 map filter and or ok trim split format bind contains starts ends keys values name id \
                 attempts type can should supports knows accepts matches understands unwrap expect qos \
                 basic_qos config option options builder now elapsed last successful status json",
            ),
            harmless: NameSet::of(
                "sleep usleep tick close disconnect rollback roll_back rollBack in_transaction begin \
                 begin_transaction start_transaction cancel wait stop shutdown should_quit touch \
                 extend keep_alive heartbeat unlock clear reset detach gc_collect_cycles sprintf \
                 json_encode attributes header headers payload body content data handler first \
                 current subscription topic queue channel basic_qos context last_error stack next bus \
                 middleware container logger inspect spawn abort drop flush_log start_timer \
                 stop_timer observe inc timeout connect_timeout lt lte gt gte eq limit select accept \
                 fit quality hdel del expire hincrby",
            ),
            parse: word_set(
                "json json_decode decode deserialize unserialize parse from_slice from_str from_json \
                 from_bytes from_utf8 try_from denormalize from_array from_message hydrate validate \
                 assert parse_from_bytes",
            ),
            done_before: word_set(
                "unique unique_constraint unique_violation constraint_violation duplicate duplicate_key \
                 duplicate_entry already already_processed already_done already_exists conflict",
            ),
            catch_all: NameSet::of(
                "Throwable Exception RuntimeException ErrorException Error PDOException",
            ),
            collect: NameSet::of(
                "push append insert extend add array_push push_back attach put merge prepend enqueue \
                 unshift array_unshift",
            ),
            collections: NameSet::of(
                "Vec VecDeque HashMap HashSet BTreeMap BTreeSet IndexMap String ArrayObject SplStack \
                 SplObjectStorage ArrayIterator SmallVec",
            ),
            count: NameSet::of("count sizeof len"),
            passes_failure: NameSet::of(
                "map_err context with_context inspect_err inspect map and_then wrap_err wrap_err_with \
                 change_context into boxed await instrument in_current_span as_ref as_mut or_else \
                 copied cloned attach_printable into_future compat with_timeout to_owned flatten \
                 transpose",
            ),
            drops_failure: NameSet::of(
                "ok unwrap_or unwrap_or_default unwrap_or_else map_or map_or_else unwrap_or_log \
                 ok_or_log",
            ),
            unwraps: NameSet::of("unwrap expect unwrap_or_die"),
            takes: NameSet::of("take"),
            variant_tests: [
                ("is_ok", "Ok"),
                ("is_err", "Err"),
                ("is_some", "Some"),
                ("is_none", "None"),
            ]
            .map(|(name, variant)| (name.to_owned(), variant.to_owned()))
            .to_vec(),
            destructors: vec!["__destruct".to_owned(), "drop".to_owned()],
            auto_ack: NameSet::of(
                "no_ack auto_ack noack autoack amqp_autoack enable.auto.commit enable_auto_commit",
            ),
            auto_ack_args: [("basic_get", 1), ("basic_consume", 3), ("x_read_group", 5)]
                .map(|(name, position)| (name.to_owned(), position))
                .to_vec(),
            late_offset: NameSet::of("enable.auto.offset.store enable_auto_offset_store"),
            replies: word_set("rpc reply replies response responses promise"),
            failure_hooks: NameSet::of("failed on_failure on_failed after_failure"),
            lease_columns: word_set(
                "at on until since date time timestamp heartbeat heartbeats owner worker by lease \
                 leased lock locked pid host hostname node token expires expiry deadline timeout \
                 updated started claimed reserved run seen ping alive modified attempts tries",
            ),
            attempts: NameSet::of(
                "attempts attempt tries retries retry_count retries_count num_retries delivery_count \
                 receive_count approximate_receive_count get_attempts \
                 retry_attempts attempt_count failure_count error_count times_retried get_retries \
                 num_delivered read_ct",
            ),
            work: NameSet::of(
                "save insert update upsert store create delete remove write import export sync \
                 publish dispatch upload process submit register charge capture refund book execute \
                 perform persist commit deliver archive apply migrate transfer",
            ),
            tells: NameSet::of(
                "notify invalidate purge broadcast announce emit warm forget ping cleanup clean alert \
                 mail mails email emails sms notification notifications slack",
            ),
            remote: NameSet::of("http guzzle client api sdk gateway"),
            requests: NameSet::of("get head options"),
            runs: NameSet::of("fire handle execute run perform process"),
            timeouts: NameSet::of("timeout timeout_at"),
            tidies: word_set("invalidation cdn cache purge"),
            notices: NameSet::of("notification notifications notice alert"),
            chains: NameSet::of("and_then or_else then try_for_each map_ok and_then_async"),
        }
    }
}

/// A word set from words with blanks between them.
fn word_set(words: &str) -> WordSet {
    WordSet::new(&words.split_whitespace().collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_in_any_spelling_and_as_a_whole() {
        let words = MessageWords::new(Words::default());
        assert!(words.ack.has("basicAck") && words.ack.has("basic_ack"));
        assert!(!words.ack.has("package"));
        assert!(words.accessor.has_first_word("getBody"));
        assert!(!words.accessor.has_first_word("gather"));
        assert!(words.give_back_phrases.matches("changeMessageVisibility"));
        assert!(words.give_back_phrases.matches("note_failure"));
        assert!(words.give_back.has_first_word("failJob"));
        assert!(!words.give_back.has_first_word("findOrFail"));
    }
}
