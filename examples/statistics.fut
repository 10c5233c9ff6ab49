-- Statistics of an array and of its halves: a parametric module from another file, sum types and `match`.
--
--   galopvm run examples/statistics.fut < examples/data/statistics.in

import "lib/summary"

module stats = mk_statistics f64

def spread (s: summary f64) : f64 =
  match s
  case #empty -> 0
  case #of {least, greatest, mean = _, deviation = _} -> greatest - least

def centre (s: summary f64) : f64 =
  match s
  case #empty -> f64.nan
  case #of r -> r.mean

-- | Mean, standard deviation, and the spread below and above the mean.
def main [n] (xs: [n]f64) : (f64, f64, f64, f64) =
  let mean = centre (stats.summary xs)
  let (low, high) = partition (< mean) xs
  in (mean, f64.sqrt (stats.variance xs), spread (stats.summary low), spread (stats.summary high))
