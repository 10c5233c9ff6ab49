def f x =
  let y = (x +
