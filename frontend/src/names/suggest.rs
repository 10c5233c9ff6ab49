//! "Did you mean": the known name that is closest to a misspelt one.

/// The candidate with the least edit distance, if it is close enough to be meant.
pub fn closest<'n>(wanted: &str, candidates: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let limit = match wanted.chars().count() {
        0..=1 => return None,
        2..=3 => 1,
        4..=6 => 2,
        _ => 3,
    };
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        if candidate.len().abs_diff(wanted.len()) > limit || candidate == wanted {
            continue;
        }
        let distance = distance(wanted, candidate);
        let better = best.is_none_or(|(d, name)| (distance, candidate) < (d, name));
        if distance <= limit && better {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, name)| name)
}

/// Insertions, deletions, replacements and swaps of neighbours that lead from one to the other.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replace = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut cost = replace.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                cost = cost.min(rows[i - 2][j - 2] + 1);
            }
            row.push(cost);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_meant() {
        let names = ["reduce", "replicate", "map", "i32"];
        assert_eq!(closest("reduc", names.into_iter()), Some("reduce"));
        assert_eq!(closest("mpa", names.into_iter()), Some("map"));
        assert_eq!(closest("zebra", names.into_iter()), None);
    }
}
