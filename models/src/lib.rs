//! Placeholder story.
