-- | What the file is about.
-- It goes on here.

-- | What `a` is.
def a = 1

-- | In a module.
module m = {
  -- | Inside.
  def b = 2
  -- An ordinary comment.
  def c = 3
}

module type s = {
  -- | A value.
  val x : i32
  -- | A type.
  type t
}

-- | Behind `local`.
local def d = 4
