-- What an unknown function gives may share anything it has seen.
def call (f: i32 -> []i32) = f 1 with [0] = 1

def call_own (f: i32 -> *[]i32) = f 1 with [0] = 1

def compose 'a 'b 'c (f: a -> b) (g: b -> c) (x: a) : c = g (f x)

def composed (xs: []i32) =
  compose (\(a: []i32) -> a) (\(a: []i32) -> a) xs with [0] = 1
