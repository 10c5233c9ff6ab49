//! Running a kernel over one of the arrays it reads, its iterations in random orders.

use galopvm_base::{ElemType, Scalar};
use galopvm_kir::evaluate::{Value, evaluate};
use galopvm_kir::{
    Axis, CheckedRegion, Exp, Observed, ObservedParam, Region, Rhs, Type, VarId, VerifiedRegion, verify,
};
use galopvm_testkit::Random;

/// A kernel whose iterations can be run one by one.
struct Kernel<'a> {
    region: &'a Region,
    /// One iteration: the region's parameters, then the axes.
    iteration: VerifiedRegion,
    axes: &'a [Axis],
    shape: Vec<i64>,
}

impl<'a> Kernel<'a> {
    /// The last statement of a region, which is a kernel over parameters.
    fn of(region: &'a CheckedRegion, observed: &Observed) -> Result<Kernel<'a>, String> {
        let region = region.region();
        let Some(Rhs::Kernel { axes, body }) = region.body.stms.last().map(|stm| &stm.rhs) else {
            return Err("no kernel".into());
        };
        let mut once = Region { body: body.clone(), ..region.clone() };
        once.params.extend(axes.iter().map(|axis| axis.var));
        // Results have to be names.
        let mut stms = std::mem::take(&mut once.body.stms);
        let results = std::mem::take(&mut once.body.results);
        for exp in results {
            let ty = once.type_of_exp(&exp).ok_or("a result without a type")?;
            let name = once.fresh("value", Some(ty));
            stms.push(galopvm_kir::Stm { pat: vec![name], rhs: Rhs::Exps(vec![exp]) });
            once.body.results.push(Exp::Var(name));
        }
        once.body.stms = stms;
        let iteration = verify(once.renumbered()).map_err(|errors| errors[0].to_string())?;
        let lookup = |var: VarId| {
            let k = region.params.iter().position(|param| *param == var)?;
            match observed.params.get(k)? {
                ObservedParam::Scalar(value) => Some(*value),
                ObservedParam::Array { .. } => None,
            }
        };
        let size = |axis: &Axis| galopvm_kir::types::scalar_value(&axis.bound, &lookup).map(Scalar::as_i64);
        let shape = axes.iter().map(size).collect::<Option<Vec<i64>>>().ok_or("an axis of unknown size")?;
        Ok(Kernel { region, iteration, axes, shape })
    }

    fn index(&self, place: usize) -> Vec<i64> {
        let mut rest = place as i64;
        let mut index = vec![0; self.axes.len()];
        for (i, size) in index.iter_mut().zip(&self.shape).rev() {
            *i = rest % size;
            rest /= size;
        }
        index
    }

    fn elements(&self) -> usize {
        self.shape.iter().product::<i64>() as usize
    }

    fn once(&self, arguments: &[Value], place: usize) -> Result<u64, String> {
        let axes = self.index(place).into_iter().map(Value::int);
        let all: Vec<Value> = arguments.iter().cloned().chain(axes).collect();
        let values = evaluate(&self.iteration, &all).map_err(|error| format!("{error:?}"))?;
        Ok(values[0].data()[0])
    }

    /// The kernel's value, element by element.
    fn value(&self, arguments: &[Value]) -> Result<Vec<u64>, String> {
        (0..self.elements()).map(|place| self.once(arguments, place)).collect()
    }

    /// What the array holds after the iterations were run over it in an order.
    fn over(&self, arguments: &[Value], array: usize, order: &[usize]) -> Result<Vec<u64>, String> {
        let mut arguments = arguments.to_vec();
        for &place in order {
            let bits = self.once(&arguments, place)?;
            let old = &arguments[array];
            let mut data = old.data().to_vec();
            data[place] = bits;
            arguments[array] = Value::new(old.elem(), old.shape().to_vec(), data);
        }
        Ok(arguments[array].data().to_vec())
    }
}

/// Values for the parameters: sizes as observed, arrays of random elements. Integer arrays of `i64` hold indices.
fn arguments(region: &Region, observed: &Observed, random: &mut Random) -> Vec<Value> {
    let value = |(var, param): (&VarId, &ObservedParam)| match param {
        ObservedParam::Scalar(value) => Value::Scalar(*value),
        ObservedParam::Array { lmad, .. } => {
            let elem = region.vars[*var].ty.as_ref().map_or(ElemType::I64, |ty: &Type| ty.elem);
            let shape = lmad.shape().to_vec();
            let count = lmad.elements().max(0) as usize;
            let limit = if elem == ElemType::I64 { shape[0].max(1) as u64 } else { 1 << 10 };
            let data = (0..count).map(|_| match elem.is_float() {
                true => Scalar::from_f64(elem, 1.0 + random.below(1000) as f64).bits,
                false => Scalar::from_int(elem, random.below(limit) as i64).bits,
            });
            Value::new(elem, shape, data.collect())
        }
    };
    region.params.iter().zip(&observed.params).map(value).collect()
}

/// Whether the last kernel of a region, run over an array in random orders, leaves the kernel's value in it.
pub fn keeps_its_value(region: &CheckedRegion, observed: &Observed, array: VarId) -> Result<bool, String> {
    let kernel = Kernel::of(region, observed)?;
    let at = kernel.region.params.iter().position(|param| *param == array).ok_or("not a parameter")?;
    let mut random = Random::new(11);
    let arguments = arguments(kernel.region, observed, &mut random);
    let expected = kernel.value(&arguments)?;
    for _ in 0..24 {
        let order = random.permutation(kernel.elements());
        if kernel.over(&arguments, at, &order)? != expected {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The value of the last kernel on a nested list for its only array, in the same notation.
pub fn value_of(region: &CheckedRegion, observed: &Observed, input: &str) -> Result<String, String> {
    let kernel = Kernel::of(region, observed)?;
    let numbers: Vec<i64> = input
        .split(|c: char| !c.is_ascii_digit() && c != '-')
        .filter(|word| !word.is_empty())
        .map(|word| word.parse().map_err(|_| format!("`{word}` is no number")))
        .collect::<Result<_, String>>()?;
    let mut arguments = arguments(kernel.region, observed, &mut Random::new(12));
    let at = arguments.iter().position(|value| !value.shape().is_empty()).ok_or("no array")?;
    let (elem, shape) = (arguments[at].elem(), arguments[at].shape().to_vec());
    let data: Vec<u64> = numbers.iter().map(|&number| Scalar::from_int(elem, number).bits).collect();
    arguments[at] = Value::new(elem, shape, data);
    let value = kernel.value(&arguments)?;
    let [_, columns] = kernel.shape[..] else { return Err("not a matrix".into()) };
    let rows = value.chunks(columns as usize).map(|row| {
        let row: Vec<String> = row.iter().map(|&bits| Scalar::new(elem, bits).as_i64().to_string()).collect();
        format!("[{}]", row.join(","))
    });
    Ok(format!("[{}]", rows.collect::<Vec<_>>().join(",")))
}

#[test]
fn orders_are_permutations() {
    let mut order = Random::new(1).permutation(50);
    assert_ne!(order, (0..50).collect::<Vec<_>>());
    order.sort_unstable();
    assert_eq!(order, (0..50).collect::<Vec<_>>());
}
