-- A function wanted for its fresh results has to give such.
def own (f: i32 -> *[]i32) = f 1 with [0] = 1

def any (f: i32 -> []i32) = f 1 with [0] = 1

def fresh (x: i32) : *[]i32 = [x]

def shared (xs: []i32) =
  let f (_: i32) : []i32 = xs
  in own f

def good = own fresh

def less = (fresh : i32 -> []i32) 1

def more (f: i32 -> []i32) = f : i32 -> *[]i32
