//! The page in a headless Chromium. Needs `chromium` and `chromedriver`.

mod any_tafl;
mod board;
#[path = "../driver/mod.rs"]
mod driver;
#[path = "../http/mod.rs"]
mod http;
mod learn;
mod moments;
mod newcomer;
#[path = "../own_rules/mod.rs"]
mod own_rules;
mod returning;
mod review;
mod screens;
mod timed;
mod tree;
