def normal (d: f64): f64 =
  let k = 1 / (1 + 0.2316419 * f64.abs d)
  let p = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
  let c = 0.39894228040143267794 * f64.exp (-d * d / 2) * p
  in if d > 0 then 1 - c else c

def price (s: f64) (x: f64) (t: f64): (f64, f64) =
  let (r, v) = (0.02, 0.3)
  let d1 = (f64.log (s / x) + (r + v * v / 2) * t) / (v * f64.sqrt t)
  let d2 = d1 - v * f64.sqrt t
  let discounted = x * f64.exp (-r * t)
  in (s * normal d1 - discounted * normal d2,
      discounted * (1 - normal d2) - s * (1 - normal d1))

entry main [n] (s: [n]f64) (x: [n]f64) (t: [n]f64): ([n]f64, [n]f64) =
  unzip (map3 price s x t)
