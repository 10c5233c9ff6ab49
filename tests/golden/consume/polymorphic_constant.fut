-- What a definition is, nobody may consume, whatever its type.
def nothing 't : [0]t = []

def fill (xs: *[]i64) : *[]i64 = xs

def consumes = fill nothing

def copies = fill (copy nothing)

def gives () : *[]i32 = nothing
