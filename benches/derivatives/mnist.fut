-- A net that tells which digit a picture shows: two dense layers; how wrong it is about a batch of pictures, by all weights.

import "numbers"

type layer [i] [o] = {weights: [o][i]f64, bias: [o]f64}

def dense [n] [i] [o] (l: layer [i] [o]) (rows: [n][i]f64) : [n][o]f64 =
  map (\row -> map2 (\own b -> f64.sum (map2 (*) own row) + b) l.weights l.bias) rows

-- How far from certain of the right digit.
def wrong [o] (scores: [o]f64) (digit: i64) : f64 =
  let top = f64.maximum scores
  in top + f64.log (f64.sum (map (\x -> f64.exp (x - top)) scores)) - scores[digit]

def loss [n] [i] [h] [o] (pictures: [n][i]f64) (digits: [n]i64) (hidden: layer [i] [h], out: layer [h] [o]) : f64 =
  let features = map (map (f64.max 0)) (dense hidden pictures)
  in f64.sum (map2 wrong (dense out features) digits) / f64.i64 n

entry input (n: i64) (i: i64) (h: i64) (o: i64) =
  let digits = tabulate n (\k -> k * 7919 % o)
  in (numbers n i 0.5 0.5, digits, numbers h i 0 0.05, (numbers 1 h 0 0.1)[0], numbers o h 0 0.1, (numbers 1 o 0 0.1)[0])

entry primal [n] [i] [h] [o]
             (pictures: [n][i]f64)
             (digits: [n]i64)
             (weights: [h][i]f64)
             (bias: [h]f64)
             (weights_out: [o][h]f64)
             (bias_out: [o]f64) =
  loss pictures digits ({weights, bias}, {weights = weights_out, bias = bias_out})

entry derivative [n] [i] [h] [o]
                 (pictures: [n][i]f64)
                 (digits: [n]i64)
                 (weights: [h][i]f64)
                 (bias: [h]f64)
                 (weights_out: [o][h]f64)
                 (bias_out: [o]f64) =
  let (hidden, out) = vjp (loss pictures digits) ({weights, bias}, {weights = weights_out, bias = bias_out}) 1
  in (hidden.weights, hidden.bias, out.weights, out.bias)
