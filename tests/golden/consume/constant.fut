-- A constant cannot be anyone's own.
def ones : *[3]i32 = [1, 1, 1]

def twos : [3]i32 = [2, 2, 2]
