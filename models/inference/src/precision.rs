//! How finely the CPU evaluator computes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::fastest::fastest;
use crate::{CpuNetworkError, EvalError, Weights};
use hnefi_kernels::{Bf16Kernels, LowPrecisionKernels};

/// The numbers in which the residual tower of a network is evaluated on [`crate::DeviceChoice::Cpu`]. Stem, global
/// pooling and heads are in single precision throughout. A card has one precision, half precision, for all. (Training:
/// [`TrainPrecision`].)
///
/// Int8 is for CPUs with instructions made for it. Elsewhere it gives the same answers slower than single precision
/// does; [`Precision::missing`] tells. How much strength it costs is in docs/PERFORMANCE.md.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// Single precision.
    #[default]
    F32,
    /// Inputs of the convolutions as whole numbers from 0 to 255, in steps measured on games of the network when the
    /// evaluator is made; weights from -127 to 127, in steps of each output channel's own. Sums are exact, the skip
    /// connection is in single precision.
    Int8,
}

impl Precision {
    /// All of them, finest first.
    pub const ALL: [Precision; 2] = [Precision::F32, Precision::Int8];

    /// Their names, in the order of [`Precision::ALL`].
    pub const NAMES: [&'static str; 2] = ["f32", "int8"];

    /// `f32` or `int8`.
    pub const fn as_str(self) -> &'static str {
        Precision::NAMES[self as usize]
    }

    /// The instructions that make this precision fast and that this CPU lacks, `None` when it has them.
    pub fn missing(self) -> Option<&'static str> {
        let portable = self == Precision::Int8 && LowPrecisionKernels::best().name == LowPrecisionKernels::PORTABLE;
        portable.then_some("AVX-VNNI or AVX-512 VNNI")
    }
}

/// The numbers in which the convolutions of the tower are computed in training, forward and backward, where a device
/// has the fused layers (`hnefi_models::fused`). Weights, gradients, sums, everything between the convolutions, heads
/// and optimiser are in single precision throughout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TrainPrecision {
    /// Single precision.
    #[default]
    F32,
    /// Operands of the convolutions' matrix products rounded to bf16 (8 significant bits).
    Bf16,
}

impl TrainPrecision {
    /// All of them, finest first.
    pub const ALL: [TrainPrecision; 2] = [TrainPrecision::F32, TrainPrecision::Bf16];

    /// Their names, in the order of [`TrainPrecision::ALL`].
    pub const NAMES: [&'static str; 2] = ["f32", "bf16"];

    /// `f32` or `bf16`.
    pub const fn as_str(self) -> &'static str {
        TrainPrecision::NAMES[self as usize]
    }

    /// The instructions that make this precision fast and that this CPU lacks; `None` when it has them.
    pub fn missing(self) -> Option<&'static str> {
        let portable = self == TrainPrecision::Bf16 && Bf16Kernels::best().name == LowPrecisionKernels::PORTABLE;
        portable.then_some("AVX-512 BF16")
    }
}

/// A precision of training, or whichever this CPU is made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TrainPrecisionChoice {
    /// bf16 on AMD's CPUs with instructions for it, else single precision: an Intel one took longer with
    /// them (docs/PERFORMANCE.md).
    #[default]
    Auto,
    /// Single precision.
    F32,
    /// [`TrainPrecision::Bf16`].
    Bf16,
}

impl TrainPrecisionChoice {
    /// The names that can be given.
    pub const NAMES: [&'static str; 3] = ["auto", "f32", "bf16"];

    /// What it comes to on this machine.
    pub fn here(self) -> TrainPrecision {
        match self {
            TrainPrecisionChoice::Auto if TrainPrecision::Bf16.missing().is_none() && by_amd() => TrainPrecision::Bf16,
            TrainPrecisionChoice::Bf16 => TrainPrecision::Bf16,
            TrainPrecisionChoice::Auto | TrainPrecisionChoice::F32 => TrainPrecision::F32,
        }
    }

    /// What to tell somebody who asks for a precision that this CPU has no instructions for.
    pub fn warning(self) -> Option<String> {
        let missing = self.here().missing()?;
        Some(format!("training in {} is slower than in f32 here: this CPU lacks {missing}", self.here().as_str()))
    }
}

/// Whether AMD made this CPU.
fn by_amd() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        let vendor = std::arch::x86_64::__cpuid(0);
        [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes).concat() == b"AuthenticAMD"
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// A precision, or whichever is the fastest here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum PrecisionChoice {
    /// On the device `cpu`, the fastest for the network on this machine: single precision, unless the CPU has
    /// instructions for int8 and a short trial says that it is faster by a quarter. On a card its one precision.
    #[default]
    Auto,
    /// This one.
    Exactly(Precision),
}

impl PrecisionChoice {
    /// The names that can be given.
    pub const NAMES: [&'static str; 3] = ["auto", "f32", "int8"];

    /// What to tell somebody who asks for a precision that this CPU has no instructions for.
    pub fn warning(self) -> Option<String> {
        let PrecisionChoice::Exactly(precision) = self else { return None };
        let missing = precision.missing()?;
        Some(format!("precision {precision} is slower than f32 here: this CPU lacks {missing}"))
    }

    /// What it means for this network on the device `cpu`. A trial takes some 0.3 s, once per shape of network.
    ///
    /// # Errors
    /// When the network cannot be packed for the trial.
    pub fn on_cpu(self, weights: &Weights) -> Result<Precision, CpuNetworkError> {
        match self {
            PrecisionChoice::Auto => fastest(weights),
            PrecisionChoice::Exactly(precision) => Ok(precision),
        }
    }
}

impl From<Precision> for PrecisionChoice {
    fn from(precision: Precision) -> PrecisionChoice {
        PrecisionChoice::Exactly(precision)
    }
}

impl fmt::Display for PrecisionChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PrecisionChoice::Auto => f.write_str("auto"),
            PrecisionChoice::Exactly(precision) => precision.fmt(f),
        }
    }
}

impl FromStr for PrecisionChoice {
    type Err = EvalError;

    fn from_str(text: &str) -> Result<PrecisionChoice, EvalError> {
        if text == "auto" { Ok(PrecisionChoice::Auto) } else { text.parse().map(PrecisionChoice::Exactly) }
    }
}

crate::by_text!(PrecisionChoice, EvalError);

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Precision {
    type Err = EvalError;

    fn from_str(text: &str) -> Result<Precision, EvalError> {
        let found = Precision::ALL.into_iter().find(|precision| precision.as_str() == text);
        found.ok_or_else(|| EvalError::UnknownPrecision { found: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_others_refused() {
        for precision in Precision::ALL {
            assert_eq!(precision.to_string().parse::<Precision>().unwrap(), precision);
            assert_eq!(serde_json::to_string(&precision).unwrap(), format!("\"{precision}\""));
        }
        for text in ["", "F32", "int4", "bf16"] {
            let message = text.parse::<Precision>().unwrap_err().to_string();
            assert!(message.starts_with(&format!("precision {text:?}: expected auto, f32 or int8")), "{message}");
        }
        assert!("int4".parse::<Precision>().unwrap_err().to_string().ends_with("; did you mean int8?"));
        for name in PrecisionChoice::NAMES {
            let choice: PrecisionChoice = name.parse().unwrap();
            assert_eq!(choice.to_string(), name);
            assert_eq!(serde_json::from_str::<PrecisionChoice>(&format!("\"{name}\"")).unwrap(), choice);
        }
        assert_eq!("int8".parse::<PrecisionChoice>().unwrap(), Precision::Int8.into());
        assert!("".parse::<PrecisionChoice>().is_err());
    }

    #[test]
    fn single_precision_lacks_nothing_and_int8_says_what() {
        assert_eq!((Precision::default(), Precision::F32.missing()), (Precision::F32, None));
        let wanted = "AVX-VNNI or AVX-512 VNNI";
        let warning = Precision::Int8.missing().map(|missing| {
            assert_eq!(missing, wanted);
            format!("precision int8 is slower than f32 here: this CPU lacks {wanted}")
        });
        assert_eq!(PrecisionChoice::from(Precision::Int8).warning(), warning);
    }

    #[test]
    fn training_goes_by_what_the_cpu_has_and_by_what_it_is_told() {
        let missing = TrainPrecision::Bf16.missing();
        let auto = if missing.is_none() && by_amd() { TrainPrecision::Bf16 } else { TrainPrecision::F32 };
        for (name, here) in
            TrainPrecisionChoice::NAMES.into_iter().zip([auto, TrainPrecision::F32, TrainPrecision::Bf16])
        {
            let choice: TrainPrecisionChoice = serde_json::from_str(&format!("\"{name}\"")).unwrap();
            assert_eq!((choice.here(), serde_json::to_string(&choice).unwrap()), (here, format!("\"{name}\"")));
        }
        assert_eq!(TrainPrecisionChoice::Auto.warning(), None);
        assert_eq!(TrainPrecisionChoice::Bf16.warning().is_some(), missing.is_some());
    }
}
