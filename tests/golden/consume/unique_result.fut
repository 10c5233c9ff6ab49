-- A result marked `*` shares nothing with what the caller keeps.
def same (xs: []i32) : *[]i32 = xs

def passed (xs: *[]i32) : *[]i32 = xs

def twice (n: i64) : (*[]i64, *[]i64) = let a = iota n in (a, a)

def once (n: i64) : (*[]i64, []i64) = let a = iota n in (a, a)

def neither (n: i64) : ([]i64, []i64) = let a = iota n in (a, a)
