//! Anti-unification of views: the same numbers stay, others become parameters, parameters that are always equal are
//! one.

use galopvm_lmad::Lmad;

/// A number of a general view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Number {
    /// The same in all instances.
    Constant(i64),
    /// A parameter, by its position.
    Parameter(usize),
}

/// A view that several views are instances of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct General {
    /// The offset.
    pub offset: Number,
    /// Size and stride of each axis.
    pub dims: Vec<(Number, Number)>,
    /// A name for each parameter.
    pub names: Vec<String>,
    /// The value of each parameter in each instance.
    pub values: Vec<Vec<i64>>,
}

/// The least general view of some; nothing if there are none, or if their ranks differ (the join then copies).
pub fn generalise(views: &[Lmad]) -> Option<General> {
    let first = views.first()?;
    if views.iter().any(|view| view.rank() != first.rank()) {
        return None;
    }
    let mut general = General {
        offset: Number::Constant(first.offset),
        dims: Vec::new(),
        names: Vec::new(),
        values: Vec::new(),
    };
    let mut strides = 0;
    general.offset = general.number(views.iter().map(|view| view.offset).collect(), || "o".into());
    for k in 0..first.rank() {
        let size = general.number(views.iter().map(|v| v.dims[k].size).collect(), || format!("n{k}"));
        let stride = general.number(views.iter().map(|v| v.dims[k].stride).collect(), || {
            strides += 1;
            letter(strides - 1)
        });
        general.dims.push((size, stride));
    }
    Some(general)
}

/// `a`, `b`, .., `z`, `a1`, ..
fn letter(k: usize) -> String {
    let letter = char::from(b'a' + (k % 26) as u8);
    if k < 26 { letter.to_string() } else { format!("{letter}{}", k / 26) }
}

impl General {
    fn number(&mut self, values: Vec<i64>, name: impl FnOnce() -> String) -> Number {
        if values.windows(2).all(|pair| pair[0] == pair[1]) {
            return Number::Constant(values[0]);
        }
        if let Some(known) = self.values.iter().position(|other| *other == values) {
            return Number::Parameter(known);
        }
        self.names.push(name());
        self.values.push(values);
        Number::Parameter(self.values.len() - 1)
    }

    fn text_of(&self, number: Number) -> String {
        match number {
            Number::Constant(value) => value.to_string(),
            Number::Parameter(k) => self.names[k].clone(),
        }
    }

    /// The view in text, and the values of its parameters: `o + {(6:1)} ; o = 12|24`.
    pub fn text(&self) -> String {
        let mut text = self.text_of(self.offset);
        if !self.dims.is_empty() {
            let dims: Vec<String> = self
                .dims
                .iter()
                .map(|(size, stride)| format!("({}:{})", self.text_of(*size), self.text_of(*stride)))
                .collect();
            text.push_str(&format!(" + {{{}}}", dims.join(",")));
        }
        for (name, values) in self.names.iter().zip(&self.values) {
            let values: Vec<String> = values.iter().map(i64::to_string).collect();
            text.push_str(&format!(" ; {name} = {}", values.join("|")));
        }
        text
    }

    /// The stride of an axis in instance `k`.
    fn stride(&self, axis: usize, k: usize) -> Option<i64> {
        match self.dims.get(axis)?.1 {
            Number::Constant(value) => Some(value),
            Number::Parameter(at) => self.values[at].get(k).copied(),
        }
    }

    /// The number of instances.
    fn instances(&self) -> usize {
        self.values.first().map_or(1, Vec::len)
    }

    /// The classes of an axis' stride, instance by instance: code depends on these, not on the strides.
    pub fn classes(&self, axis: usize) -> Vec<&'static str> {
        let class = |stride: Option<i64>| match stride {
            Some(1) => "unit",
            Some(-1) => "unit-rev",
            Some(0) => "bcast",
            _ => "strided",
        };
        (0..self.instances()).map(|k| class(self.stride(axis, k))).collect()
    }

    /// The guards that code specialised to instance `k` is entered by: the strides that are one step.
    pub fn guards(&self, k: usize) -> Vec<String> {
        let guard = |axis: usize| {
            let parameter = matches!(self.dims[axis].1, Number::Parameter(_));
            match self.stride(axis, k) {
                Some(step @ -1..=1) if parameter => Some(format!("stride(dim{axis}) == {step}")),
                _ => None,
            }
        };
        (0..self.dims.len()).filter_map(guard).collect()
    }

    /// Which numbers vary, in words.
    pub fn summary(&self) -> String {
        let is = |what: &str, numbers: &[Number]| {
            let varying = numbers.iter().filter(|n| matches!(n, Number::Parameter(_))).count();
            (what.to_string(), varying > 0)
        };
        let sizes: Vec<Number> = self.dims.iter().map(|(size, _)| *size).collect();
        let strides: Vec<Number> = self.dims.iter().map(|(_, stride)| *stride).collect();
        let all = [is("offset", &[self.offset]), is("strides", &strides), is("sizes", &sizes)];
        let list = |varying: bool| {
            let names: Vec<&str> =
                all.iter().filter(|(_, v)| *v == varying).map(|(name, _)| name.as_str()).collect();
            names.join(" and ")
        };
        let (varying, constant) = (list(true), list(false));
        match (varying.as_str(), constant.as_str()) {
            ("", constant) => format!("{constant} constant"),
            ("offset", constant) => format!("offset is a parameter, {constant} constant"),
            (varying, "") => format!("{varying} are parameters"),
            (varying, constant) => format!("{varying} are parameters, {constant} constant"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn general(views: &[&str]) -> Option<General> {
        let views: Vec<Lmad> = views.iter().map(|text| text.parse().unwrap()).collect();
        generalise(&views)
    }

    #[test]
    fn equal_parameters_are_one() {
        let two = general(&["0 + {(4:6),(6:1)}", "0 + {(4:7),(7:1)}"]).unwrap();
        assert_eq!(two.text(), "0 + {(4:a),(a:1)} ; a = 6|7");
        assert_eq!(two.values.len(), 1);
        assert_eq!(general(&["3", "3"]).unwrap().text(), "3");
        assert_eq!(general(&["3", "3 + {(2:1)}"]), None);
        assert_eq!(general(&[]), None);
    }

    #[test]
    fn instances_are_instances() {
        let views = ["0 + {(4:6),(6:1)}", "24 + {(4:-6),(6:1)}", "5 + {(4:1),(6:4)}"];
        let found = general(&views).unwrap();
        let value = |number: Number, k: usize| match number {
            Number::Constant(value) => value,
            Number::Parameter(at) => found.values[at][k],
        };
        for (k, text) in views.iter().enumerate() {
            let dims = found.dims.iter().map(|(n, s)| galopvm_lmad::Dim::new(value(*n, k), value(*s, k)));
            assert_eq!(Lmad::new(value(found.offset, k), dims).to_string(), *text);
        }
        assert_eq!(found.classes(1), ["unit", "unit", "strided"]);
        assert_eq!(found.guards(2), ["stride(dim0) == 1"]);
    }
}
