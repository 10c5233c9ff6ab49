-- What a lambda finds outside of it, it may find many times.
def free (xs: *[]i32) (n: i64) =
  map (\i -> (xs with [i] = 0)[0]) (iota n)

def own (xss: [][]i32) = map (\xs -> copy xs with [0] = 1) xss

def parameter (xss: [][]i32) = map (\xs -> xs with [0] = 1) xss

def inside (n: i64) =
  map (\i -> let a = replicate 3 0 in a with [0] = i) (iota n)
