-- Conway's game of life on a board whose edges meet.
--
--   echo '4i32 [[0i8,1i8,0i8,0i8,0i8],[0i8,0i8,1i8,0i8,0i8],[1i8,1i8,1i8,0i8,0i8],[0i8,0i8,0i8,0i8,0i8],[0i8,0i8,0i8,0i8,0i8]]' \
--     | galopvm run examples/life.fut

def step [h][w] (board: [h][w]i8): [h][w]i8 =
  map (\i ->
         map (\j ->
                let (up, down) = ((i - 1) % h, (i + 1) % h)
                let (left, right) = ((j - 1) % w, (j + 1) % w)
                let neighbours =
                  board[up, left] + board[up, j] + board[up, right]
                  + board[i, left] + board[i, right]
                  + board[down, left] + board[down, j] + board[down, right]
                in if neighbours == 3 || (neighbours == 2 && board[i, j] == 1) then 1 else 0)
             (iota w))
      (iota h)

entry main [h][w] (generations: i32) (board: [h][w]i8): [h][w]i8 =
  loop board for _g < generations do step board
