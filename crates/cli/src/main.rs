//! hatir
fn main() {}
