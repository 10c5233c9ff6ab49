-- European options by the formula of Black and Scholes.

def normal (x: f64) : f64 = 0.5 * f64.erfc (-x / f64.sqrt 2)

entry price [n] (rate: f64) (volatility: f64) (options: {spots: [n]f64, strikes: [n]f64, terms: [n]f64})
              : {calls: [n]f64, puts: [n]f64} =
  let price spot strike years =
    let spread = volatility * f64.sqrt years
    let d1 = (f64.log (spot / strike) + (rate + volatility ** 2 / 2) * years) / spread
    let discounted = strike * f64.exp (-rate * years)
    let call = spot * normal d1 - discounted * normal (d1 - spread)
    in (call, call - spot + discounted)
  let (calls, puts) = unzip (map3 price options.spots options.strikes options.terms)
  in {calls, puts}
