//! A small seeded generator, so that a seed alone repeats a failure on any machine.

/// `SplitMix64`: one addition and three mixes a draw, good enough to choose test cases.
#[derive(Clone, Debug)]
pub(crate) struct Rng {
    state: u64,
}

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number in `0..=most`.
    pub(crate) fn up_to(&mut self, most: u64) -> u64 {
        match most.checked_add(1) {
            // The bias is below 2^-32 for every range that tests draw often, and harmless.
            Some(count) => self.next() % count,
            None => self.next(),
        }
    }

    /// A number in `0..=most` whose magnitude is evenly spread, so that small ones come often.
    pub(crate) fn magnitude_up_to(&mut self, most: u64) -> u64 {
        let bits = self.up_to(64 - u64::from(most.leading_zeros()));
        let ceiling = 1_u64.checked_shl(u32::try_from(bits).unwrap_or(64)).unwrap_or(u64::MAX);
        self.up_to(most.min(ceiling))
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        let most = u64::try_from(from.len() - 1).unwrap_or(u64::MAX);
        &from[usize::try_from(self.up_to(most)).unwrap_or(0)]
    }

    /// True in `share` of 100 draws.
    pub(crate) fn percent(&mut self, share: u64) -> bool {
        self.up_to(99) < share
    }
}
