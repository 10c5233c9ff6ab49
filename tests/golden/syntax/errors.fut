def a = 1 +
def b = (1, 2
def c x = if x then 1
def d = let x = 1 x
def e = 3..4
def (p, q) = (1, 2)
value = 3
def f = 300u8 + 99999999999999999999999999999999999999999
def fine = 1
def g = "open
def h = a ; b
