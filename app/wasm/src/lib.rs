//! The board in a page without a server: rules, search and networks in WebAssembly, for a Web Worker.
//!
//! [`Page`] is the host of a [`hnefi_board::Board`]: requests come in and replies and events go out as they do between
//! a page and `hnefi play --web`, and [`Page::step`] does a slice of the searches. The cards of the shipped networks
//! are inside; their weights are files that the worker fetches when [`Page::wanted`] names one.
//!
//! `abi.rs` gives this to JavaScript as a handful of functions over numbers and one piece of memory: less than what
//! `wasm-bindgen` would generate, and nothing to install beside the compiler.

mod networks;
mod page;

#[cfg(target_arch = "wasm32")]
mod abi;

pub use page::{Page, PageEvent, Pause};
