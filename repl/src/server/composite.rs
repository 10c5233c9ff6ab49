//! The commands about arrays, records and sums.

use super::state::{Answer, Server, Words, put};
use crate::values::parts::{self, fields};
use crate::values::{Constructor, Shape, Slot, Type, rank_of};
use galopvm::Value;
use std::sync::Arc;

type Field = (String, Arc<Type>);

/// The rank and the element type of an array type.
fn as_array(ty: &Type) -> Answer<(u8, &Arc<Type>)> {
    match &ty.shape {
        Shape::Array(extents, element) => Ok((rank_of(extents), element)),
        _ => Err("Not an array type".into()),
    }
}

fn as_record(ty: &Type) -> Answer<&[Field]> {
    match &ty.shape {
        Shape::Record(fields) => Ok(fields),
        _ => Err("Not a record type".into()),
    }
}

fn as_sum(ty: &Type) -> Answer<(&[Constructor], &[Slot])> {
    match &ty.shape {
        Shape::Sum(constructors, slots) => Ok((constructors, slots)),
        _ => Err("Not a sum type".into()),
    }
}

/// The fields of the elements of an array type, and the type of the array of each.
fn as_array_of_records(ty: &Type) -> Answer<(u8, Vec<Field>)> {
    let (rank, element) = as_array(ty)?;
    let fields = as_record(element).map_err(|_| "Not an array of records")?;
    let extents = vec![0; rank.into()];
    Ok((rank, fields.iter().map(|(name, ty)| (name.clone(), Type::array(&extents, ty))).collect()))
}

/// Whole numbers of a list of words, each at least 0 and below what `most` says for its place.
fn numbers(words: &[&str], what: &str, most: impl Fn(usize) -> i64) -> Answer<Vec<i64>> {
    let number = |(k, word): (usize, &&str)| {
        let number = word.parse().ok().filter(|number| (0..most(k)).contains(number));
        number.ok_or_else(|| format!("Invalid {what} `{word}` of dimension {}.", k + 1))
    };
    words.iter().enumerate().map(number).collect()
}

/// Refuses another number of words than is wanted.
fn as_many(wanted: usize, given: usize, what: &str) -> Answer {
    if wanted == given { Ok(()) } else { Err(format!("{wanted} {what} expected but {given} provided.")) }
}

impl Server {
    pub fn rank(&mut self, words: &Words<'_>, out: &mut String) -> Answer {
        put(out, as_array(&*self.named(words.get(0)?)?)?.0);
        Ok(())
    }

    pub fn elemtype(&mut self, words: &Words<'_>, out: &mut String) -> Answer {
        put(out, &as_array(&*self.named(words.get(0)?)?)?.1.name);
        Ok(())
    }

    pub fn new_array(&mut self, words: &Words<'_>, _: &mut String) -> Answer {
        let (name, ty) = (words.get(0)?, self.named(words.get(1)?)?);
        self.vacant(&[name])?;
        let (rank, element) = as_array(&ty)?;
        let rank = usize::from(rank);
        if words.from(2).len() < rank {
            return Err(format!("Expected {rank} dimensions, but got {}.", words.from(2).len()));
        }
        let (sizes, values) = words.from(2).split_at(rank);
        let shape = numbers(sizes, "size", |_| i64::MAX)?;
        let count = shape.iter().try_fold(1i64, |count, extent| count.checked_mul(*extent));
        if count != i64::try_from(values.len()).ok() {
            let count = count.map_or("more".into(), |count| count.to_string());
            return Err(format!("Expected {count} values, but got {}.", values.len()));
        }
        let elements: Answer<Vec<&[Value]>> = (values.iter().enumerate())
            .map(|(k, value)| self.value_of(value, element, || format!("Value {k}")))
            .collect();
        let made = parts::array(self.session.memory(), element, &shape, &elements?)?;
        self.create(name, ty, made);
        Ok(())
    }

    pub fn set(&mut self, words: &Words<'_>, _: &mut String) -> Answer {
        let (name, value) = (words.get(0)?, words.get(1)?);
        let (ty, array) = self.value(name)?;
        let (rank, element) = as_array(&ty)?;
        let new = self.value_of(value, element, || "Element".into())?.to_vec();
        let index = checked_index(words.from(2), rank, array)?;
        let memory = self.session.memory().clone();
        match self.variables.get_mut(name).and_then(|variable| variable.parts.as_mut()) {
            Some(array) => parts::set(&memory, element, array, &index, &new),
            None => Ok(()),
        }
    }

    pub fn shape(&mut self, words: &Words<'_>, out: &mut String) -> Answer {
        let (ty, array) = self.value(words.get(0)?)?;
        let (rank, _) = as_array(&ty)?;
        parts::outer_shape(rank, array)?.iter().for_each(|extent| put(out, extent));
        Ok(())
    }

    pub fn index(&mut self, words: &Words<'_>, _: &mut String) -> Answer {
        let (name, array) = (words.get(0)?, words.get(1)?);
        let (ty, array) = self.value(array)?;
        let (rank, element) = as_array(&ty)?;
        let index = checked_index(words.from(2), rank, array)?;
        self.vacant(&[name])?;
        let found = parts::element(element, array, &index)?;
        self.create(name, element.clone(), found);
        Ok(())
    }

    pub fn zip(&mut self, words: &Words<'_>, _: &mut String) -> Answer {
        let (name, ty) = (words.get(0)?, self.named(words.get(1)?)?);
        self.vacant(&[name])?;
        let (rank, fields) = as_array_of_records(&ty)?;
        if fields.is_empty() {
            return Err("Arrays of nothing have no length to be zipped with.".into());
        }
        let arrays = self.field_values(&fields, words.from(2))?;
        parts::same_outer_shape(rank, &arrays)?;
        let zipped = arrays.concat();
        self.create(name, ty, zipped);
        Ok(())
    }

    pub fn unzip(&mut self, words: &Words<'_>, _: &mut String) -> Answer {
        let (ty, array) = self.value(words.get(0)?)?;
        let (_, types) = as_array_of_records(&ty)?;
        let names = words.from(1);
        as_many(types.len(), names.len(), "arrays")?;
        self.vacant(names)?;
        let arrays = fields(types.iter().map(|(_, ty)| ty.clone()), array);
        let arrays: Vec<Vec<Value>> = arrays.into_iter().map(<[Value]>::to_vec).collect();
        for ((name, (_, ty)), array) in names.iter().zip(types).zip(arrays) {
            self.create(name, ty, array);
        }
        Ok(())
    }

    pub fn fields(&mut self, words: &Words<'_>, out: &mut String) -> Answer {
        let ty = self.named(words.get(0)?)?;
        as_record(&ty)?.iter().for_each(|(name, ty)| put(out, format_args!("{name} {}", ty.name)));
        Ok(())
    }

    pub fn new_record(&mut self, words: &Words<'_>, _: &mut String) -> Answer {
        let (name, ty) = (words.get(0)?, self.named(words.get(1)?)?);
        self.vacant(&[name])?;
        let made = self.field_values(as_record(&ty)?, words.from(2))?.concat();
        self.create(name, ty, made);
        Ok(())
    }

    /// The values of variables that are to become these fields.
    fn field_values(&self, fields: &[Field], names: &[&str]) -> Answer<Vec<&[Value]>> {
        as_many(fields.len(), names.len(), "fields")?;
        let value =
            |(name, (field, ty)): (&&str, &Field)| self.value_of(name, ty, || format!("Field {field}"));
        names.iter().zip(fields).map(value).collect()
    }

    pub fn project(&mut self, words: &Words<'_>, _: &mut String) -> Answer {
        let (name, record, field) = (words.get(0)?, words.get(1)?, words.get(2)?);
        let (ty, record) = self.value(record)?;
        let types = as_record(&ty)?;
        let number = types.iter().position(|(name, _)| name == field);
        let number = number.ok_or_else(|| format!("No such field: {field}"))?;
        self.vacant(&[name])?;
        let found = fields(types.iter().map(|(_, ty)| ty.clone()), record)[number].to_vec();
        self.create(name, types[number].1.clone(), found);
        Ok(())
    }

    pub fn variants(&mut self, words: &Words<'_>, out: &mut String) -> Answer {
        let ty = self.named(words.get(0)?)?;
        for constructor in as_sum(&ty)?.0 {
            put(out, &constructor.name);
            constructor.payload.iter().for_each(|ty| put(out, format_args!("- {}", ty.name)));
        }
        Ok(())
    }

    pub fn construct(&mut self, words: &Words<'_>, _: &mut String) -> Answer {
        let (name, ty, variant) = (words.get(0)?, self.named(words.get(1)?)?, words.get(2)?);
        self.vacant(&[name])?;
        let (constructors, slots) = as_sum(&ty)?;
        let number = constructors.iter().position(|constructor| constructor.name == variant);
        let number = number.ok_or_else(|| format!("No such variant: {variant}"))?;
        let constructor = &constructors[number];
        let names = words.from(3);
        as_many(constructor.payload.len(), names.len(), "values")?;
        let payload: Answer<Vec<&[Value]>> = (names.iter().zip(&constructor.payload).enumerate())
            .map(|(k, (name, ty))| self.value_of(name, ty, || format!("Value {k}")))
            .collect();
        let made = parts::construct(self.session.memory(), number, constructor, slots, &payload?.concat())?;
        self.create(name, ty.clone(), made);
        Ok(())
    }

    pub fn destruct(&mut self, words: &Words<'_>, _: &mut String) -> Answer {
        let (ty, value) = self.value(words.get(0)?)?;
        let constructor = parts::constructor(as_sum(&ty)?.0, value)?;
        let names = words.from(1);
        as_many(constructor.payload.len(), names.len(), "variables")?;
        self.vacant(names)?;
        let payload = parts::payload(constructor, value)?;
        for ((name, ty), parts) in names.iter().zip(&constructor.payload).zip(payload) {
            self.create(name, ty.clone(), parts);
        }
        Ok(())
    }

    pub fn variant(&mut self, words: &Words<'_>, out: &mut String) -> Answer {
        let (ty, value) = self.value(words.get(0)?)?;
        put(out, &parts::constructor(as_sum(&ty)?.0, value)?.name);
        Ok(())
    }
}

/// An index inside an array.
fn checked_index(words: &[&str], rank: u8, array: &[Value]) -> Answer<Vec<i64>> {
    as_many(rank.into(), words.len(), "indices")?;
    let shape = parts::outer_shape(rank, array)?;
    numbers(words, "index", |k| shape.get(k).copied().unwrap_or(0))
}
