//! What a column is for, by its name in `snake_case`.

/// Columns that hold what was read, to be compared before writing.
pub(super) fn is_version(name: &str) -> bool {
    let last = name.rsplit('_').next().unwrap_or_default();
    matches!(
        last,
        "version" | "revision" | "rev" | "etag" | "rowversion" | "optlock" | "generation"
    ) || matches!(name, "xmin" | "ctid" | "opt_lock" | "ora_rowscn" | "lock_no")
}

/// Columns that the engine changes with every write.
pub(super) fn changes_by_itself(name: &str) -> bool {
    matches!(name, "xmin" | "ctid" | "rowversion" | "row_version" | "ora_rowscn")
}

/// Columns that say when a row was written.
pub(super) fn is_touch(name: &str) -> bool {
    let name = name.strip_prefix("last_").unwrap_or(name);
    let stem = name.strip_suffix("_at").or_else(|| name.strip_suffix("_on")).unwrap_or(name);
    matches!(
        stem,
        "updated" | "modified" | "changed" | "update" | "mtime" | "update_time" | "modify_time"
    )
}

/// Columns that say who has the row.
pub(super) fn is_owner(name: &str) -> bool {
    let stem = ["_id", "_token", "_by", "_key", "_uuid"]
        .iter()
        .find_map(|it| name.strip_suffix(it))
        .unwrap_or(name);
    let by = name.ends_with("_by")
        && ["lock", "claim", "reserv", "leas", "taken", "picked", "processed", "held", "own"]
            .iter()
            .any(|it| stem.contains(it));
    let exact = matches!(
        name,
        "owner"
            | "worker"
            | "worker_id"
            | "token"
            | "holder"
            | "attempt"
            | "attempt_id"
            | "attempts"
            | "fencing_token"
            | "process_id"
            | "pid"
            | "consumer"
            | "runner_id"
    );
    let lock = ["lock", "claim", "lease", "reservation"].iter().any(|it| stem.ends_with(it));
    by || exact || (lock && stem != name)
}

/// Columns that say until when or whether a row is taken.
pub(super) fn is_lease(name: &str) -> bool {
    ["lock", "lease", "claim", "reserv", "heartbeat", "taken", "picked"]
        .iter()
        .any(|it| name.contains(it))
}

/// Columns that hold a state.
pub(super) fn is_state(name: &str) -> bool {
    let last = name.rsplit('_').next().unwrap_or_default();
    let stem = name.strip_suffix("_at").or_else(|| name.strip_prefix("is_")).unwrap_or(name);
    matches!(last, "status" | "state" | "phase" | "stage")
        || matches!(
            stem,
            "processed"
                | "done"
                | "sent"
                | "handled"
                | "finished"
                | "completed"
                | "used"
                | "redeemed"
                | "paid"
                | "started"
                | "consumed"
                | "dispatched"
                | "published"
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_its_column_is_for() {
        for (test, yes, no) in [
            (
                is_version as fn(&str) -> bool,
                ["version", "lock_version", "rev", "xmin"],
                ["versions", "state", "conversion", "id"],
            ),
            (
                is_owner,
                ["locked_by", "worker_id", "lock_token", "owner"],
                ["owner_id", "created_by", "reset_token", "user_id"],
            ),
            (
                is_touch,
                ["updated_at", "last_updated", "modified", "last_update"],
                ["created_at", "locked_at", "update_count", "status"],
            ),
            (
                is_state,
                ["status", "job_state", "processed_at", "is_sent"],
                ["statement", "deleted_at", "is_active", "name"],
            ),
            (
                is_lease,
                ["locked_at", "lease_until", "reserved", "heartbeat_at"],
                ["created_at", "state", "id", "expires_at"],
            ),
        ] {
            assert!(yes.into_iter().all(test), "{yes:?}");
            assert!(!no.into_iter().any(test), "{no:?}");
        }
    }
}
