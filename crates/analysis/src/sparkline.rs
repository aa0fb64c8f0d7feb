//! A row of figures as a line of characters.

/// Figures as characters of growing height, the greatest the highest; zero is the lowest, and nothing else is. Figures that share a
/// character where there are more than `width` are added up.
pub(crate) fn sparkline(figures: &[u128], width: usize) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let each = figures.len().div_ceil(width.max(1)).max(1);
    let sums: Vec<u128> = figures.chunks(each).map(|some| some.iter().sum()).collect();
    let greatest = sums.iter().copied().max().unwrap_or_default().max(1);
    // 1 to 7, rounded up: what is more than nothing is never shown as nothing.
    let height = |sum: u128| (sum.saturating_mul(7).div_ceil(greatest) as usize).min(7);
    sums.into_iter().map(|sum| HEIGHTS[height(sum)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights() {
        let check = |figures: &[u128], width, expect: &str| {
            assert_eq!(sparkline(figures, width), expect, "{figures:?} {width}");
        };
        check(&[], 4, "");
        check(&[0, 0], 4, "▁▁");
        check(&[0, 1, 700, 350], 4, "▁▂█▅");
        check(&[1, 1, 0, 0, 4], 3, "▅▁█");
        check(&[u64::MAX.into(), 0], 4, "█▁");
    }
}
