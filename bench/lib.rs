//! Criterion benches of the parts. A package of its own, outside the default members, so that the benches' dependencies
//! do not change the features with which everything else is built.
