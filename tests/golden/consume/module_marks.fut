-- What a module type promises about consumption the module has to keep.
module more : {val f : []i32 -> i32} = {
  def f (xs: *[]i32) = xs[0]
}

module less : {val f : *[]i32 -> i32} = {
  def f (xs: []i32) = xs[0]
}

module shared : {val f : []i32 -> *[]i32} = {
  def f (xs: []i32) : []i32 = xs
}

module inferred : {val f : []i32 -> *[]i32} = {
  def f (xs: []i32) = map (+ 1) xs
}
