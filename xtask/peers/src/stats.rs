//! Medians and percentiles.

/// The middle value; of an even count the upper of the two in the middle.
pub(crate) fn median(values: &[f64]) -> f64 {
    percentile(values, 0.5)
}

/// The value that a share of the others is below.
pub(crate) fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = (sorted.len() as f64 * share) as usize;
    sorted.get(at.min(sorted.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::{median, percentile};

    #[test]
    fn medians_and_percentiles() {
        assert!((median(&[3.0, 1.0, 2.0]) - 2.0).abs() < 1e-9);
        let values: Vec<f64> = (0..1000).map(f64::from).collect();
        assert!((percentile(&values, 0.999) - 999.0).abs() < 1e-9);
        assert!(median(&[]).is_nan());
    }
}
