-- A net with memory cells: layers of gates that are applied to a sequence, element by element; how well it says what comes next, by
-- all weights.

type gates [d] = {forget: [d]f64, enter: [d]f64, leave: [d]f64, change: [d]f64}
type layer [d] = {weight: gates [d], bias: gates [d]}

def sigmoid (x: f64) : f64 = 1 / (1 + f64.exp (-x))

-- One layer: what it gives, and what its cells hold then.
def through [d] (l: layer [d]) (hidden: [d]f64) (cell: [d]f64) (input: [d]f64) : ([d]f64, [d]f64) =
  let gate x w b = sigmoid (x * w + b)
  let forget = map3 gate input l.weight.forget l.bias.forget
  let enter = map3 gate hidden l.weight.enter l.bias.enter
  let leave = map3 gate input l.weight.leave l.bias.leave
  let change = map3 (\x w b -> f64.tanh (x * w + b)) hidden l.weight.change l.bias.change
  let cell = map4 (\c f e n -> c * f + e * n) cell forget enter change
  in (map2 (\l c -> l * f64.tanh c) leave cell, cell)

def loss [t] [l] [d] (sequence: [t][d]f64) (states: [l][2][d]f64) (layers: [l][2][4][d]f64) (ends: [3][d]f64) : f64 =
  let gates (g: [4][d]f64) : gates [d] = {forget = g[0], enter = g[1], leave = g[2], change = g[3]}
  let (total, _) =
    loop (total, states) = (0, copy states)
    for i < t - 1 do
      let (x, states) =
        loop (x, states) = (map2 (*) sequence[i] ends[0], states)
        for k < l do
          let own = {weight = gates layers[k, 0], bias = gates layers[k, 1]}
          let (hidden, cell) = through own states[k, 0] states[k, 1] x
          in (hidden, states with [k] = [hidden, cell])
      let guess = map3 (\x w b -> x * w + b) x ends[1] ends[2]
      let norm = f64.log (f64.sum (map f64.exp guess) + 2)
      in (total + f64.sum (map2 (\g s -> s * (g - norm)) guess sequence[i + 1]), states)
  in -total / f64.i64 ((t - 1) * d)

def numbers (n: i64) : [n]f64 = tabulate n (\i -> f64.sin (f64.i64 (i * 31)))

entry input (t: i64) (d: i64) (l: i64) =
  let sequence = tabulate_2d t d (\i j -> f64.bool ((i * 7 + j * 3) % d == 0))
  let states = unflatten_3d (numbers (l * 2 * d))
  let layers = unflatten_4d (numbers (l * 2 * 4 * d))
  in (sequence, states, layers, unflatten (numbers (3 * d)))

entry primal [t] [l] [d] (sequence: [t][d]f64) (states: [l][2][d]f64) (layers: [l][2][4][d]f64) (ends: [3][d]f64) =
  loss sequence states layers ends

entry derivative [t] [l] [d] (sequence: [t][d]f64) (states: [l][2][d]f64) (layers: [l][2][4][d]f64) (ends: [3][d]f64) =
  vjp (\(layers, ends) -> loss sequence states layers ends) (layers, ends) 1
