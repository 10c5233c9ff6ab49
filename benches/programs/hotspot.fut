-- The chip: its side and thickness in metres, conductivity, heat capacity with its factor, and the greatest slope.
def side: f64 = 0.016
def thickness: f64 = 0.0005
def conductivity: f64 = 100
def heat: f64 = 0.5 * 1.75e6
def slope: f64 = 3e6 / (thickness * heat)

entry main [n] (steps: i64) (temperature: [n][n]f32) (power: [n][n]f32): [n][n]f32 =
  let cell = side / f64.i64 n
  let step = f32.f64 (0.001 / slope / (heat * thickness * cell * cell))
  let across = f32.f64 (2 * conductivity * thickness)
  let out = f32.f64 (conductivity * cell * cell / thickness)
  in loop t = temperature for _s < steps do
       tabulate_2d n n (\i j ->
         let c = t[i, j]
         let north = if i > 0 then t[i - 1, j] else c
         let south = if i < n - 1 then t[i + 1, j] else c
         let west = if j > 0 then t[i, j - 1] else c
         let east = if j < n - 1 then t[i, j + 1] else c
         in c + step * (power[i, j] + (north + south - 2 * c) * across
                        + (west + east - 2 * c) * across + (80 - c) * out))
