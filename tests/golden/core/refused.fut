entry units (n: i64) = replicate n ()
entry poly x = x
entry fun (f: i32 -> i32) = f 1

