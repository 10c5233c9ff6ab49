def x ! y = x
def (&&) (x: bool) (y: bool) = x
def a = b[1] [2]
def c = (1,)
def d (x,) = x
def e : (i32,) = 1
def f = {0}
def g = (f 1).(x)
def h = if a = b then 1 else 2
def i =
  let x = 1
def j = 2
module m = {
  def k = (
  def l = 1
  type t =
  def n = {
    a = 1
  }
}
def o (m.p) = 1
def m.+ = 2
def q = "\q" ++ "\NUL\SOH\SO\x41\o101\65\&\^A" ++ "é\1234"
type t = #a | b
def r = 1 ..
def s = 255i8 + 0x1ffi8 + -128i8
def t 'a' = 'é'
