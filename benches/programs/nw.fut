entry main [n] (scores: [n][n]i32): [n + 1][n + 1]i32 =
  let borders = tabulate_2d (n + 1) (n + 1) (\i j -> if i == 0 || j == 0 then -10 * i32.i64 (i + j) else 0)
  in loop s = borders for i in 1...n do
       loop s for j in 1...n do
         let best = i32.max (s[i - 1, j - 1] + scores[i - 1, j - 1])
                            (i32.max (s[i - 1, j] - 10) (s[i, j - 1] - 10))
         in s with [i, j] = best
