//! Which keys are asked for, in what order; made before the clock starts.

/// The keys of a run and the order of its decisions.
pub(crate) struct Workload {
    pub(crate) key_count: usize,
    /// How the keys are drawn, for the table.
    pub(crate) shape: &'static str,
    /// The keys, each a `String` of its own as governor's users have them.
    pub(crate) keys: Vec<String>,
    /// Indices into `keys`, one a decision.
    pub(crate) order: Vec<u32>,
}

/// The keys that a store is filled with, in the order of their numbers.
pub(crate) fn keys(count: usize) -> Vec<String> {
    (0..count).map(key).collect()
}

impl Workload {
    /// One key, over and over.
    pub(crate) fn one() -> Self {
        Self { key_count: 1, shape: "-", keys: keys(1), order: vec![0; FEW] }
    }

    /// Keys that are all equally likely.
    pub(crate) fn uniform(count: usize) -> Self {
        let mut random = Random::default();
        // Each key equally often, in random order: every pass then touches the whole store.
        let copies = FEW.div_ceil(count).max(1);
        let mut visits: Vec<u32> = (0..copies).flat_map(|_| 0..count as u32).collect();
        random.shuffle(&mut visits);
        Self::new(count, "uniform", visits)
    }

    /// Keys of which the n-th most frequent is asked for 1/n as often as the first.
    pub(crate) fn zipf(count: usize) -> Self {
        let mut random = Random::default();
        let mut sum = 0.0;
        let sums: Vec<f64> = (1..=count)
            .map(|rank| {
                sum += 1.0 / rank as f64;
                sum
            })
            .collect();
        // Frequent keys must not be neighbours in memory, as keys with the first numbers would be.
        let mut by_rank: Vec<u32> = (0..count as u32).collect();
        random.shuffle(&mut by_rank);
        let visits = (0..count.max(FEW))
            .map(|_| {
                let drawn = random.unit() * sum;
                by_rank[sums.partition_point(|&s| s < drawn).min(count - 1)]
            })
            .collect();
        Self::new(count, "zipf 1.0", visits)
    }

    fn new(count: usize, shape: &'static str, visits: Vec<u32>) -> Self {
        if count <= FEW {
            return Self { key_count: count, shape, keys: keys(count), order: visits };
        }
        // A service has just read the key from a request, so it is in the cache. Keys that lie in
        // the order of their visits are too, and what is left to measure is the store.
        let keys: Vec<String> = visits.iter().map(|&index| key(index as usize)).collect();
        let order = (0..keys.len() as u32).collect();
        Self { key_count: count, shape, keys, order }
    }
}

fn key(number: usize) -> String {
    format!("user-{number:07}")
}

/// How long an order is at least: too long for a branch predictor, short enough for the L2 cache.
const FEW: usize = 1 << 16;

/// A small generator (xorshift64*), so that every run asks for the same keys.
struct Random(u64);

impl Default for Random {
    fn default() -> Self {
        Self(0x9E37_79B9_7F4A_7C15)
    }
}

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// From 0 up to 1, not included.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn shuffle(&mut self, values: &mut [u32]) {
        for last in (1..values.len()).rev() {
            values.swap(last, (self.next() % (last as u64 + 1)) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Workload;

    fn most_frequent(workload: &Workload) -> usize {
        let mut counts = std::collections::HashMap::new();
        for &index in &workload.order {
            *counts.entry(&workload.keys[index as usize]).or_insert(0) += 1;
        }
        counts.into_values().max().unwrap()
    }

    #[test]
    fn uniform_visits_each_key_equally_often() {
        assert_eq!(most_frequent(&Workload::uniform(1_000)), 66);
        assert_eq!(most_frequent(&Workload::uniform(100_000)), 1);
    }

    #[test]
    fn zipf_visits_the_first_key_as_often_as_its_harmonic_share() {
        let workload = Workload::zipf(1_000);
        let share = most_frequent(&workload) as f64 / workload.order.len() as f64;
        // 1 / H(1000) = 1 / 7.485
        assert!((share - 0.1336).abs() < 0.01, "{share}");
    }
}
