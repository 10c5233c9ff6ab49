-- Prices of trades in steps of time: what is traded in a part of the trades, what is known of two parts together, and figures of all.

-- | Of each step the volume, its worth, and the lowest and highest price.
type steps [k] = {volume: [k]i64, worth: [k]f64, low: [k]f64, high: [k]f64}

-- | Of some trades, in any order, from `start` on. What is in none of the `count` steps of this `length` is left out, as are trades of no size.
entry traded [n] (start: i64) (length: i64) (count: i64) (trades: [n]{time: i64, price: f64, size: i64}) : steps [count] =
  let step trade = if trade.time >= start && trade.size > 0 then (trade.time - start) / length else -1
  let which = map step trades
  in { volume = hist (+) 0 count which (map (.size) trades)
     , worth = hist (+) 0 count which (map (\trade -> trade.price * f64.i64 trade.size) trades)
     , low = hist f64.min f64.inf count which (map (.price) trades)
     , high = hist f64.max (-f64.inf) count which (map (.price) trades) }

entry together [k] (a: steps [k]) (b: steps [k]) : steps [k] =
  { volume = map2 (+) a.volume b.volume
  , worth = map2 (+) a.worth b.worth
  , low = map2 f64.min a.low b.low
  , high = map2 f64.max a.high b.high }

-- | The sums of each element and those before it, `width` in all; fewer at the beginning.
def moving 'a [k] (plus: a -> a -> a) (minus: a -> a -> a) (zero: a) (width: i64) (xs: [k]a) : [k]a =
  let sums = scan plus zero xs
  in map (\i -> if i < width then sums[i] else minus sums[i] sums[i - width]) (iota k)

-- | Of the steps in which there was trade: their number, the mean price weighted by volume, the same over `width` steps,
-- the lowest and highest price, and the volume.
entry figures [k] (width: i64) (all: steps [k]) : []{step: i64, mean: f64, moving: f64, low: f64, high: f64, volume: i64} =
  let volumes = moving (+) (-) 0 width all.volume
  let worths = moving (+) (-) 0 width all.worth
  let row i = { step = i, mean = all.worth[i] / f64.i64 all.volume[i], moving = worths[i] / f64.i64 volumes[i]
              , low = all.low[i], high = all.high[i], volume = all.volume[i] }
  in map row (filter (\i -> all.volume[i] > 0) (iota k))
