//! Loops that hand on the cells that the next turn reads mean what they meant.

use galopvm_analysis::cells::with_cells_as_scalars;
use galopvm_base::{ElemType, Scalar};
use galopvm_kir::evaluate::{Value, evaluate};
use galopvm_kir::{Region, VerifiedRegion, verified_from_text, verify};
use galopvm_testkit::Random;

fn rewritten(region: &VerifiedRegion) -> Option<VerifiedRegion> {
    let changed: Region = with_cells_as_scalars(region.region())?;
    Some(verify(changed).unwrap_or_else(|errors| panic!("{errors:?}")))
}

/// A loop over the places of a row, and one over rows around it.
fn text(places: &str, value: &str) -> String {
    format!(
        "region r (n : i64, m : i64, A : [n][m]f32, B : [n][m]f32)
        let s_last : [n][m]f32 = loop s : [n][m]f32 = A for i < n do
          let u : [n][m]f32 = loop t : [n][m]f32 = s for j < {places} do
            let at : i64 = j + 1
            let w : [n][m]f32 = t with [i, at] = {value}
            in w
          in u
        in s_last"
    )
}

fn check(text: &str, is_changed: bool) {
    let before = verified_from_text(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let after = rewritten(&before);
    assert_eq!(after.is_some(), is_changed, "{text}");
    let Some(after) = after else { return };
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let (n, m) = (random.below(4) as i64, random.below(6) as i64);
        let mut array = || {
            let elements = (0..n * m).map(|_| u64::from((random.between(-9, 9) as f32).to_bits())).collect();
            Value::new(ElemType::F32, vec![n, m], elements)
        };
        let (a, b) = (array(), array());
        let args = [Value::Scalar(Scalar::i64(n)), Value::Scalar(Scalar::i64(m)), a, b];
        assert_eq!(evaluate(&before, &args), evaluate(&after, &args), "{n} {m} {text}");
    }
}

#[test]
fn a_cell_that_the_turn_before_has_written_is_handed_on() {
    check(&text("m - 1", "t[i, at - 1] * 0.5f32 + B[i, j]"), true);
    check(&text("m - 1", "t[i, j] + t[i, j + 1] + t[(i + 1) - 1, j]"), true);
    // Without a turn nothing is read.
    check(&text("m - 7", "t[i, j] + 1.0f32"), true);
    // Where turns read outside, both trap.
    check(&text("m", "t[i, j] + 1.0f32"), true);
}

#[test]
fn other_places_are_not_handed_on() {
    check(&text("m - 1", "t[i, j + 1] + 1.0f32"), false);
    check(&text("m - 1", "t[0, j] + 1.0f32"), false);
    check(&text("m - 1", "t[i, j - 1] + t[i, j % m]"), false);
    check(&text("m - 1", "t[i, m - 1 - j]"), false);
}

#[test]
fn a_read_that_turns_may_pass_by_is_not_done_ahead() {
    let text = "region r (n : i64, m : i64, A : [n][m]f32, B : [n][m]f32)
        let s_last : [n][m]f32 = loop s : [n][m]f32 = A for j < n do
          let v : f32 = if j > 0 then in s[j - 1, 0] else in 0.5f32
          let w : [n][m]f32 = s with [j, 0] = v
          in w
        in s_last";
    check(text, false);
}
