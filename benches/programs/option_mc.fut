def word (seed: u32) (i: u32): u32 =
  let x = i * 0x9E3779B9 + seed * 0x7F4A7C15
  let x = (x ^ (x >> 16)) * 0x85EBCA6B
  let x = (x ^ (x >> 13)) * 0xC2B2AE35
  in x ^ (x >> 16)

entry main (paths: i64) (steps: i64): f64 =
  let (start, strike, r, v) = (100, 100, 0.05, 0.2)
  let dt = 1 / f64.i64 steps
  let pay (p: i64): f64 =
    let (_, m) =
      loop (l, m) = (0, 0) for k < steps do
        let i = u32.i64 (p * steps + k)
        let u1 = (f64.u32 (word 1 i) + 1) * 0x1.0p-32
        let u2 = f64.u32 (word 2 i) * 0x1.0p-32
        let l = l + (r - v * v / 2) * dt
                + v * f64.sqrt dt * f64.sqrt (-2 * f64.log u1) * f64.cos (2 * f64.pi * u2)
        in (l, m + f64.exp l)
    in f64.max (start * m / f64.i64 steps - strike) 0
  in f64.exp (-r) * f64.sum (map pay (iota paths)) / f64.i64 paths
