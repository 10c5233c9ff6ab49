//! The outer shape of a region: what its one statement is, and what the plan says about its axes.

use galopvm_base::Scalar;
use galopvm_kir::kernel::{Feed, is_elementwise, is_scalar_code};
use galopvm_kir::types::scalar_value;
use galopvm_kir::{
    ArrayOp, Axis, Body, Combine, Exp, Observed, ObservedParam, Plan, Refusal, Rhs, Stm, VarId,
    VerifiedRegion,
};

/// What the one statement of a region is.
pub enum Shape<'a> {
    /// A kernel: one element of each result for each index.
    Map(&'a Body),
    /// A reduction over everything.
    Fold(&'a Body, &'a Combine),
    /// All prefixes along the one axis.
    Scan(&'a Body, &'a Combine),
    /// A kernel along the axis of a scan, which it reads at its own index only.
    Fed(&'a Body),
    /// A scatter, or with an operator a histogram.
    Scatter(&'a Body, Option<&'a Combine>),
    /// A loop outside of all operators.
    Loop(&'a Stm, &'a Body),
}

/// A region as this back end takes it: scalar lets, then one kernel, reduction, scan, scatter or loop; in front of a kernel or scatter may
/// be a scan that it reads index by index. A kernel's body may end with a kernel that makes its results; that one is a form too,
/// with any statements in front. Other arrays that it makes are copied to the results. Behind a kernel the dimensions of its
/// results may change places.
pub struct Form<'a> {
    /// The statements in front.
    pub lets: &'a [Stm],
    /// The axes of the kernel, reduction or scatter.
    pub axes: &'a [Axis],
    /// Which of them, and its body.
    pub shape: Shape<'a>,
    /// For each result of the region, the number of the statement's result.
    pub results: Vec<usize>,
    /// The scan that the statement reads as it goes.
    pub feed: Option<Feed<'a>>,
    /// For each result of the region whose dimensions change places, which one of the statement's result each of its own is.
    pub turned: Vec<Option<Vec<usize>>>,
}

impl<'a> Form<'a> {
    /// Recognises the form, or says what is in the way.
    pub fn of(region: &'a VerifiedRegion) -> Result<Form<'a>, Refusal> {
        let body = &region.region().body;
        let turns = body.stms.iter().rev().take_while(|stm| turned(region, stm).is_some()).count();
        let (stms, turns) = body.stms.split_at(body.stms.len() - turns);
        let Some((last, lets)) = stms.split_last() else {
            return Err(Refusal::new("the region computes nothing"));
        };
        let (feed, lets) = match lets.split_last() {
            Some((scan, front)) => match Feed::of(region.region(), scan, last) {
                Some(feed) => (Some(feed), front),
                None => (None, lets),
            },
            None => (None, lets),
        };
        let is_let = |stm: &Stm| match &stm.rhs {
            Rhs::Exps(_) => true,
            Rhs::If { then, otherwise, .. } => {
                let is_scalar = |var: &VarId| region.type_of(*var).is_scalar();
                let of_scalars = |side: &Body| is_scalar_code(region.region(), side);
                stm.pat.iter().all(is_scalar) && of_scalars(then) && of_scalars(otherwise)
            }
            _ => false,
        };
        if !lets.iter().all(is_let) {
            return Err(Refusal::new("the region has several statements"));
        }
        let (axes, shape) = match &last.rhs {
            Rhs::Kernel { axes, body } if feed.is_some() => (&axes[..], Shape::Fed(body)),
            Rhs::Kernel { axes, body } => (&axes[..], Shape::Map(body)),
            Rhs::Reduce { axes, body, combine } => (&axes[..], Shape::Fold(body, combine)),
            Rhs::Scatter { axes, body, combine, .. } => (&axes[..], Shape::Scatter(body, combine.as_ref())),
            Rhs::For { body, .. } | Rhs::While { body, .. } => (&[][..], Shape::Loop(last, body)),
            Rhs::Scan { axis, body, combine } => (std::slice::from_ref(axis), Shape::Scan(body, combine)),
            Rhs::Exps(_) | Rhs::If { .. } | Rhs::Update { .. } | Rhs::Manifest { .. } | Rhs::Array { .. } => {
                return Err(Refusal::new(
                    "the region is neither a kernel nor a reduction nor a scan nor a scatter nor a loop",
                ));
            }
        };
        let is_kernel = matches!(last.rhs, Rhs::Kernel { .. });
        let number = |exp: &Exp| {
            let Exp::Var(var) = exp else { return None };
            let turn = turns.iter().find(|stm| stm.pat == [*var]).and_then(|stm| turned(region, stm));
            let (var, order) = match turn {
                Some((array, order)) if is_kernel => (array, Some(order)),
                _ => (*var, None),
            };
            Some((last.pat.iter().position(|p| *p == var)?, order))
        };
        let results: Option<Vec<_>> = body.results.iter().map(number).collect();
        let Some(results) = results else {
            return Err(Refusal::new("a result of the region is not the kernel's"));
        };
        let (results, turned): (Vec<usize>, _) = results.into_iter().unzip();
        if let Rhs::Scatter { arrays, .. } = &last.rhs {
            let is_known = |array: &VarId| region.region().params.contains(array);
            if results.len() != arrays.len() || (0..arrays.len()).any(|k| !results.contains(&k)) {
                return Err(Refusal::new("a scatter into an array that nobody wants"));
            }
            if !arrays.iter().all(is_known) {
                return Err(Refusal::new("a scatter into an array that is made inside the region"));
            }
        }
        if let Shape::Loop(stm, _) = shape {
            // What a loop carries lies where its results go.
            let is_result = |k: usize| results.contains(&k) || region.type_of(stm.pat[k]).is_scalar();
            if !(0..stm.pat.len()).all(is_result) {
                return Err(Refusal::new("a loop carries an array that nobody wants"));
            }
            let begins = |k: usize| region.results()[k].shape.is_empty() || region.begins_as(k).is_some();
            if !(0..results.len()).all(begins) {
                return Err(Refusal::new("a loop begins with an array that is made inside the region"));
            }
        }
        Ok(Form { lets, axes, shape, results, turned, feed })
    }

    /// The kernel at the end of the body that makes its results, with the statements in front of it.
    pub fn inner(&self) -> Option<Form<'a>> {
        let Shape::Map(outer) = self.shape else { return None };
        let (last, lets) = outer.stms.split_last()?;
        let Rhs::Kernel { axes, body } = &last.rhs else { return None };
        let number = |k: &usize| match &outer.results[*k] {
            Exp::Var(var) => last.pat.iter().position(|p| p == var),
            _ => None,
        };
        let results = self.results.iter().map(number).collect::<Option<Vec<usize>>>()?;
        let turned = vec![None; results.len()];
        Some(Form { lets, axes, shape: Shape::Map(body), results, turned, feed: None })
    }

    /// The body.
    pub fn body(&self) -> &'a Body {
        match self.shape {
            Shape::Map(body)
            | Shape::Fold(body, _)
            | Shape::Scan(body, _)
            | Shape::Fed(body)
            | Shape::Scatter(body, _)
            | Shape::Loop(_, body) => body,
        }
    }

    /// True if a map is a loop over a flat range wherever the arrays are row-major, and the plan leaves it one: its
    /// lanes, if there are any, go across the kernel, and no rows are computed together.
    pub fn is_flat(&self, region: &VerifiedRegion, plan: &Plan, has_lanes: bool) -> bool {
        let Shape::Map(body) = self.shape else { return false };
        let is_left = !has_lanes || self.lane(plan).is_some() && plan.tile().is_none();
        let makes_rows = body.results.iter().any(|exp| region.rank(exp) != Some(0));
        if makes_rows || !is_left || self.turned.iter().any(Option::is_some) {
            return false;
        }
        is_elementwise(region.region(), self.axes, body)
    }

    /// The parallel axis that goes across the lanes; none: the reductions in the body use the lanes.
    pub fn lane(&self, plan: &Plan) -> Option<usize> {
        let Shape::Map(_) = self.shape else { return None };
        let lane = plan.kernel_lane(self.axes)?;
        self.axes.iter().position(|a| a.var == lane)
    }

    /// The value of an `i64` expression, given the scalar parameters; scalar lets in front are looked through.
    pub fn size(
        &self,
        region: &VerifiedRegion,
        exp: &Exp,
        params: &dyn Fn(VarId) -> Option<Scalar>,
    ) -> Option<i64> {
        region.size_with(exp, &|var| self.scalar(var, params))
    }

    /// The value of a scalar parameter, or of a let in front.
    fn scalar(&self, var: VarId, params: &dyn Fn(VarId) -> Option<Scalar>) -> Option<Scalar> {
        let bound = self.lets.iter().find_map(|stm| match &stm.rhs {
            Rhs::Exps(exps) => exps.get(stm.pat.iter().position(|p| *p == var)?),
            _ => None,
        });
        match bound {
            Some(exp) => scalar_value(exp, &|inner| self.scalar(inner, params)),
            None => params(var),
        }
    }

    /// Element operations for one index of the outer axes, with the observed sizes.
    pub fn work(&self, region: &VerifiedRegion, observed: &Observed) -> u64 {
        let operator = match self.shape {
            Shape::Fold(_, combine) | Shape::Scan(_, combine) => body_work(region, observed, &combine.body),
            Shape::Map(_) | Shape::Fed(_) | Shape::Scatter(..) | Shape::Loop(..) => 0,
        };
        let of_feed = |feed: &Feed<'_>| {
            let operator = body_work(region, observed, &feed.combine.body);
            body_work(region, observed, feed.body).saturating_add(operator)
        };
        let feed = self.feed.as_ref().map_or(0, of_feed);
        body_work(region, observed, self.body()).saturating_add(operator).saturating_add(feed)
    }

    /// The values of an iteration that pieces note: what a reduction or scan combines, the places and values of a scatter.
    pub fn noted(&self) -> usize {
        match (&self.shape, &self.feed) {
            (Shape::Fed(_), Some(feed)) => feed.body.results.len(),
            _ => self.body().results.len(),
        }
    }
}

/// A name whose dimensions change places in a statement, and which one of it each dimension is then.
fn turned(region: &VerifiedRegion, stm: &Stm) -> Option<(VarId, Vec<usize>)> {
    match &stm.rhs {
        Rhs::Array(ArrayOp::View { change, array: Exp::Var(var) }) => {
            Some((*var, change.permutation(region.type_of(*var).rank())?))
        }
        _ => None,
    }
}

/// The value of a size expression under the observed scalars.
pub fn extent(region: &VerifiedRegion, observed: &Observed, exp: &Exp) -> Option<i64> {
    region.size_with(exp, &|var| observed_scalar(region, observed, var))
}

/// The observed value of a scalar parameter.
pub fn observed_scalar(region: &VerifiedRegion, observed: &Observed, var: VarId) -> Option<Scalar> {
    let at = region.region().params.iter().position(|p| *p == var)?;
    match observed.params.get(at)? {
        ObservedParam::Scalar(value) => Some(*value),
        ObservedParam::Array { .. } => None,
    }
}

fn body_work(region: &VerifiedRegion, observed: &Observed, body: &Body) -> u64 {
    let mut work = body.results.len() as u64;
    for stm in &body.stms {
        let inner = match &stm.rhs {
            Rhs::Exps(exps) => {
                let mut count = 0;
                exps.iter().for_each(|e| e.visit(&mut |_| count += 1));
                count / 2
            }
            Rhs::If { then, otherwise, .. } => {
                body_work(region, observed, then).max(body_work(region, observed, otherwise))
            }
            Rhs::While { body, .. } => body_work(region, observed, body).saturating_mul(32),
            other => {
                let rounds = other.axes().iter().fold(1u64, |product, axis| {
                    product.saturating_mul(extent(region, observed, &axis.bound).unwrap_or(16).max(0) as u64)
                });
                let mut inner = 1u64;
                other.each_part(&mut |part| {
                    if let galopvm_kir::walk::Part::Body(body) = part {
                        inner = inner.saturating_add(body_work(region, observed, body));
                    }
                });
                rounds.saturating_mul(inner)
            }
        };
        work = work.saturating_add(inner);
    }
    work
}
