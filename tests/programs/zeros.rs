//! Zeros of both signs where floats are combined in any order: every tier gives the same one.

use crate::places::agree;

#[test]
fn the_greatest_and_the_least_zero_do_not_depend_on_the_order() {
    let patterns = ["i > 1", "i == n - 1", "i % 5 == 3", "i * 7 % 11 < 6", "i / 3 % 2 == 1"];
    for (elem, is_zero) in ["f32", "f64"].into_iter().flat_map(|elem| patterns.map(|pattern| (elem, pattern)))
    {
        let text = format!(
            "entry main (x: f64) =
               let n = i64.f64 x
               -- What is not zero lets zeros from behind come before others, where lanes are combined.
               let zero i = if {is_zero} then 0{elem} else {elem}.neg 0
               let zeros = map (\\i -> if i % 3 == 0 && n > 1 then {elem}.neg 1 else zero i) (iota n)
               let others = map {elem}.neg zeros
               let great = reduce {elem}.max {elem}.lowest
               let least = reduce {elem}.min {elem}.highest
               in ([great zeros, least zeros, great others, least others],
                   scan {elem}.max {elem}.lowest zeros,
                   map (\\i -> great (map (* {elem}.i64 (i % 3 - 1)) zeros)) (iota 40),
                   reduce_by_index (replicate 3 0{elem}) {elem}.min {elem}.highest (map (% 3) (iota n)) zeros)"
        );
        agree(&text, &[1.0, 4.0, 7.0, 20.0, 33.0, 600.0]);
    }
}
