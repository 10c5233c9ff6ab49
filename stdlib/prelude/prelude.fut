-- The definitions every program sees, over the intrinsics of stdlib/src/intrinsics.rs.

-- | Applies a function to every element.
def map1 'a [n] 'x (f: a -> x) (as: [n]a) : *[n]x = map f as

-- | Applies a function of two arguments to two arrays.
def map2 'a 'b [n] 'x (f: a -> b -> x) (as: [n]a) (bs: [n]b) : *[n]x =
  map (\(a, b) -> f a b) (zip2 as bs)

-- | Applies a function of three arguments to three arrays.
def map3 'a 'b 'c [n] 'x (f: a -> b -> c -> x) (as: [n]a) (bs: [n]b) (cs: [n]c) : *[n]x =
  map (\(a, b, c) -> f a b c) (zip3 as bs cs)

-- | Applies a function of four arguments to four arrays.
def map4 'a 'b 'c 'd [n] 'x (f: a -> b -> c -> d -> x) (as: [n]a) (bs: [n]b) (cs: [n]c) (ds: [n]d) : *[n]x =
  map (\(a, b, c, d) -> f a b c d) (zip4 as bs cs ds)

-- | Applies a function of five arguments to five arrays.
def map5 'a 'b 'c 'd 'e [n] 'x (f: a -> b -> c -> d -> e -> x)
         (as: [n]a) (bs: [n]b) (cs: [n]c) (ds: [n]d) (es: [n]e) : *[n]x =
  map (\(a, b, c, d, e) -> f a b c d e) (zip5 as bs cs ds es)

-- | Does the predicate hold for every element?
def all [n] 'a (f: a -> bool) (as: [n]a) : bool = reduce (&&) true (map f as)

-- | Does the predicate hold for some element?
def any [n] 'a (f: a -> bool) (as: [n]a) : bool = reduce (||) false (map f as)

-- | Are all elements true?
def and [n] (xs: [n]bool) : bool = reduce (&&) true xs

-- | Is some element true?
def or [n] (xs: [n]bool) : bool = reduce (||) false xs

-- | Exclusive prefixes of `reduce`.
def exscan [n] 'a (op: a -> a -> a) (ne: a) (as: [n]a) : *[n]a =
  let s = scan op ne as
  in map (\i -> if i == 0 then ne else s[i - 1]) (iota n)

-- | A new array of `k` copies of `x` with values written at positions.
def spread 't [n] (k: i64) (x: t) (is: [n]i64) (vs: [n]t) : *[k]t = scatter (replicate k x) is vs

-- | A histogram of `k` buckets.
def hist 'a [n] (op: a -> a -> a) (ne: a) (k: i64) (is: [n]i64) (as: [n]a) : *[k]a =
  reduce_by_index (replicate k ne) op ne is as

-- | Is the array empty?
def null [n] 't (_: [n]t) : bool = n == 0

-- | The first element.
def head [n] 't (x: [n]t) : t = x[0]

-- | The last element.
def last [n] 't (x: [n]t) : t = x[n - 1]

-- | All but the first element.
def tail [n] 't (x: [n]t) : [n - 1]t = x[1:]

-- | All but the last element.
def init [n] 't (x: [n]t) : [n - 1]t = x[0:n - 1]

-- | The first `i` elements.
def take [n] 't (i: i64) (x: [n]t) : [i]t = x[0:i]

-- | All but the first `i` elements.
def drop [n] 't (i: i64) (x: [n]t) : [n - i]t = x[i:]

-- | The same array, its size checked.
def sized [m] 't (n: i64) (xs: [m]t) : [n]t = xs :> [n]t

-- | The first part and the rest; the extents come from the type.
def split [n] [m] 't (xs: [n + m]t) : ([n]t, [m]t) = (xs[0:n], xs[n:n + m] :> [m]t)

-- | The elements in reverse order; a view.
def reverse [n] 't (x: [n]t) : [n]t = x[::-1] :> [n]t

-- | One array after the other.
def (++) [n] [m] 't (xs: [n]t) (ys: [m]t) : *[n + m]t = concat xs ys

-- | The valid indices of an array.
def indices [n] 't (_: [n]t) : *[n]i64 = iota n

-- | As many copies as the type asks for.
def rep 't [n] (x: t) : *[n]t = replicate n x

-- | The outer three dimensions made one.
def flatten_3d [n] [m] [l] 't (xs: [n][m][l]t) : [n * m * l]t = flatten (flatten xs)

-- | The outer four dimensions made one.
def flatten_4d [n] [m] [l] [k] 't (xs: [n][m][l][k]t) : [n * m * l * k]t = flatten (flatten_3d xs)

-- | The outer dimension made three.
def unflatten_3d 't [n] [m] [l] (xs: [n * m * l]t) : [n][m][l]t = unflatten (unflatten xs)

-- | The outer dimension made four.
def unflatten_4d 't [n] [m] [l] [k] (xs: [n * m * l * k]t) : [n][m][l][k]t = unflatten (unflatten_3d xs)

-- | Combines from the left.
def foldl [n] 'a 'b (f: a -> b -> a) (acc: a) (bs: [n]b) : a = loop acc for b in bs do f acc b

-- | Combines from the right.
def foldr [n] 'a 'b (f: b -> a -> a) (acc: a) (bs: [n]b) : a = loop acc for b in reverse bs do f b acc

-- | The array of `f i` for `i` below `n`.
def tabulate 'a (n: i64) (f: i64 -> a) : *[n]a = map f (iota n)

-- | The array of `f i j`.
def tabulate_2d 'a (n: i64) (m: i64) (f: i64 -> i64 -> a) : *[n][m]a = map (\i -> tabulate m (f i)) (iota n)

-- | The array of `f i j k`.
def tabulate_3d 'a (n: i64) (m: i64) (o: i64) (f: i64 -> i64 -> i64 -> a) : *[n][m][o]a =
  map (\i -> tabulate_2d m o (f i)) (iota n)

-- | The argument.
def id '^a (x: a) : a = x

-- | The first argument.
def const '^a '^b (x: a) (_: b) : a = x

-- | Arguments exchanged.
def flip '^a '^b '^c (f: a -> b -> c) (b: b) (a: a) : c = f a b

-- | A function of a pair, applied to its components.
def curry '^a '^b '^c (f: (a, b) -> c) (a: a) (b: b) : c = f (a, b)

-- | A function of two arguments, applied to a pair.
def uncurry '^a '^b '^c (f: a -> b -> c) (p: (a, b)) : c = f p.0 p.1

-- | First `f`, then `g`.
def (>->) '^a '^b '^c (f: a -> b) (g: b -> c) (x: a) : c = g (f x)

-- | First `f`, then `g`.
def (<-<) '^a '^b '^c (g: b -> c) (f: a -> b) (x: a) : c = g (f x)

-- | Applies `f` `n` times.
def iterate 'a (n: i32) (f: a -> a) (x: a) : a = loop x for _i < n do f x

-- | Applies `f` while `p` holds.
def iterate_while 'a (p: a -> bool) (f: a -> a) (x: a) : a = loop x while p x do f x

-- | Applies `f` until `p` holds.
def iterate_until 'a (p: a -> bool) (f: a -> a) (x: a) : a = loop x while !(p x) do f x

-- | Logical negation.
def not (x: bool) : bool = !x

-- | From i32 to f32.
def r32 (x: i32) : f32 = f32.i32 x

-- | From f32 to i32, towards zero.
def t32 (x: f32) : i32 = i32.f32 x

-- | From i32 to f64.
def r64 (x: i32) : f64 = f64.i32 x

-- | From f64 to i32, towards zero.
def t64 (x: f64) : i32 = i32.f64 x

-- | The arrays a function gives, one after the other: their lengths, flags where each begins, their offsets, and
-- their elements.
def flatmap' [n] 'a 'b (f: a -> ?[k].[k]b) (as: [n]a) : ?[m].([n]i64, [m]bool, [n]i64, [m]b) =
  let (lengths, flags, offsets, elements, _) = flatmap (\x -> (f x, ())) as
  in (lengths, flags, offsets, elements)

-- | The derivative of `f` at `x` in direction `x'`.
def jvp 'a 'b (f: a -> b) (x: a) (x': a) : b = (jvp2 f x x').1

-- | The transposed derivative of `f` at `x`, applied to `y'`.
def vjp 'a 'b (f: a -> b) (x: a) (y': b) : a = (vjp2 f x y').1

-- | The derivatives of `f` at `x` in several directions.
def jmp 'a 'b [n] (f: a -> b) (x: a) (x': [n]a) : [n]b = (jmp2 f x x').1

-- | The transposed derivative of `f` at `x`, applied to several adjoints.
def mjp 'a 'b [n] (f: a -> b) (x: a) (y': [n]b) : [n]a = (mjp2 f x y').1

-- | As `with_vjp`, for a function that also gives what its derivative needs.
def with_vjp_tape 'a 'b 'c (f: a -> (c, b)) (f': (c, b) -> a) (x: a) : b =
  (with_vjp f (\(tape, _) (_, adjoint) -> f' (tape, adjoint)) x).1
