-- Those with a 0 in this bit first, then those with a 1, each in the order they had.
def split_by [n] (bit: i32) (keys: [n]u32): [n]u32 =
  let ones = map (\k -> i64.i32 (u32.get_bit bit k)) keys
  let zeros = map (1 -) ones
  let below = i64.sum zeros
  let places = map3 (\one zero_place one_place -> if one == 0 then zero_place - 1 else below + one_place - 1)
                    ones (scan (+) 0 zeros) (scan (+) 0 ones)
  in scatter (copy keys) places keys

entry main [n] (keys: [n]u32): [n]u32 =
  loop keys for bit < u32.num_bits do split_by bit keys
