-- Prices of options on several assets, from quasi-random paths: for each path Sobol numbers, normal numbers from them,
-- a Brownian bridge, correlation, prices of the assets on each date (Black-Scholes), and what each contract pays; then
-- the mean over all paths.
--
-- Contracts: a call on the first asset; an Asian call on the mean of all assets over all dates; a call on the worst
-- asset that is void once any asset has reached a barrier. The number of dates is a power of two, and there is one
-- Sobol sequence for each date and asset.
--
-- Exercises: a kernel with arrays of its own for each path, made by loops with updates (allocations out of the kernel,
-- places in a common block, layout of that block across the paths, in-place updates), changes of layout between them,
-- and a reduction with arrays as elements.
-- ==
-- entry: main
-- input { 8i64 1i64 }
-- output { [6.23297455054f64, 4.82677115966f64, 3.2914850681f64] }
-- input { 1000i64 4i64 }
-- output { [9.37766235612f64, 5.37738714771f64, 3.19853600062f64] }
-- input { 8i64 3i64 }
-- error: Assertion is false
-- input { 1000i64 8i64 }
-- output { [9.37766235612f64, 4.82984622853f64, 3.08628572444f64] }

-- ==
-- entry: call
-- input { 16384i64 }
-- output { 9.40934356641f64 9.41340338385f64 }

-- ==
-- entry: stratified
-- input { 1i64 } output { true }
-- input { 19i64 } output { true }

-- ==
-- entry: large
-- input { 2000i64 }
-- output { [9.39456400342f64, 4.86886395771f64, 3.07013105668f64] }

import "lib/inputs"

-- | Sobol sequences.

def bits: i64 = 32

-- The first primitive polynomials over two elements: the degree, and the coefficients between the first and the last one.
def polynomials: [18](i64, u32) =
  [(1, 0), (2, 1), (3, 1), (3, 2), (4, 1), (4, 4), (5, 2), (5, 4), (5, 7), (5, 11), (5, 13), (5, 14),
   (6, 1), (6, 13), (6, 16), (6, 19), (6, 22), (6, 25)]

-- The direction numbers of a sequence: those of the first one are single bits, those of another one follow from as many
-- odd numbers as its polynomial's degree.
def directions (sequence: i64): [bits]u32 =
  if sequence == 0
  then tabulate bits (\k -> 1 << u32.i64 (bits - 1 - k))
  else
    let (degree, middle) = polynomials[sequence - 1]
    let odd (k: i64): u32 = 2 * (scramble (100 * sequence + k) % (1 << u32.i64 k)) + 1
    let ms =
      loop ms = replicate bits 0 for k < bits do
        if k < degree then ms with [k] = odd k
        else
          let oldest = ms[k - degree]
          let m =
            loop m = oldest ^ (oldest << u32.i64 degree) for i in 1..<degree do
              let taken = (middle >> u32.i64 (degree - 1 - i)) & 1
              in m ^ ((taken * ms[k - i]) << u32.i64 i)
          in ms with [k] = m
    in map2 (\k m -> m << u32.i64 (bits - 1 - k)) (iota bits) ms

def sobol (directions: [bits]u32) (index: i64): u32 =
  let gray = u32.i64 (index ^ (index >> 1))
  in loop x = 0 for k < bits do
       x ^ (((gray >> u32.i64 k) & 1) * directions[k])

-- Strictly between 0 and 1; exact.
def to_unit (x: u32): f32 = (f32.u32 (x >> 9) + 0.5) / 8388608

-- | Paths.

-- The normal number below which there is a share `p` of all (algorithm AS 241, seven digits).
def normal (p: f32): f32 =
  let q = p - 0.5
  in if f32.abs q <= 0.425
     then
       let r = 0.180625 - q * q
       in q * (((59.10937472 * r + 159.29113202) * r + 50.434271938) * r + 3.3871327179)
          / (((67.18756360 * r + 78.757757664) * r + 17.895169469) * r + 1)
     else
       let r = f32.sqrt (-f32.log (f32.min p (1 - p)))
       let x =
         if r <= 5
         then
           let r = r - 1.6
           in (((0.17023821103 * r + 1.3067284816) * r + 2.7568153900) * r + 1.4234372777)
              / ((0.12021132975 * r + 0.73700164250) * r + 1)
         else
           let r = r - 5
           in (((0.017337203997 * r + 0.42868294337) * r + 3.0812263860) * r + 6.6579051150)
              / ((0.012258202635 * r + 0.24197894225) * r + 1)
       in if q < 0 then -x else x

-- The places of a Brownian motion after each of d steps of time 1: first the last one, then the middle between two that are
-- known, over and over. The normal numbers are in this order.
def bridge [d] (normals: [d]f32): *[d]f32 =
  let last = f32.sqrt (f32.i64 d) * normals[0]
  let (places, _, _) =
    loop (places, width, used) = (replicate d 0 with [d - 1] = last, d, 1) while width > 1 do
      let half = width / 2
      let spread = f32.sqrt (f32.i64 half / 2)
      let places =
        loop places for m < d / width do
          let before = if m == 0 then 0 else places[m * width - 1]
          let after = places[m * width + width - 1]
          in places with [m * width + half - 1] = (before + after) / 2 + spread * normals[used + m]
      in (places, half, used + d / width)
  in places

-- What the market is like: prices now, volatilities, how the assets' motions come from independent ones (a lower
-- triangle), the interest, and the time up to the last date.
type market [m] = {now: [m]f32, volatility: [m]f32, together: [m][m]f32, interest: f32, time: f32}

-- The prices of all assets on all dates from the places of independent motions.
def prices [m][d] (market: market [m]) (motions: [m][d]f32): [d][m]f32 =
  let dt = market.time / f32.i64 d
  let price (date: i64) (asset: i64): f32 =
    let place = loop place = 0 for k < asset + 1 do
                  place + market.together[asset, k] * motions[k, date]
    let v = market.volatility[asset]
    let drift = (market.interest - v * v / 2) * dt * f32.i64 (date + 1)
    in market.now[asset] * f32.exp (drift + v * f32.sqrt dt * place)
  in tabulate_2d d m price

def strike: f32 = 100
def barrier: f32 = 160

def payoffs [d][m] (prices: [d][m]f32): [3]f32 =
  let above_strike (x: f32): f32 = f32.max 0 (x - strike)
  let (total, greatest) =
    loop (total, greatest) = (0, 0) for date < d do
      loop (total, greatest) for asset < m do
        let x = prices[date, asset]
        in (total + x, f32.max greatest x)
  let worst = loop worst = prices[d - 1, 0] for asset < m do f32.min worst prices[d - 1, asset]
  in [above_strike prices[d - 1, 0],
      above_strike (total / f32.i64 (d * m)),
      if greatest >= barrier then 0 else above_strike worst]

def price [m] (paths: i64) (d: i64) (market: market [m]): *[3]f64 =
  let d = assert (d > 0 && d & (d - 1) == 0) d
  let sequences = tabulate m (\asset -> tabulate d (\date -> directions (date * m + asset)))
  let path (index: i64): [3]f64 =
    let normals = map (map (\directions -> normal (to_unit (sobol directions index)))) sequences
    let motions = map bridge normals
    in map f64.f32 (payoffs (prices market motions))
  let sums = reduce (map2 (+)) (replicate 3 0) (map path (iota paths))
  let discount = f64.exp (-f64.f32 (market.interest * market.time))
  in map (\sum -> discount * sum / f64.i64 paths) sums

-- | Entry points.

def two_assets: market [2] =
  {now = [100, 95], volatility = [0.2, 0.3], together = [[1, 0], [0.5, 0.8660254]], interest = 0.03, time = 1}

entry main (paths: i64) (dates: i64): [3]f64 =
  price paths dates two_assets

-- The call on the first asset, from paths and from the formula of Black and Scholes.
entry call (paths: i64): (f64, f64) =
  let share (x: f64): f64 = (1 + f64.erf (x / f64.sqrt 2)) / 2
  let (s, v, r, k) = (100, 0.2, 0.03, f64.f32 strike)
  let d1 = (f64.log (s / k) + r + v * v / 2) / v
  in ((price paths 8 two_assets)[0],
      s * share d1 - k * f64.exp (-r) * share (d1 - v))

-- Has each part of 256 of the first so many sequences one of their first 256 numbers?
entry stratified (sequences: i64): bool =
  let one (sequence: i64): bool =
    let numbers = map (sobol (directions sequence)) (iota 256)
    in all (== 1) (hist (+) 0 256 (map (\x -> i64.u32 (x >> 24)) numbers) (replicate 256 1i32))
  in and (map one (iota sequences))

-- Two assets, eight dates.
entry large (n: i64): [3]f64 = price n 8 two_assets
