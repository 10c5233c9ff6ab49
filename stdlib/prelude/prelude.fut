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

-- | Writes values at positions; positions outside are ignored.
def scatter 't [k] [n] (dest: *[k]t) (is: [n]i64) (vs: [n]t) : *[k]t =
  loop (d: *[k]t) = dest for j < n do
    let i = is[j]
    in if 0 <= i && i < k then d with [i] = copy vs[j] else d

-- | A new array of `k` copies of `x` with values written at positions.
def spread 't [n] (k: i64) (x: t) (is: [n]i64) (vs: [n]t) : *[k]t = scatter (replicate k x) is vs

-- | Combines values into the elements at positions; positions outside are ignored.
def reduce_by_index 'a [k] [n] (dest: *[k]a) (f: a -> a -> a) (ne: a) (is: [n]i64) (as: [n]a) : *[k]a =
  loop (d: *[k]a) = dest for j < n do
    let i = is[j]
    in if 0 <= i && i < k then d with [i] = f d[i] as[j] else d

-- | A histogram of `k` buckets.
def hist 'a [n] (op: a -> a -> a) (ne: a) (k: i64) (is: [n]i64) (as: [n]a) : *[k]a =
  reduce_by_index (replicate k ne) op ne is as

-- | The elements for which the predicate holds, in order.
def filter [n] 'a (p: a -> bool) (as: [n]a) : *[]a =
  let (kept, count) =
    loop (kept, count) = (copy as, 0i64) for a in as do
      if p a then (kept with [count] = copy a, count + 1) else (kept, count)
  in kept[:count]

-- | The elements for which the predicate holds, and the others.
def partition [n] 'a (p: a -> bool) (as: [n]a) : ?[k].([k]a, [n - k]a) =
  let [k] (yes: [k]a) = filter p as
  in (yes, filter (\x -> !(p x)) as :> [n - k]a)

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

-- | Element `i` of the result is element `i + r` (round the end).
def rotate [n] 't (r: i64) (a: [n]t) : *[n]t = map (\i -> a[(i + r) % n]) (iota n)

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

-- | The elements for which the first predicate holds, those for which only the second does, and the others.
def partition2 [n] 'a (p: a -> bool) (q: a -> bool) (as: [n]a) : ?[k][l].([k]a, [l]a, [n - k - l]a) =
  let [k] (first: [k]a) = filter p as
  let [l] (second: [l]a) = filter (\x -> !(p x) && q x) as
  in (first, second, filter (\x -> !(p x || q x)) as :> [n - k - l]a)

-- | Writes values at positions of two dimensions; positions outside are ignored.
def scatter_2d 't [k] [n] [l] (dest: *[k][n]t) (is: [l](i64, i64)) (vs: [l]t) : *[k][n]t =
  loop (d: *[k][n]t) = dest for x < l do
    let (i, j) = is[x]
    in if 0 <= i && i < k && 0 <= j && j < n then d with [i, j] = copy vs[x] else d

-- | Writes values at positions of three dimensions; positions outside are ignored.
def scatter_3d 't [k] [n] [o] [l] (dest: *[k][n][o]t) (is: [l](i64, i64, i64)) (vs: [l]t) : *[k][n][o]t =
  loop (d: *[k][n][o]t) = dest for x < l do
    let (i, j, h) = is[x]
    in if 0 <= i && i < k && 0 <= j && j < n && 0 <= h && h < o then d with [i, j, h] = copy vs[x] else d

-- | Combines values into the elements at positions of two dimensions.
def reduce_by_index_2d 'a [k] [n] [m] (dest: *[k][m]a) (f: a -> a -> a) (ne: a)
                       (is: [n](i64, i64)) (as: [n]a) : *[k][m]a =
  loop (d: *[k][m]a) = dest for x < n do
    let (i, j) = is[x]
    in if 0 <= i && i < k && 0 <= j && j < m then d with [i, j] = f d[i, j] as[x] else d

-- | Combines values into the elements at positions of three dimensions.
def reduce_by_index_3d 'a [k] [n] [m] [l] (dest: *[k][m][l]a) (f: a -> a -> a) (ne: a)
                       (is: [n](i64, i64, i64)) (as: [n]a) : *[k][m][l]a =
  loop (d: *[k][m][l]a) = dest for x < n do
    let (i, j, h) = is[x]
    in if 0 <= i && i < k && 0 <= j && j < m && 0 <= h && h < l then d with [i, j, h] = f d[i, j, h] as[x] else d

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
