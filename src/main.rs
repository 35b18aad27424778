//! hnefi
fn main() {}
