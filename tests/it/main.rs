//! Tests of the whole, through the library's public interface.

mod guards;

#[test]
fn a() {}
