-- Digit after digit, least first; the keys in blocks, each of which knows where its keys of each digit go.
def blocks: i64 = 64
def digits: i64 = 256

def by_digit [n] (shift: u32) (keys: [n]u32): [n]u32 =
  let size = (n + blocks - 1) / blocks
  let digit key = i64.u32 (key >> shift) % digits
  let counts = tabulate blocks (\b ->
    loop counts = replicate digits 0i64 for i < i64.min size (n - b * size) do
      let d = digit keys[b * size + i]
      in counts with [d] = counts[d] + 1)
  -- Smaller digits come first, then the same digit of earlier blocks.
  let in_order = flatten (transpose counts)
  let starts = map2 (-) (scan (+) 0 in_order) in_order |> unflatten |> transpose
  let places = tabulate blocks (\b ->
    (loop (next, places) = (copy starts[b], replicate size (-1)) for i < i64.min size (n - b * size) do
       let d = digit keys[b * size + i]
       let place = next[d]
       in (next with [d] = place + 1, places with [i] = place)).1)
  in scatter (copy keys) (take n (flatten places)) keys

entry main [n] (keys: [n]u32): [n]u32 =
  loop keys for d < 4 do by_digit (8 * d) keys
