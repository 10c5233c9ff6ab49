-- Attributes that act, and ranges of unsigned numbers.
type t [n] = #none | #some i32 (i32, [n]bool)

def tile (x: i64) : i64 = #[param(tile)] x * 2

entry params (xs: []i64) = (map tile xs, #[param(tile)] 3i64, #[param(tile)] 3i32)

entry traces [n] (xs: [n](i32, bool)) (x: t [n]) =
  let ys = trace xs
  let _ = #[trace(sum)] x
  let _ = #[trace] (\y -> y + 1i32)
  let _ = #[break] ()
  in #[trace] {a = ys, b = [()], c = replicate 2 (replicate 3 x)}

entry unsigned (a: u64) (b: u64) (c: u8) = (a..b...9u64, a..<b, a..>b, c...7, a..b..<9)
