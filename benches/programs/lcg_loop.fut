entry main (steps: i64) (x: u32): u32 =
  loop x for _s < steps do
    let x = x * 1664525 + 1013904223
    in x ^ (x >> 16)
