//! Unswept: rows that are put into a state which only their worker leaves, and nobody looks for them.

use super::MessageInput;
use super::fault::Found;
use super::roots::Root;

/// Adds the faults.
pub(super) fn find(_: &MessageInput<'_>, _: &[Root], _: &mut Found) {}
