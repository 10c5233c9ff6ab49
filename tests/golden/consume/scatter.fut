-- The operators on arrays consume what they write to.
def good (xs: *[]i32) = scatter xs [0] [1]

def bad (xs: []i32) = scatter xs [0] [1]

def after (xs: *[]i32) =
  let ys = scatter xs [0] [1]
  in ys[0] + xs[0]

def histogram (h: *[]i32) = reduce_by_index h (+) 0 [0] [1]
