def ex: [19]i64 = [0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0]
def ey: [19]i64 = [0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1]
def ez: [19]i64 = [0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1]

def weight (q: i64): f32 = if q == 0 then 1 / 3 else if q < 7 then 1 / 18 else 1 / 36

def stream [d][h][w] (f: [19][d][h][w]f32): [19][d][h][w]f32 =
  tabulate 19 (\q ->
    tabulate_3d d h w (\z y x -> f[q, (z - ez[q]) % d, (y - ey[q]) % h, (x - ex[q]) % w]))

def collide [d][h][w] (g: [19][d][h][w]f32): [19][d][h][w]f32 =
  let rho = tabulate_3d d h w (\z y x -> f32.sum g[:, z, y, x])
  let speed (e: [19]i64) =
    tabulate_3d d h w (\z y x -> f32.sum (map2 (*) (map f32.i64 e) g[:, z, y, x]) / rho[z, y, x])
  let (ux, uy, uz) = (speed ex, speed ey, speed ez)
  in tabulate 19 (\q ->
       tabulate_3d d h w (\z y x ->
         let (u, v, t) = (ux[z, y, x], uy[z, y, x], uz[z, y, x])
         let eu = f32.i64 ex[q] * u + f32.i64 ey[q] * v + f32.i64 ez[q] * t
         let eq = weight q * rho[z, y, x] * (1 - 1.5 * (u * u + v * v + t * t) + 3 * eu + 4.5 * eu * eu)
         in g[q, z, y, x] + 1.2 * (eq - g[q, z, y, x])))

entry main [d][h][w] (steps: i64) (f: [19][d][h][w]f32): [19][d][h][w]f32 =
  loop f for _s < steps do collide (stream f)
