-- Slices and views share memory with the array they show; elements that are numbers do not.
def number (xs: *[]i32) =
  let x = xs[0]
  let xs[1] = 2
  in (x, xs)

def slice (xs: *[]i32) =
  let part = xs[1:3]
  let xs[1] = 2
  in (part, xs)

def view (xss: *[][]i32) =
  let tss = transpose xss
  let xss[0, 0] = 2
  in (tss, xss)

def element (xss: *[][]i32) =
  let row = xss[0]
  let xss[1, 0] = 2
  in (row, xss)
