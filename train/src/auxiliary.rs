//! The auxiliary heads as training names them: one of something for each, and what their targets are made of.

use hnefi_models::Auxiliaries;
use serde::{Deserialize, Serialize};

/// One of something for every auxiliary head: a weight, a loss, whether it is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PerHead<T> {
    /// The opponent's reply.
    pub reply: T,
    /// The soft policy.
    pub soft_policy: T,
    /// Values at short horizons.
    pub short_values: T,
    /// Captured soon.
    pub captured: T,
    /// The way and the place of the end.
    pub ending: T,
}

impl<T> PerHead<T> {
    /// In the order in which losses are added and reported.
    pub fn into_array(self) -> [T; 5] {
        [self.reply, self.soft_policy, self.short_values, self.captured, self.ending]
    }

    /// The inverse of [`PerHead::into_array`].
    pub fn from_array([reply, soft_policy, short_values, captured, ending]: [T; 5]) -> PerHead<T> {
        PerHead { reply, soft_policy, short_values, captured, ending }
    }

    /// Something else for every head, in their order.
    pub fn map<U>(self, change: impl FnMut(T) -> U) -> PerHead<U> {
        PerHead::from_array(self.into_array().map(change))
    }
}

impl PerHead<&'static str> {
    /// The names under which losses are reported.
    pub const NAMES: PerHead<&'static str> = PerHead {
        reply: "reply",
        soft_policy: "soft_policy",
        short_values: "short_values",
        captured: "captured",
        ending: "ending",
    };
}

impl PerHead<f32> {
    /// Weights that leave every head out.
    pub const OFF: PerHead<f32> =
        PerHead { reply: 0.0, soft_policy: 0.0, short_values: 0.0, captured: 0.0, ending: 0.0 };
}

impl PerHead<bool> {
    /// Which heads there are.
    pub fn of(which: Auxiliaries) -> PerHead<bool> {
        PerHead {
            reply: which.reply,
            soft_policy: which.soft_policy,
            short_values: which.short_values > 0,
            captured: which.captured,
            ending: which.ending,
        }
    }
}

impl<T> PerHead<Option<T>> {
    /// Whether there is nothing for any head.
    pub fn is_empty(&self) -> bool {
        let PerHead { reply, soft_policy, short_values, captured, ending } = self;
        [reply, soft_policy, short_values, captured, ending].iter().all(|one| one.is_none())
    }
}

/// Which auxiliary targets a sample carries, and what they are made of. The default is none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AuxiliaryTargets {
    /// The opponent's reply.
    pub reply: bool,
    /// The soft policy.
    pub soft_policy: bool,
    /// Horizons of the short values in plies; none for no such target.
    pub short_values: Vec<u32>,
    /// Plies within which a capture is soon; `None` for no such target.
    pub captured: Option<u32>,
    /// The way and the place of the end.
    pub ending: bool,
}

impl AuxiliaryTargets {
    /// The heads that learn these targets.
    pub fn heads(&self) -> Auxiliaries {
        Auxiliaries {
            reply: self.reply,
            soft_policy: self.soft_policy,
            short_values: self.short_values.len(),
            captured: self.captured.is_some(),
            ending: self.ending,
        }
    }
}
