//! `#[derive(Argument, Outcome)]`: a struct is a record of the language, an enum a sum.
//!
//! - A struct with named fields is a record with these fields, one with several unnamed ones a tuple, one with a single one what that field
//!   is, and one without fields the empty tuple.
//! - An enum is a sum: a variant is a constructor whose name is in lower case with underscores, `#[galopvm(name = "..")]` gives another; its
//!   fields are what the constructor holds, named ones a record.
//!
//! What is generated only calls what `galopvm` exports; the order of fields and constructors is found there.
#![forbid(unsafe_code)]

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Error, Fields, Ident, LitStr, Result, parse_macro_input, parse_quote};

/// Which of the two traits is derived.
#[derive(Clone, Copy, PartialEq)]
enum Direction {
    In,
    Out,
}

/// What can be given to an entry point as one argument: a record or a sum.
#[proc_macro_derive(Argument, attributes(galopvm))]
pub fn argument(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    derived(&input, Direction::In).unwrap_or_else(Error::into_compile_error).into()
}

/// What a result can be taken as: a record or a sum.
#[proc_macro_derive(Outcome, attributes(galopvm))]
pub fn outcome(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    derived(&input, Direction::Out).unwrap_or_else(Error::into_compile_error).into()
}

fn derived(input: &DeriveInput, direction: Direction) -> Result<Tokens> {
    let mut generics = input.generics.clone();
    for param in input.generics.type_params() {
        let name = &param.ident;
        let bound: syn::WherePredicate = match direction {
            Direction::In => parse_quote!(#name: ::galopvm::Argument),
            Direction::Out => parse_quote!(#name: ::galopvm::Outcome),
        };
        generics.make_where_clause().predicates.push(bound);
    }
    let (with, types, bounds) = generics.split_for_impl();
    let name = &input.ident;
    let (ty, work) = match &input.data {
        Data::Struct(data) => of_struct(&data.fields, direction)?,
        Data::Enum(data) => {
            let variants = data.variants.iter().map(|variant| {
                let other = name_in(&variant.attrs)?;
                let constructor = other.unwrap_or_else(|| lower(&variant.ident.to_string()));
                Ok((constructor, &variant.ident, &variant.fields))
            });
            let mut variants: Vec<(String, &Ident, &Fields)> = variants.collect::<Result<_>>()?;
            // The number of a constructor is its place among the names.
            variants.sort_by(|a, b| a.0.cmp(&b.0));
            if let Some(two) = variants.windows(2).find(|two| two[0].0 == two[1].0) {
                return Err(Error::new_spanned(
                    two[1].1,
                    format!("two variants are the constructor `{}`", two[1].0),
                ));
            }
            of_enum(&variants, direction)?
        }
        Data::Union(_) => {
            return Err(Error::new_spanned(name, "a union is no value of the language; a struct or enum is"));
        }
    };
    Ok(match direction {
        Direction::In => quote! {
            #[automatically_derived]
            impl #with ::galopvm::Argument for #name #types #bounds {
                fn argument_type() -> ::galopvm::Type {
                    #ty
                }

                fn put(
                    self,
                    memory: &::galopvm::Memory,
                    values: &mut ::std::vec::Vec<::galopvm::Value>,
                ) -> ::std::result::Result<(), ::galopvm::Error> {
                    #work
                }
            }
        },
        Direction::Out => quote! {
            #[automatically_derived]
            impl #with ::galopvm::Outcome for #name #types #bounds {
                fn result_type() -> ::galopvm::Type {
                    #ty
                }

                fn take(
                    values: &mut ::std::vec::IntoIter<::galopvm::Value>,
                ) -> ::std::result::Result<Self, ::galopvm::Error> {
                    #work
                }
            }

            #[automatically_derived]
            impl #with ::galopvm::Results for #name #types #bounds {
                fn result_types() -> ::std::vec::Vec<::galopvm::Type> {
                    ::std::vec![<Self as ::galopvm::Outcome>::result_type()]
                }

                fn from_values(
                    values: ::std::vec::Vec<::galopvm::Value>,
                ) -> ::std::result::Result<Self, ::galopvm::Error> {
                    ::galopvm::derived::single(values)
                }
            }
        },
    })
}

/// Fields in the order of the language: what binds each, how the struct or variant calls it, its name in the language, and its type.
struct Ordered<'a> {
    is_record: bool,
    all: Vec<(Ident, Tokens, String, &'a syn::Type)>,
}

fn ordered(fields: &Fields) -> Result<Ordered<'_>> {
    let mut all = Vec::new();
    for (k, field) in fields.iter().enumerate() {
        let bound = format_ident!("field_{k}");
        let (place, name) = match &field.ident {
            Some(ident) => {
                let own = ident.to_string();
                (quote!(#ident), own.strip_prefix("r#").unwrap_or(&own).to_string())
            }
            None => {
                let index = syn::Index::from(k);
                (quote!(#index), k.to_string())
            }
        };
        let name = name_in(&field.attrs)?.unwrap_or(name);
        all.push((bound, place, name, &field.ty));
    }
    let is_record = matches!(fields, Fields::Named(_));
    if is_record {
        all.sort_by(|a, b| a.2.cmp(&b.2));
    }
    Ok(Ordered { is_record, all })
}

impl Ordered<'_> {
    /// The types of the fields.
    fn types(&self, direction: Direction) -> Vec<Tokens> {
        let ty = |(_, _, _, ty): &(Ident, Tokens, String, &syn::Type)| match direction {
            Direction::In => quote!(<#ty as ::galopvm::Argument>::argument_type()),
            Direction::Out => quote!(<#ty as ::galopvm::Outcome>::result_type()),
        };
        self.all.iter().map(ty).collect()
    }

    /// The type of the record of the fields.
    fn record(&self, direction: Direction) -> Tokens {
        let types = self.types(direction);
        let names = self.all.iter().map(|(_, _, name, _)| name);
        quote!(::galopvm::Type::record(::std::vec![#((#names.into(), #types)),*]))
    }

    /// The pattern that binds the fields, or the expression that has them, behind the name of the struct or variant.
    fn bound(&self) -> Tokens {
        let fields = self.all.iter().map(|(bound, place, ..)| quote!(#place: #bound));
        quote!({ #(#fields),* })
    }

    fn puts(&self, values: &Tokens) -> Tokens {
        let puts =
            self.all.iter().map(|(bound, ..)| quote!(::galopvm::Argument::put(#bound, memory, #values)?;));
        quote!(#(#puts)*)
    }

    fn takes(&self, values: &Tokens) -> Tokens {
        let takes =
            self.all.iter().map(|(bound, ..)| quote!(let #bound = ::galopvm::Outcome::take(#values)?;));
        quote!(#(#takes)*)
    }
}

/// The type of a struct, and how its values are put or taken.
fn of_struct(fields: &Fields, direction: Direction) -> Result<(Tokens, Tokens)> {
    let fields = ordered(fields)?;
    let types = fields.types(direction);
    let ty = match &types[..] {
        _ if fields.is_record => fields.record(direction),
        [single] => single.clone(),
        types => quote!(::galopvm::Type::Tuple(::std::vec![#(#types),*])),
    };
    let (bound, values) = (fields.bound(), quote!(values));
    Ok(match direction {
        Direction::In => {
            let puts = fields.puts(&values);
            (
                ty,
                quote! {
                    let Self #bound = self;
                    #puts
                    let _ = (memory, values);
                    ::std::result::Result::Ok(())
                },
            )
        }
        Direction::Out => {
            let takes = fields.takes(&values);
            (
                ty,
                quote! {
                    #takes
                    let _ = values;
                    ::std::result::Result::Ok(Self #bound)
                },
            )
        }
    })
}

/// The type of an enum, and how its values are put or taken.
fn of_enum(variants: &[(String, &Ident, &Fields)], direction: Direction) -> Result<(Tokens, Tokens)> {
    let mut constructors = Vec::new();
    let mut arms = Vec::new();
    for (number, (name, ident, fields)) in variants.iter().enumerate() {
        let fields = ordered(fields)?;
        let payload = match fields.is_record {
            true => vec![fields.record(direction)],
            false => fields.types(direction),
        };
        constructors.push(quote!((#name.into(), ::std::vec![#(#payload),*])));
        let bound = fields.bound();
        arms.push(match direction {
            Direction::In => {
                let puts = fields.puts(&quote!(&mut payload));
                quote!(Self::#ident #bound => { #puts #name })
            }
            Direction::Out => {
                let takes = fields.takes(&quote!(&mut payload));
                quote!(#number => { #takes Self::#ident #bound })
            }
        });
    }
    let ty = quote!(::galopvm::Type::sum(::std::vec![#(#constructors),*]));
    Ok(match direction {
        Direction::In => (
            ty,
            quote! {
                #[allow(unused_mut, reason = "constructors may hold nothing")]
                let mut payload = ::std::vec::Vec::new();
                let constructor = match self { #(#arms)* };
                let ty = <Self as ::galopvm::Argument>::argument_type();
                ::galopvm::derived::put_sum(&ty, constructor, payload, memory, values)
            },
        ),
        Direction::Out => (
            ty,
            quote! {
                let ty = <Self as ::galopvm::Outcome>::result_type();
                #[allow(unused_mut, unused_variables, reason = "constructors may hold nothing")]
                let (number, mut payload) = ::galopvm::derived::take_sum(&ty, values)?;
                ::std::result::Result::Ok(match number {
                    #(#arms)*
                    _ => return ::std::result::Result::Err(::galopvm::derived::no_constructor()),
                })
            },
        ),
    })
}

/// The name that `#[galopvm(name = "..")]` gives.
fn name_in(attributes: &[syn::Attribute]) -> Result<Option<String>> {
    let mut name = None;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("galopvm")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("name") {
                return Err(meta.error("only `name = \"..\"` is known here"));
            }
            name = Some(meta.value()?.parse::<LitStr>()?.value());
            Ok(())
        })?;
    }
    Ok(name)
}

/// The name of a variant in lower case, with underscores between words.
fn lower(name: &str) -> String {
    let mut lower = String::new();
    for (k, c) in name.strip_prefix("r#").unwrap_or(name).chars().enumerate() {
        if c.is_uppercase() && k > 0 {
            lower.push('_');
        }
        lower.extend(c.to_lowercase());
    }
    lower
}
