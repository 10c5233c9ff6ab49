-- A constant nobody may consume, whatever its type.
def nothing 't : [0]t = []

def fill (xs: *[]i64) : *[]i64 = xs

def consumes = fill nothing

def copies = fill (copy nothing)

def gives () : *[]i32 = nothing

-- With sizes it is a function of them.
def counted [n] : [n]i64 = 0..1..<n

def made (n: i64) : *[n]i64 = counted
