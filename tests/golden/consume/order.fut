-- Operands are evaluated from left to right, arguments from right to left.
def set (xs: *[]i32) : i32 = let xs[0] = 1 in xs[0]

def plus (a: i32) (b: i32) = a + b

def operand (xs: *[]i32) = xs[0] + set xs

def operand_after (xs: *[]i32) = set xs + xs[0]

def argument (xs: *[]i32) = plus (set xs) xs[0]

def argument_after (xs: *[]i32) = plus xs[0] (set xs)
