//! Message: from a fault of a message to a finding.
