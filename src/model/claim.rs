//! A contract: which function alone makes which transition.

/// `at` moves `column` of `table` from one of `from` to `to`, guarded, by its key, and looks whether it
/// won.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Claim {
    /// Table or model.
    pub table: String,
    /// The state.
    pub column: String,
    /// The old states, as the code writes them.
    pub from: Vec<String>,
    /// The new state.
    pub to: String,
    /// The function: `Class::method`, or as much of its full name as tells it apart.
    pub at: String,
}
