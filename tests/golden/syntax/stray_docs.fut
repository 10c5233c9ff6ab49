def a =
  -- | Not here.
  1

def b = 2 -- | Nor here.

-- | Nor at the end.
