entry main (steps: i64) (a: u32) (b: u32): u32 =
  let (_, b) = loop (a, b) for _s < steps do
    let t = a + b
    in (b, t ^ (t >> 7))
  in b
