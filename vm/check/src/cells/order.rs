//! What comes in no order: strands of kernels, and strands inside these.

/// The number of a strand, among all.
pub(crate) type Strand = u32;

/// What is outside all strands.
pub(crate) const OUTSIDE: Strand = 0;

#[derive(Clone, Copy)]
struct Node {
    around: Strand,
    /// Which execution of which kernel it is one of.
    execution: u32,
    number: u32,
    depth: u32,
}

/// All strands, until the outermost kernel is done.
pub(crate) struct Strands {
    all: Vec<Node>,
    /// The kernels that are under way: their numbers, and the strands around.
    open: Vec<(u32, Strand)>,
    now: Strand,
    executions: u32,
}

impl Strands {
    pub fn new() -> Strands {
        let outside = Node { around: OUTSIDE, execution: 0, number: 0, depth: 0 };
        Strands { all: vec![outside], open: Vec::new(), now: OUTSIDE, executions: 0 }
    }

    /// The strand that is under way.
    pub fn now(&self) -> Strand {
        self.now
    }

    /// A kernel begins.
    pub fn begin(&mut self) {
        self.executions += 1;
        self.open.push((self.executions, self.now));
    }

    /// A strand of the innermost kernel begins.
    pub fn strand(&mut self, number: u32) {
        let Some((execution, around)) = self.open.last().copied() else { return };
        let depth = self.all[around as usize].depth + 1;
        self.all.push(Node { around, execution, number, depth });
        self.now = (self.all.len() - 1) as Strand;
    }

    /// The innermost kernel is done; whether it was the outermost one.
    pub fn end(&mut self) -> bool {
        let Some((_, around)) = self.open.pop() else { return true };
        self.now = around;
        if self.open.is_empty() {
            self.all.truncate(1);
        }
        self.open.is_empty()
    }

    /// Whether two strands come in no order.
    pub fn are_free(&self, a: Strand, b: Strand) -> bool {
        let (mut a, mut b) = (a, b);
        let node = |strand: Strand| self.all[strand as usize];
        // Up to the same depth; what is inside of another one comes in its order.
        while node(a).depth > node(b).depth {
            a = node(a).around;
        }
        while node(b).depth > node(a).depth {
            b = node(b).around;
        }
        while a != b {
            if node(a).around == node(b).around {
                return node(a).execution == node(b).execution && node(a).number != node(b).number;
            }
            (a, b) = (node(a).around, node(b).around);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_strands_of_one_execution_are_free() {
        let mut strands = Strands::new();
        strands.begin();
        strands.strand(0);
        let first = strands.now();
        strands.begin();
        strands.strand(0);
        let a = strands.now();
        strands.strand(1);
        let b = strands.now();
        assert!(!strands.end());
        strands.begin();
        strands.strand(1);
        let later = strands.now();
        strands.end();
        strands.strand(1);
        let second = strands.now();
        strands.begin();
        strands.strand(0);
        let other = strands.now();
        assert!(strands.are_free(a, b) && strands.are_free(first, second) && strands.are_free(a, second));
        assert!(strands.are_free(a, other) && strands.are_free(other, later));
        assert!(!strands.are_free(a, later) && !strands.are_free(first, a) && !strands.are_free(a, a));
        assert!(!strands.are_free(second, other) && !strands.are_free(OUTSIDE, a));
        strands.end();
        assert!(strands.end());
    }
}
