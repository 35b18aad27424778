//! Reading the names that the crate's types display.

/// A text that names nothing of its kind.
///
/// ```
/// use hnefi_engine::Side;
///
/// let error = "white".parse::<Side>().unwrap_err();
/// assert_eq!(error.to_string(), r#"unknown side "white": expected one of attackers, defenders"#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} {found:?}: expected one of {}", expected.join(", "))]
pub struct UnknownName {
    /// What should have been named, such as `ruleset`.
    pub what: &'static str,
    /// What was read.
    pub found: String,
    /// The names there are.
    pub expected: Vec<&'static str>,
}

/// The one of `all` that `name_of` calls `found`.
pub(crate) fn by_name<T: Copy>(
    what: &'static str,
    found: &str,
    all: &[T],
    name_of: fn(T) -> &'static str,
) -> Result<T, UnknownName> {
    let unknown =
        || UnknownName { what, found: found.to_owned(), expected: all.iter().map(|&one| name_of(one)).collect() };
    all.iter().copied().find(|&one| name_of(one) == found).ok_or_else(unknown)
}
