-- Operators bind as Futhark's grammar says, loosest first.
def a = x + y * z ** w
def b = -x ** 2
def c = f -x
def d = f (-x)
def e = xs |> map f |> reduce (+) 0
def g = f <| g <| x + 1
def h = a == b && c < d || !e
def i = a & b | c ^ d
def j = a << 1 + 2 >> 3
def k = xs with [0] = a + b with [1] = c
def l = a + b : i32
def m = 0..2..<n + 1
def n = a `f` b + c
def o = f a[0] [1] t.0.1 r.x.y
def p = (+) (+ 1) (1 +) (.x.y) (.[0, 1:2]) (-) (- 1) (`f` 2)
def q = \x -> x + 1 : i32
def r = x m.+ y m.n.* z
def s = if a then b else c + d
def t = assert (a > 0) b + c
def u = #[inline] f x
def v = - -x + !y
