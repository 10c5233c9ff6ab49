def {x, y} + z = x
def (x: i32) `plus` (y: i32) = x
def 1 ++ _ = 2
def a = match x case (#foo: foo) -> 1 case #bar -1 (#baz _) -> 2 case {a = 1, b} -> 3 case (-1.5, 'c', true) -> 4
def b = - f x with [i] = v |> g
def c = a with b.c[i, :].0 = 1 with [0] = 2
def d = x |> f <| g || h && i == j & k << l + m * n ** o
def e = a `f` b with [0] = c
def f = 0..2..<n
def g = -if a then b else c + d
def h = \(x: i32) {y, z} (+) : []t -> x
def i = loop (x, y) = (1, 2) for (a, b) in xs do loop z while a < b do z
def j = m.n.(x + y) m.(z)
def k = #foo x #bar (#baz y)
def l : ?[n].[n]i32 -> (x: i64) -> *[x](#a i32 | #b [2]f32) = ???
def m [n] 'a '~b '^c (f: (x: a) -> b) (xs: [n + 1]c) : [n]a = assert (n > 0) xs :> [n]a : t
def n = let [n] [m] (xs: [n][m]t) = ys let f [k] 'a (x: [k]a) : [k]a = x let x[0].y = 1 let z.a[1] = 2 in f
entry o = #[unroll] #[flattening(no_outer, only_inner(3))] map (+ 1) xs
def p = xs[1:2:3, ::-1, :n, i:, :, 0,]
def q = (.a.b) (.0) (.[0]) (.a[1:].b) (`f` x) (x `f`) (m.+ 1) (1 m.n.*) (-) (- 1)
