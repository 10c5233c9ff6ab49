-- A definition may be used by everyone.
def table : [3]i32 = [1, 2, 3]

def set (i: i64) = table with [i] = 0

def set_copy (i: i64) = copy table with [i] = 0

def sum_of_table = table[0] + table[1]
