//! Hot code compiled twice for x86-64, and the choice between the two at run time.
//!
//! Sets of squares live on popcnt, BMI and 256-bit vectors, which Intel's Core and Xeon have had since 2013 and AMD's
//! Ryzen and EPYC always, and which a build for every x86-64 may not use. So a position asks once whether the CPU has
//! them, and what [`versions!`] defines runs the version that fits. In a build for such CPUs
//! (`-C target-cpu=x86-64-v3`) and on other architectures the second version is never used.

/// What this CPU has. Only [`Cpu::detect`] makes one, so that holding it is proof.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cpu {
    /// The instructions of [`versions!`].
    has_v3: bool,
}

/// Whether the program is built for CPUs that have them, so that one version is enough.
const BUILT_FOR_V3: bool = cfg!(all(
    target_feature = "avx2",
    target_feature = "bmi1",
    target_feature = "bmi2",
    target_feature = "lzcnt",
    target_feature = "popcnt"
));

impl Cpu {
    /// Asks the CPU; the standard library remembers its answers.
    pub(crate) fn detect() -> Cpu {
        #[cfg(target_arch = "x86_64")]
        let has_v3 = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        #[cfg(not(target_arch = "x86_64"))]
        let has_v3 = false;
        Cpu { has_v3 }
    }

    /// Whether to run the second version: never without the instructions.
    #[inline(always)]
    pub(crate) fn wants_v3(self) -> bool {
        !BUILT_FOR_V3 && self.has_v3
    }
}

/// Defines a function whose first argument is a [`Cpu`] and whose body is compiled once for what the program is built
/// for and, on x86-64, once more for the CPUs since 2013. What the body calls belongs to a version where it is inlined
/// into it. The one `unsafe` of the crate is here.
///
/// The choice costs a call, so it is worth making where a call does much: for a move made, a list, a count, a walk
/// through a tree. The sets of `views.rs` cost less than 20 ns each and gain nothing.
macro_rules! versions {
    ($(#[$meta:meta])* fn $name:ident<$ruleset:ident: $held:path $(, $generic:ident: $bound:path)?>(
        $cpu:ident: Cpu, $($argument:ident: $type:ty),*
    ) $(-> $result:ty)? $body:block) => {
        $(#[$meta])*
        #[inline(always)]
        fn $name<$ruleset: $held $(, $generic: $bound)?>(
            $cpu: $crate::cpu::Cpu, $($argument: $type),*
        ) $(-> $result)? {
            #[inline(always)]
            fn as_built<$ruleset: $held $(, $generic: $bound)?>(
                $($argument: $type),*
            ) $(-> $result)? $body

            // The body once more and not a call of the other: closures have the instructions of where they stand.
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
            fn v3<$ruleset: $held $(, $generic: $bound)?>(
                $($argument: $type),*
            ) $(-> $result)? $body

            #[cfg(target_arch = "x86_64")]
            if $cpu.wants_v3() {
                // SAFETY: the CPU has the instructions, `Cpu::detect` has asked it.
                #[allow(unsafe_code)]
                return unsafe { v3::<$ruleset $(, $generic)?>($($argument),*) };
            }
            #[cfg(not(target_arch = "x86_64"))]
            let _ = $cpu.wants_v3();
            as_built::<$ruleset $(, $generic)?>($($argument),*)
        }
    };
}
pub(crate) use versions;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MoveList, Position, Preset, perft, perft_made};

    /// Says something in a build for every x86-64 on a CPU that has more (`RUSTFLAGS="-C target-cpu=x86-64"`).
    #[test]
    fn both_versions_play_the_same_games() {
        let mut number = 1u64;
        for preset in Preset::ALL {
            let mut detected = Position::start(&preset.rules());
            let mut as_built = detected.clone();
            as_built.cpu = Cpu { has_v3: false };
            assert_eq!(perft(&mut detected, 3), perft(&mut as_built, 3));
            assert_eq!(perft_made(&mut detected, 2), perft_made(&mut as_built, 2));
            let (mut moves, mut same) = (MoveList::new(), MoveList::new());
            for _ in 0..200 {
                detected.legal_moves(&mut moves);
                as_built.legal_moves(&mut same);
                assert_eq!(moves.as_slice(), same.as_slice());
                assert_eq!(detected.count_legal_moves(), as_built.count_legal_moves());
                let ends = |position: &Position| moves.iter().map(|&mv| position.outcome_after(mv)).collect::<Vec<_>>();
                assert_eq!(ends(&detected), ends(&as_built));
                number = crate::tables::mix(number);
                let pick = |count| number as usize % count;
                let (mv, same) = (detected.random_move(pick), as_built.random_move(pick));
                assert_eq!(mv, same);
                let Some(mv) = mv else { break };
                assert_eq!(detected.advance(mv), as_built.advance(mv));
                assert_eq!(detected.state_key(), as_built.state_key());
                assert_eq!(detected.outcome(), as_built.outcome());
            }
        }
    }
}
