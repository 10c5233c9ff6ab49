-- | The documentation is kept
-- over its lines.
def f [n] 'a '^b (x: [n]a) (y, z) {p, q = (r, _)} : *[n]a = x
entry main (xs: []i32) = xs
let old x = x
def (+++) a b = a
def a *** b = a
#[inline] def g = 1
type t = i32
type~ u 'a [n] = [n](a, {x: a, y: []i64})
type^ v 'a = a -> (n: i64) -> [n]a
type s = #none | #some i32 f32
type e = ?[n].([n]i32, [n]i32)
local def hidden = 2
open m
import "lib/github.com/x/y"
