-- An entry point that cannot be run does not keep the others from running.
def square (x: f64) = x * x
def steep (x: f64) : f64 = if x < 1 then x else steep (x / 2)

entry before (x: f64) = square x
entry slope (x: f64) = jvp steep x 1
entry slopes [n] (xs: [n]f64) : [n](f64, f64) = map (\x -> vjp2 steep x 1) xs
entry after (x: f64) = square x + 1
