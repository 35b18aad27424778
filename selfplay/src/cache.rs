//! A cache of evaluations, one for each game batch.
//!
//! Every move begins a new tree, so the next searches ask again for positions below the move just played. The key
//! covers everything that legality and the network's input read ([`hnefi_engine::Position::state_key`]), so a cached
//! evaluation equals the one that the network would return. Each game batch has its own cache, so the contents do not
//! depend on the number of threads.
//!
//! The memory is allocated once. A key selects a slot, and a new evaluation replaces the slot's old one. Priors lie in
//! a ring buffer that overwrites the oldest.

use hnefi_inference::Evaluation;

/// Capacity of the ring in priors per slot.
const MEAN_MOVES: usize = 80;

/// The evaluations of one network.
pub(super) struct EvaluationCache {
    checkpoint: String,
    /// The number of slots is a power of two.
    slots: Vec<Option<Slot>>,
    ring: Vec<f32>,
    /// Priors written to the ring so far, skipped places included.
    written: u64,
}

struct Slot {
    key: u64,
    evaluation: Evaluation,
    /// Position of the first prior, counted like `written`.
    begin: u64,
    len: u32,
}

impl EvaluationCache {
    /// A cache with `answers` slots, rounded up to a power of two.
    pub(super) fn new(answers: usize) -> EvaluationCache {
        let slots = answers.next_power_of_two();
        EvaluationCache {
            checkpoint: String::new(),
            slots: std::iter::repeat_with(|| None).take(slots).collect(),
            ring: vec![0.0; slots * MEAN_MOVES],
            written: 0,
        }
    }

    pub(super) fn serve(&mut self, checkpoint: &str) {
        if self.checkpoint != checkpoint {
            checkpoint.clone_into(&mut self.checkpoint);
            self.slots.fill_with(|| None);
        }
    }

    /// The cached evaluation and priors of the position with this key and `moves` legal moves.
    pub(super) fn get(&self, key: u64, moves: usize) -> Option<(&Evaluation, &[f32])> {
        let slot = self.slots[self.place(key)].as_ref()?;
        let overwritten = slot.begin + (self.ring.len() as u64) < self.written;
        if slot.key != key || slot.len as usize != moves || overwritten {
            return None;
        }
        let begin = (slot.begin % self.ring.len() as u64) as usize;
        Some((&slot.evaluation, &self.ring[begin..begin + moves]))
    }

    pub(super) fn put(&mut self, key: u64, evaluation: &Evaluation, priors: &[f32]) {
        let size = self.ring.len();
        if priors.len() > size {
            return;
        }
        let mut begin = (self.written % size as u64) as usize;
        if begin + priors.len() > size {
            // The priors of an evaluation are contiguous, so skip to the start of the ring.
            self.written += (size - begin) as u64;
            begin = 0;
        }
        self.ring[begin..begin + priors.len()].copy_from_slice(priors);
        let slot = Slot { key, evaluation: evaluation.clone(), begin: self.written, len: priors.len() as u32 };
        self.written += priors.len() as u64;
        let place = self.place(key);
        self.slots[place] = Some(slot);
    }

    fn place(&self, key: u64) -> usize {
        key as usize & (self.slots.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use hnefi_inference::{Evaluations, Wdl};

    use super::*;

    fn answer(win: f32, priors: &[f32]) -> Evaluations {
        let mut out = Evaluations::new();
        let wdl = Wdl { win, draw: 0.0, loss: 1.0 - win };
        out.push(wdl, 10.0, None, |logits| logits.extend(priors.iter().map(|prior| prior.ln())));
        out
    }

    fn put(cache: &mut EvaluationCache, key: u64, win: f32, priors: &[f32]) {
        let out = answer(win, priors);
        cache.put(key, out.get(0), out.priors(0));
    }

    #[test]
    fn answers_come_back_as_they_were() {
        let mut cache = EvaluationCache::new(16);
        cache.serve("a");
        put(&mut cache, 7, 0.25, &[0.5, 0.5]);
        put(&mut cache, 8, 0.75, &[0.25, 0.75]);
        let (evaluation, priors) = cache.get(7, 2).expect("it was put there");
        assert_eq!((evaluation.wdl.win, priors), (0.25, answer(0.25, &[0.5, 0.5]).priors(0)));
        assert!(cache.get(9, 2).is_none(), "never seen");
        assert!(cache.get(7, 3).is_none(), "another position of the same key");
        put(&mut cache, 7 + 16, 0.5, &[1.0]);
        assert!(cache.get(7, 2).is_none(), "its slot was needed");
        cache.serve("a");
        assert!(cache.get(8, 2).is_some());
        cache.serve("b");
        assert!(cache.get(8, 2).is_none(), "another network");
    }

    #[test]
    fn the_oldest_priors_are_overwritten() {
        let mut cache = EvaluationCache::new(4);
        let many: Vec<f32> = vec![1.0 / 100.0; 100];
        for key in 0..4 {
            put(&mut cache, key, 0.5, &many);
        }
        // 320 places hold three answers of 100, and the fourth begins anew.
        let found: Vec<bool> = (0..4).map(|key| cache.get(key, 100).is_some()).collect();
        assert_eq!(found, [false, true, true, true]);
        put(&mut cache, 4, 0.5, &vec![1.0; 321]);
        assert!(cache.get(4, 321).is_none(), "more than it can hold");
    }
}
