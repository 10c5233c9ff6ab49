==== braces around a body
def main (x: i32) = { x + 1 }
==== a semicolon
def main (x: i32) = let y = x + 1; y
==== a type in front
def main (int x) = x + 1
==== int
def main (x: int) = x + 1
==== float
def main (x: float) = x
==== double
def main (x: double) = x
==== a function type in front
i32 main (x: i32) = x
==== two ampersands
def main (x: bool) (y: bool) = x && y || !x
==== one ampersand of truth values
def main (x: bool) (y: bool) = x & y
==== not with a tilde
def main (x: i32) = ~x
==== the question mark
def main (x: i32) = x > 0 ? x : -x
==== increment
def main (x: i32) = x++
==== not equal
def main (x: i32) = x <> 1
==== comment
// doubles
def main (x: i32) = x * 2
==== a comment in stars
/* doubles */
def main (x: i32) = x * 2
==== null
def main = null
==== void
def main (x: i32) : void = x
==== a cast
def main (x: i32) = (f64) x
==== a cast with as
def main (x: i32) = x as f64
==== switch
def main (x: i32) = switch x { case 1: 2 }
==== match with fat arrows
def main (x: i32) = match x { 1 => 2, _ => 3 }
==== match without case
def main (x: i32) = match x 1 -> 2 _ -> 3
==== fn
fn main (x: i32) = x
==== function
function main (x: i32) = x
==== fun
fun main (x: i32) = x
==== let mut
def main (x: i32) = let mut y = x in y
==== var
def main (x: i32) = var y = x in y
==== const
const x = 3
==== struct
struct point { x: f64, y: f64 }
==== enum
enum colour { red, green }
==== a semicolon at the end
def x = 3;
==== a chain of comparisons
def main (x: i32) = 1 < x < 3
==== a suffix
def main = 1.0f
==== a long
def main = 1L
==== a character
def main = 'ab'
==== unclosed string
def main = "abc
==== unclosed bracket
def main (x: i32) = [x, 2
==== unclosed parenthesis
def main (x: i32) = (x + 2
==== a closing parenthesis too many
def main (x: i32) = x + 2)
==== a generic function
def id<t>(x: t) = x
==== i++ in a loop
def main (n: i64) = loop s = 0 for (i = 0; i < n; i++) do s + i
==== break in a loop
def main (n: i64) = loop s = 0 for i < n do if i > 3 then break else s
==== printf
def main (x: i32) = printf "%d" x
==== include
#include "stdio.h"
def main = 1
==== a pointer
def main (x: *i32) = *x
==== an index with a comma in a record
def main (x: {a: i32, b: i32}) = x[a]
==== arrow field
def main (x: {a: i32}) = x->a
==== an array type behind
def main (xs: i32[]) = xs
==== a vector type
def main (xs: vec<i32>) = xs
==== braces around a let
def main (x: i32) = { let y = x + 1 in y }
==== braces around branches
def main (x: i32) = if x > 1 { 2 } else { 3 }
