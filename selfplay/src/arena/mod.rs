//! Matches and what they measure.
