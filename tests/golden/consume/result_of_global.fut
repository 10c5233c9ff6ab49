-- A function's result may share memory only with its arguments.
def table : [3]i32 = [1, 2, 3]

def f (_: i32) = table

def g (_: i32) = copy table

def h = table

def k = \(b: bool) -> if b then table else [0, 0, 0]

def l (b: bool) = (table[0], table)
