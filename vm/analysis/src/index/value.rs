//! What an index does when an iteration variable takes a step: delta analysis.
//!
//! A [`Value`] says of an integer expression which variables it depends on, what the usual change for a step of each
//! is and how usual that is, and in which range it lies. Values are computed from the values of operands, each
//! name once, so that long chains of definitions cost nothing. What is not on the list of rules is data: it may
//! change in any way with the variables that went into it. Unknown ranges are those of the type.

use crate::interval::{self, Interval};
use galopvm_base::{ElemType, ScalarOp};
use galopvm_kir::VarId;

/// How far the change for a step may be relied on. Ordered: the worse one rules.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Quality {
    /// Every step changes the value like this.
    Exact,
    /// All but those at the borders of a range, where the value stands still.
    Clamp,
    /// All but some of those onto a multiple of a number.
    Periodic(u64),
    /// Most of them, perhaps.
    Piecewise,
    /// Nothing is known.
    Data,
}

impl Quality {
    fn worse(self, other: Quality) -> Quality {
        match (self, other) {
            (Quality::Periodic(a), Quality::Periodic(b)) if a == b => self,
            // Exceptions of both kinds: at multiples of what divides both.
            (Quality::Periodic(a), Quality::Periodic(b)) => match gcd(a, b) {
                1 => Quality::Piecewise,
                period => Quality::Periodic(period),
            },
            // Exceptions that are anywhere.
            (Quality::Periodic(_), Quality::Clamp) | (Quality::Clamp, Quality::Periodic(_)) => {
                Quality::Piecewise
            }
            (a, b) => a.max(b),
        }
    }
}

/// The usual change for a step of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// The change.
    pub delta: i64,
    /// How usual it is.
    pub quality: Quality,
}

impl Step {
    /// No change.
    pub const NONE: Step = Step { delta: 0, quality: Quality::Exact };
    /// Nothing is known.
    pub const DATA: Step = Step { delta: 0, quality: Quality::Data };

    fn of(delta: i128, quality: Quality) -> Step {
        i64::try_from(delta).map_or(Step::DATA, |delta| Step { delta, quality })
    }

    /// The sum of two changes.
    pub fn plus(self, other: Step) -> Step {
        Step::of(i128::from(self.delta) + i128::from(other.delta), self.quality.worse(other.quality))
    }

    /// The change of a multiple.
    pub fn times(self, factor: i64) -> Step {
        match factor {
            0 => Step::NONE,
            _ => Step::of(i128::from(self.delta) * i128::from(factor), self.quality),
        }
    }

    fn with(self, quality: Quality) -> Step {
        Step { quality: self.quality.worse(quality), ..self }
    }

    /// The greater change of two.
    fn larger(self, other: Step) -> Step {
        let delta =
            if other.delta.unsigned_abs() > self.delta.unsigned_abs() { other.delta } else { self.delta };
        Step { delta, quality: self.quality.worse(other.quality) }
    }
}

/// What is known of a scalar.
#[derive(Clone, PartialEq, Debug)]
pub struct Value {
    /// Its type.
    pub elem: ElemType,
    /// The range it lies in.
    pub range: Interval,
    /// The variables that went into it in a known way; the change may be 0.
    steps: Vec<(VarId, Step)>,
    /// Memory or an unknown function went into it.
    pub data: bool,
    /// The variables that it may change with in an unknown way.
    data_axes: Vec<VarId>,
    /// So many low bits are 0.
    zeros: u32,
    /// What it is where all variables are 0, if it moves from there with its steps alone.
    origin: Option<i128>,
    /// By multiples of this number it may be elsewhere than its steps lead from the origin; 0 if it never is.
    strays: u64,
}

impl Value {
    /// A number.
    pub fn constant(elem: ElemType, value: i128) -> Value {
        let zeros = if value == 0 { 64 } else { value.trailing_zeros() };
        Value { zeros, origin: Some(value), ..Value::within(elem, Interval::point(value)) }
    }

    /// Something in a range that no variable changes.
    pub fn within(elem: ElemType, range: Interval) -> Value {
        Value {
            elem,
            range,
            steps: Vec::new(),
            data: false,
            data_axes: Vec::new(),
            zeros: 0,
            origin: None,
            strays: 0,
        }
    }

    /// An iteration variable.
    pub fn axis(var: VarId, range: Interval) -> Value {
        let step = Step { delta: 1, quality: Quality::Exact };
        Value { steps: vec![(var, step)], origin: Some(0), ..Value::within(ElemType::I64, range) }
    }

    /// Something from memory that may change with these variables.
    pub fn data(elem: ElemType, axes: impl IntoIterator<Item = VarId>) -> Value {
        let mut value = Value { data: true, ..Value::within(elem, Interval::of_type(elem)) };
        axes.into_iter().for_each(|axis| value.add_data_axis(axis));
        value
    }

    fn add_data_axis(&mut self, axis: VarId) {
        if !self.data_axes.contains(&axis) {
            self.data_axes.push(axis);
        }
    }

    /// The change for a step of a variable.
    pub fn step(&self, axis: VarId) -> Step {
        if self.data_axes.contains(&axis) {
            return Step::DATA;
        }
        self.steps.iter().find(|(var, _)| *var == axis).map_or(Step::NONE, |(_, step)| *step)
    }

    /// The variables that went into it in a known way.
    pub fn known_axes(&self) -> impl Iterator<Item = VarId> {
        self.steps.iter().map(|(var, _)| *var)
    }

    /// Every variable that it may change with.
    pub fn axes(&self) -> impl Iterator<Item = VarId> {
        self.known_axes().chain(self.data_axes.iter().copied())
    }

    /// What it is where all variables are 0, if it moves from there with its steps alone.
    pub fn origin(&self) -> Option<i128> {
        self.origin
    }

    /// True if it changes with this variable, or may.
    pub fn depends_on(&self, axis: VarId) -> bool {
        self.axes().any(|var| var == axis)
    }

    /// The number, if it is always the same.
    pub fn number(&self) -> Option<i128> {
        self.range.single().filter(|_| !self.data)
    }

    fn is_invariant(&self) -> bool {
        self.axes().next().is_none()
    }

    /// True if nothing is known of its range.
    fn is_anywhere(&self) -> bool {
        self.range == Interval::of_type(self.elem)
    }

    /// The same dependences, nothing known of how.
    fn forgotten(mut self) -> Value {
        for (axis, _) in std::mem::take(&mut self.steps) {
            self.add_data_axis(axis);
        }
        Value { data: true, zeros: 0, origin: None, ..self }
    }

    /// The same without a variable: the value of what runs over it depends on it no more.
    pub fn without(mut self, axes: &[VarId]) -> Value {
        self.steps.retain(|(var, _)| !axes.contains(var));
        self.data_axes.retain(|var| !axes.contains(var));
        self
    }

    /// A value of what went into these, with a change of each variable computed from theirs.
    fn from(args: &[&Value], elem: ElemType, range: Interval, change: impl Fn(VarId) -> Step) -> Value {
        let mut value = Value::within(elem, range);
        value.data = args.iter().any(|arg| arg.data);
        args.iter().flat_map(|arg| &arg.data_axes).for_each(|axis| value.add_data_axis(*axis));
        for axis in args.iter().flat_map(|arg| arg.known_axes()) {
            if value.steps.iter().any(|(var, _)| *var == axis) || value.data_axes.contains(&axis) {
                continue;
            }
            match change(axis) {
                Step { quality: Quality::Data, .. } => {
                    value.data = true;
                    value.add_data_axis(axis);
                }
                step => value.steps.push((axis, step)),
            }
        }
        value
    }
}

/// The value of a function that nothing is known of.
pub fn unknown(args: &[&Value], elem: ElemType) -> Value {
    Value::data(elem, args.iter().flat_map(|arg| arg.axes()))
}

/// Either of two values, by a condition.
pub fn select(condition: &Value, a: &Value, b: &Value) -> Value {
    // What is decided before the launch is no choice.
    match condition.number() {
        Some(0) => return b.clone(),
        Some(_) => return a.clone(),
        None => {}
    }
    let change = |axis| {
        let (one, other) = (a.step(axis), b.step(axis));
        let step = one.larger(other);
        match (condition.depends_on(axis), one.delta == other.delta) {
            (_, true) if a == b => step,
            (false, true) => step,
            (true, true) => step.with(Quality::Clamp),
            (_, false) => step.with(Quality::Piecewise),
        }
    };
    let mut value = Value::from(&[condition, a, b], a.elem, a.range.join(b.range), change);
    value.zeros = a.zeros.min(b.zeros);
    value
}

/// The value of a conversion. It is seen through if the range fits.
pub fn convert(to: ElemType, arg: &Value) -> Value {
    let range = interval::convert(arg.elem, to, arg.range);
    if arg.elem == ElemType::Bool && to.is_int() {
        return Value::from(&[arg], to, range, |_| Step { delta: 0, quality: Quality::Piecewise });
    }
    let fits = to.is_int() && arg.elem.is_int() && arg.range.lies_in(Interval::of_type(to));
    match fits {
        true => Value { elem: to, ..arg.clone() },
        false => Value { elem: to, range, ..arg.clone().forgotten() },
    }
}

/// The value of a scalar operation.
pub fn apply(op: ScalarOp, args: &[&Value]) -> Value {
    let Some(ty) = args.get(usize::from(op == ScalarOp::Select)).map(|arg| arg.elem) else {
        return Value::data(ElemType::I64, []);
    };
    let elem = op.result_type(ty);
    let ranges: Vec<Interval> = args.iter().map(|arg| arg.range).collect();
    let range = interval::apply(op, ty, &ranges);
    if ty == ElemType::Bool && op != ScalarOp::Select || elem == ElemType::Bool {
        return Value::from(args, elem, range, |_| Step { delta: 0, quality: Quality::Piecewise });
    }
    if !elem.is_int() && op != ScalarOp::Select {
        return Value { range, ..unknown(args, elem) };
    }
    let steps = Rule { args, elem, range };
    match (op, args) {
        (ScalarOp::Add, [a, b]) => steps.sum(a, b, 1),
        (ScalarOp::Sub, [a, b]) => steps.sum(a, b, -1),
        (ScalarOp::Neg, [a]) => steps.negative(a),
        (ScalarOp::Mul, [a, b]) => steps.product(a, b),
        (ScalarOp::Min, [a, b]) => {
            steps.extreme(a, b, a.range.high <= b.range.low, b.range.high <= a.range.low)
        }
        (ScalarOp::Max, [a, b]) => {
            steps.extreme(a, b, a.range.low >= b.range.high, b.range.low >= a.range.high)
        }
        (ScalarOp::Select, [q, a, b]) => select(q, a, b),
        (ScalarOp::Div, [a, b]) => steps.quotient(a, b),
        (ScalarOp::Quot, [a, b]) if a.range.low >= 0 => steps.quotient(a, b),
        (ScalarOp::Mod, [a, b]) => steps.remainder(a, b),
        (ScalarOp::Rem, [a, b]) if a.range.low >= 0 => steps.remainder(a, b),
        (ScalarOp::Shr, [a, b]) => match power(b) {
            Some(power) => steps.quotient(a, &power),
            None => steps.other(),
        },
        (ScalarOp::Shl, [a, b]) => match power(b) {
            Some(power) => steps.product(a, &power),
            None => steps.other(),
        },
        (ScalarOp::And, [a, b]) => match (mask(a), mask(b)) {
            (_, Some(modulus)) => steps.remainder(a, &modulus),
            (Some(modulus), _) => steps.remainder(b, &modulus),
            _ => steps.other(),
        },
        // Bits of one lie where the other has none: a sum.
        (ScalarOp::Or, [a, b]) if lies_below(b, a) || lies_below(a, b) => steps.sum(a, b, 1),
        (ScalarOp::Abs, [a]) if a.range.low >= 0 => (*a).clone(),
        (ScalarOp::Abs, [a]) if a.range.high <= 0 => steps.negative(a),
        (ScalarOp::Abs, [a]) => steps.linear(|axis| a.step(axis).with(Quality::Piecewise), 0),
        _ => steps.other(),
    }
}

/// One application of an operation, under construction.
struct Rule<'a> {
    args: &'a [&'a Value],
    elem: ElemType,
    range: Interval,
}

impl Rule<'_> {
    fn linear(&self, change: impl Fn(VarId) -> Step, zeros: u32) -> Value {
        Value { zeros, ..Value::from(self.args, self.elem, self.range, change) }
    }

    fn other(&self) -> Value {
        Value { range: self.range, ..unknown(self.args, self.elem) }
    }

    fn sum(&self, a: &Value, b: &Value, sign: i64) -> Value {
        let mut sum = self.linear(|axis| a.step(axis).plus(b.step(axis).times(sign)), a.zeros.min(b.zeros));
        sum.origin = a.origin.zip(b.origin).and_then(|(x, y)| x.checked_add(y.checked_mul(sign.into())?));
        sum.strays = gcd(a.strays, b.strays);
        sum
    }

    fn negative(&self, a: &Value) -> Value {
        let mut value = self.linear(|axis| a.step(axis).times(-1), a.zeros);
        value.origin = a.origin.and_then(i128::checked_neg);
        value.strays = a.strays;
        value
    }

    fn multiple(&self, a: &Value, factor: i64, zeros: u32) -> Value {
        let mut value = self.linear(|axis| a.step(axis).times(factor), zeros);
        value.origin = a.origin.and_then(|origin| origin.checked_mul(factor.into()));
        value.strays = a.strays.checked_mul(factor.unsigned_abs()).unwrap_or(1);
        value
    }

    fn product(&self, a: &Value, b: &Value) -> Value {
        let factor = |value: &Value| value.number().and_then(|number| i64::try_from(number).ok());
        let zeros = (a.zeros + b.zeros).min(64);
        match (factor(a), factor(b)) {
            (_, Some(factor)) => self.multiple(a, factor, zeros),
            (Some(factor), _) => self.multiple(b, factor, zeros),
            // The change depends on where the other factor is.
            _ => self.linear(
                |axis| {
                    let reach = |step: Step, other: &Value| {
                        let far = other.range.low.abs().max(other.range.high.abs());
                        match step.delta {
                            0 => Some(0),
                            _ if other.is_anywhere() => None,
                            delta => i128::from(delta.unsigned_abs()).checked_mul(far),
                        }
                    };
                    let (one, other) = (a.step(axis), b.step(axis));
                    match reach(one, b).zip(reach(other, a)) {
                        Some((x, y)) => Step::of(x.saturating_add(y), one.quality.worse(other.quality))
                            .with(Quality::Piecewise),
                        None => Step::DATA,
                    }
                },
                zeros,
            ),
        }
    }

    /// The lesser or greater of two; `first` and `second` say that one of them always is.
    fn extreme(&self, a: &Value, b: &Value, first: bool, second: bool) -> Value {
        if first {
            return a.clone();
        }
        if second {
            return b.clone();
        }
        let zeros = a.zeros.min(b.zeros);
        let change = |axis| {
            let (one, other) = (a.step(axis), b.step(axis));
            match (one.delta == other.delta, a.depends_on(axis), b.depends_on(axis)) {
                (true, ..) => one.larger(other).with(Quality::Clamp),
                (false, true, false) => one.with(Quality::Clamp),
                (false, false, true) => other.with(Quality::Clamp),
                (false, ..) => one.larger(other).with(Quality::Piecewise),
            }
        };
        self.linear(change, zeros)
    }

    /// The quotient by a positive number, rounded down.
    fn quotient(&self, a: &Value, divisor: &Value) -> Value {
        let Some(by) = positive(divisor) else { return self.other() };
        if by == 1 {
            return a.clone();
        }
        let change = |axis| {
            let step = a.step(axis);
            let (delta, rest) = (step.delta / by, step.delta % by);
            match rest {
                // Every step jumps over as many multiples, wherever it starts.
                0 => Step { delta, quality: step.quality },
                _ if delta == 0 => Step { delta, quality: period(a, axis, divisor) },
                _ => Step { delta, quality: step.quality }.with(Quality::Piecewise),
            }
        };
        let zeros = a.zeros.saturating_sub(by.trailing_zeros()) * u32::from(by.count_ones() == 1);
        let mut value = self.linear(change, zeros);
        value.origin = a.origin.map(|origin| origin.div_euclid(by.into()));
        // What is rounded off is a whole number of ones away.
        let is_even = a.known_axes().all(|axis| a.step(axis).delta % by == 0);
        value.strays = match (is_even, a.strays % by.unsigned_abs()) {
            (true, 0) => a.strays / by.unsigned_abs(),
            _ => 1,
        };
        value
    }

    /// The remainder of a division by a positive number, never negative.
    fn remainder(&self, a: &Value, divisor: &Value) -> Value {
        let Some(by) = positive(divisor) else { return self.other() };
        if a.range.low >= 0 && a.range.high < i128::from(by) {
            return a.clone();
        }
        let change = |axis| {
            let step = a.step(axis);
            let rest = step.delta % by;
            match rest {
                0 => Step { delta: 0, quality: step.quality },
                _ if rest == step.delta => Step { quality: period(a, axis, divisor), ..step },
                // The nearer of the two places it may go to.
                _ => {
                    let near = if rest.abs() <= by / 2 { rest } else { rest - by * rest.signum() };
                    Step { delta: near, quality: step.quality }.with(Quality::Piecewise)
                }
            }
        };
        let mut value = self.linear(change, a.zeros.min(by.trailing_zeros()));
        value.origin = a.origin.map(|origin| origin.rem_euclid(by.into()));
        value.strays = gcd(a.strays, by.unsigned_abs());
        value
    }
}

/// A number above 0 that fits.
fn positive(value: &Value) -> Option<i64> {
    value.number().and_then(|number| i64::try_from(number).ok()).filter(|number| *number > 0)
}

/// Where a value passes a multiple of a number, as it moves with a variable by less than that number.
///
/// With `a = delta * v + rest` and a divisor that `delta` divides, passing happens every so many steps; it happens at
/// multiples of that if `rest` is one as well, else at multiples of what divides both.
fn period(a: &Value, axis: VarId, divisor: &Value) -> Quality {
    let step = a.step(axis);
    // Passed once at most, as by a neighbour's index that starts anew at the border.
    if let Some(by) = positive(divisor).map(i128::from)
        && a.range.high.div_euclid(by) - a.range.low.div_euclid(by) <= 1
    {
        return step.quality.worse(Quality::Clamp);
    }
    let (by, pace) = (positive(divisor).map_or(1, i64::unsigned_abs), step.delta.unsigned_abs());
    let Some(origin) = a.origin.filter(|_| pace > 0 && by % pace == 0) else { return Quality::Piecewise };
    let steps = by / pace;
    match step.quality {
        Quality::Exact => {}
        // It starts anew at multiples of a multiple, and not elsewhere between the multiples of the divisor.
        Quality::Periodic(period) if period % steps == 0 && a.strays.is_multiple_of(by) => {}
        _ => return Quality::Piecewise,
    }
    // What moves down passes a multiple one step later.
    let start = origin.saturating_add(if step.delta < 0 { i128::from(pace) } else { 0 });
    let Ok(start) = u64::try_from(start.unsigned_abs()) else { return Quality::Piecewise };
    let mut shared = start;
    for (other, by_other) in a.steps.iter().filter(|(other, _)| *other != axis) {
        if by_other.quality != Quality::Exact || a.data_axes.contains(other) {
            return Quality::Piecewise;
        }
        shared = gcd(shared, by_other.delta.unsigned_abs());
    }
    let period = match shared {
        0 => steps,
        _ if shared % pace == 0 => gcd(steps, shared / pace),
        _ => 1,
    };
    match period {
        0 | 1 => Quality::Piecewise,
        _ => Quality::Periodic(period),
    }
}

/// The power of two that a shift multiplies or divides by.
fn power(count: &Value) -> Option<Value> {
    let count = count.number().filter(|count| (0..=62).contains(count))?;
    Some(Value::constant(ElemType::I64, 1 << count))
}

/// The modulus of a mask of low bits.
fn mask(value: &Value) -> Option<Value> {
    let modulus = value.number().filter(|number| *number >= 0)? + 1;
    (modulus.count_ones() == 1).then(|| Value::constant(ElemType::I64, modulus))
}

/// True if the first has bits only below those of the second.
fn lies_below(low: &Value, high: &Value) -> bool {
    low.range.low >= 0 && high.zeros < 63 && low.range.high < 1 << high.zeros
}

/// The greatest common divisor.
pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// True if it does not depend on anything and is one number.
pub(crate) fn known_number(value: &Value) -> Option<i64> {
    value.number().filter(|_| value.is_invariant()).and_then(|number| i64::try_from(number).ok())
}
