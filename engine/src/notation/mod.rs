//! Rules as one line of text: the rules records of OpenTafl's notation.
//!
//! ```text
//! dim:9 name:Sea_Battle esc:e ka:n cor: cen: start:/3ttt3/4t4/4T4/t3T3t/ttTTKTTtt/t3T3t/4T4/4t4/3ttt3/
//! ```
//!
//! The notation is OpenTafl's (its public text `opentafl-notation-spec.txt`, section 3). `name` is not in that text,
//! but OpenTafl writes and reads it.

mod named;
mod options;
mod record;
mod rules;
mod values;

pub use named::{NamedRules, NamedRulesError};
pub use record::{RecordError, RulesRecord};
