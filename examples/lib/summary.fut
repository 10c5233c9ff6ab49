-- Summaries of arrays of numbers, for any floating-point type.

-- | What is known of an array: nothing if it is empty.
type summary 'num = #empty | #of {least: num, greatest: num, mean: num, deviation: num}

-- | Functions on arrays of one type of numbers.
module type statistics = {
  type num
  val mean [n] : [n]num -> num
  val variance [n] : [n]num -> num
  val summary [n] : [n]num -> summary num
}

-- | Statistics over a type of floating-point numbers.
module mk_statistics (F: float) : statistics with num = F.t = {
  type num = F.t

  def count [n] (_: [n]F.t) : F.t = F.i64 n

  def mean xs = F.(sum xs / count xs)

  def variance xs =
    let m = mean xs
    in F.(sum (map (\x -> (x - m) * (x - m)) xs) / count xs)

  def summary [n] (xs: [n]F.t) : summary F.t =
    if n == 0
    then #empty
    else #of { least = F.minimum xs
             , greatest = F.maximum xs
             , mean = mean xs
             , deviation = F.sqrt (variance xs)
             }
}
