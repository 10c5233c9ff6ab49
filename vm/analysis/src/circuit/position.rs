//! Where in a region something happens, and which executions of one place come after those of another.

use galopvm_kir::VarId;
use galopvm_lmad::Order;

/// The construct that a place lies in, inside its statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Inside {
    /// The body of a sequential loop; one without a counter has no variable.
    Loop(Option<VarId>),
    /// The body of a kernel, reduction or scan: iterations in no order.
    Kernel(Vec<VarId>),
    /// A branch of an `if`: the `then` side if true.
    Branch(bool),
    /// The operator of a reduction or scan, executed any number of times.
    Operator,
}

/// One step of the way from the region's outermost body to a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// The number of the statement in its body; one more than the last is the end of the body.
    pub stm: usize,
    /// The construct that the rest of the way lies in; nothing at the last step.
    pub inside: Option<Inside>,
}

/// A place in a region.
pub type Position = Vec<Frame>;

/// The position of a statement in the body that `body` leads to.
pub fn at(body: &[Frame], stm: usize) -> Position {
    [body, &[Frame { stm, inside: None }]].concat()
}

/// The way to the body that a position is in.
pub fn body_of(position: &[Frame]) -> &[Frame] {
    &position[..position.len().saturating_sub(1)]
}

/// Whether a position lies in the body (or in a body inside it) that `body` leads to.
pub fn lies_in(position: &[Frame], body: &[Frame]) -> bool {
    position.len() > body.len() && position[..body.len()] == *body
}

/// The number of leading steps that two positions share.
fn shared(a: &[Frame], b: &[Frame]) -> usize {
    a.iter().zip(b).take_while(|(x, y)| x == y && x.inside.is_some()).count()
}

/// How the iterations of two places must lie to each other, one entry for each common variable; any if not listed.
pub type Orders = Vec<(VarId, Order)>;

/// The ways in which an execution of `second` comes after, or at the same time as, one of `first`, both before
/// `end` of the same execution of the body of `end`, for memory that exists once for each execution of `home`'s body.
pub fn ways_after(first: &[Frame], second: &[Frame], end: &[Frame], home: &[Frame]) -> Vec<Orders> {
    let mut same: Orders = Vec::new();
    let mut all = Vec::new();
    let around_end = shared(first, end).min(body_of(end).len());
    let around_home = shared(first, home).min(body_of(home).len());
    for (k, (a, b)) in first.iter().zip(second).enumerate() {
        if a.stm != b.stm {
            // Outside the body of the end, it comes after the end.
            if b.stm > a.stm && k >= around_end {
                all.push(same);
            }
            return all;
        }
        match (&a.inside, &b.inside) {
            (Some(Inside::Branch(x)), Some(Inside::Branch(y))) if x != y => return all,
            (Some(x), Some(y)) if x == y => match x {
                Inside::Branch(_) => {}
                Inside::Loop(var) => {
                    // Iterations of a loop around the end come after the end.
                    if k >= around_end {
                        let later = var.map(|var| (var, Order::Later));
                        all.push(same.iter().copied().chain(later).collect());
                    }
                    same.extend(var.map(|var| (var, Order::Same)));
                }
                Inside::Kernel(vars) => {
                    for var in vars {
                        if k >= around_home {
                            for order in [Order::Later, Order::Earlier] {
                                all.push(same.iter().copied().chain([(*var, order)]).collect());
                            }
                        }
                        same.push((*var, Order::Same));
                    }
                }
                Inside::Operator => all.push(same.clone()),
            },
            // One of them is the whole statement.
            _ => break,
        }
    }
    all.push(same);
    all
}

/// Whether some execution of `second` comes after `first` in the same execution of the region, loops around both
/// counted only if `again` says that they matter.
pub fn is_after(first: &[Frame], second: &[Frame], again: impl Fn(usize) -> bool) -> bool {
    for (k, (a, b)) in first.iter().zip(second).enumerate() {
        if a.stm != b.stm {
            return b.stm > a.stm;
        }
        match (&a.inside, &b.inside) {
            (Some(Inside::Branch(x)), Some(Inside::Branch(y))) if x != y => return false,
            (Some(x), Some(y)) if x == y => {
                let repeats = !matches!(x, Inside::Branch(_));
                if repeats && again(k) {
                    return true;
                }
            }
            // Inside a statement comes before what the statement itself does at its end.
            (None, Some(_)) | (None, None) => return false,
            _ => return false,
        }
    }
    false
}
