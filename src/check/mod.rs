//! Rules over what the analysis found.
