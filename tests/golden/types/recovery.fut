-- One broken definition does not make the others wrong.
def broken x = (x +
def uses = broken 3 + 1i64
def fine = 2i64 * uses
