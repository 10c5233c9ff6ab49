//! Means of times, and how sure they are.

/// The arithmetic mean.
pub fn mean(times: &[u64]) -> f64 {
    times.iter().map(|time| *time as f64).sum::<f64>() / times.len().max(1) as f64
}

/// The standard error of the mean.
pub fn standard_error(times: &[u64]) -> f64 {
    let (mean, n) = (mean(times), times.len() as f64);
    if times.len() < 2 {
        return 0.0;
    }
    let squares: f64 = times.iter().map(|time| (*time as f64 - mean).powi(2)).sum();
    (squares / (n - 1.0) / n).sqrt()
}

/// The standard error as a share of the mean.
pub fn relative_error(times: &[u64]) -> f64 {
    standard_error(times) / mean(times).max(1.0)
}

/// How much a time tells of the next one: from -1 to 1.
pub fn autocorrelation(times: &[u64]) -> f64 {
    let mean = mean(times);
    let from_mean = |time: &u64| *time as f64 - mean;
    let squares: f64 = times.iter().map(|time| from_mean(time).powi(2)).sum();
    let products: f64 = times.windows(2).map(|pair| from_mean(&pair[0]) * from_mean(&pair[1])).sum();
    if squares > 0.0 { products / squares } else { 0.0 }
}

/// The interval that the mean lies in with 95 %, by Student's distribution.
pub fn interval(times: &[u64]) -> (f64, f64) {
    let half = student(times.len().saturating_sub(1)) * standard_error(times);
    (mean(times) - half, mean(times) + half)
}

/// The 97.5 % quantile for so many degrees of freedom, by the expansion around the normal one.
fn student(freedom: usize) -> f64 {
    let (z, n) = (1.959_964_f64, freedom.max(1) as f64);
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    z + first / n + second / n.powi(2) + third / n.powi(3)
}

/// How the times compare with earlier ones, and whether that can be chance.
pub fn comparison(before: &[u64], now: &[u64]) -> String {
    if before.is_empty() || now.is_empty() {
        return String::new();
    }
    let ratio = mean(before).max(0.5) / mean(now).max(0.5);
    let ((low, high), (old_low, old_high)) = (interval(now), interval(before));
    let same = low <= old_high && old_low <= high;
    let note = if same { ", may be chance" } else { "" };
    match ratio {
        1.0.. => format!("  {ratio:.2}x faster{note}"),
        _ => format!("  {:.2}x slower{note}", 1.0 / ratio),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_have_intervals() {
        let times = [10, 12, 11, 13, 9, 10, 12, 11, 13, 9];
        assert_eq!(mean(&times), 11.0);
        let (low, high) = interval(&times);
        // 2.262 times 1.4907 / sqrt 10.
        assert!((low - 9.9337).abs() < 0.01 && (high - 12.0663).abs() < 0.01, "{low} {high}");
        assert_eq!(interval(&[7]), (7.0, 7.0));
        assert_eq!(interval(&[7, 7, 7]), (7.0, 7.0));
    }

    #[test]
    fn times_that_follow_each_other_are_seen() {
        assert!(autocorrelation(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) > 0.6);
        assert!(autocorrelation(&[1, 9, 1, 9, 1, 9, 1, 9]) < -0.8);
        assert_eq!(autocorrelation(&[5, 5, 5]), 0.0);
        assert!(relative_error(&[100, 101, 99, 100]) < 0.01);
    }

    #[test]
    fn comparisons_say_what_may_be_chance() {
        assert_eq!(comparison(&[200, 201, 199], &[100, 101, 99]), "  2.00x faster");
        assert_eq!(comparison(&[100, 101, 99], &[200, 201, 199]), "  2.00x slower");
        assert_eq!(comparison(&[100, 120, 80], &[100, 121, 82]), "  1.01x slower, may be chance");
        assert_eq!(comparison(&[], &[1]), "");
    }
}
