//! The built-in configurations of training runs, one TOML file each, which says what differs from the defaults.

/// Names and texts. The first one consists of the defaults.
pub const BUILT_IN: [(&str, &str); 5] = [
    ("quick", include_str!("../quick.toml")),
    ("brandubh", include_str!("../brandubh.toml")),
    ("copenhagen", include_str!("../copenhagen.toml")),
    ("copenhagen-gpu", include_str!("../copenhagen-gpu.toml")),
    ("tafl", include_str!("../tafl.toml")),
];

/// The configuration `any` of a ruleset that the user names: the largest side of a board, and the text for boards up to
/// it, in which [`RULES`] stands for the ruleset.
pub const ANY: [(usize, &str); 3] = [
    (8, include_str!("../any/small.toml")),
    (10, include_str!("../any/middle.toml")),
    (usize::MAX, include_str!("../any/large.toml")),
];

/// What stands for the ruleset in [`ANY`].
pub const RULES: &str = "RULES";
