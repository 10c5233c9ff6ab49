//! The module language in canonical layout.

use super::Printer;
use crate::syntax::ast::*;
use std::fmt::Write;

impl Printer {
    pub(super) fn mod_param(&mut self, name: &Name, sig: &ModTypeExp) {
        self.put("(");
        self.put(name.text);
        self.put(": ");
        self.mod_type(sig);
        self.put(")");
    }

    pub(super) fn mod_exp(&mut self, module: &ModExp) {
        match module.kind {
            ModExpKind::Var(name) => self.put(&name.text()),
            ModExpKind::Parens(inner) => {
                self.put("(");
                self.mod_exp(inner);
                self.put(")");
            }
            ModExpKind::Decs(decs) => {
                self.put("{");
                self.deeper(|p| {
                    for dec in decs {
                        p.line();
                        p.dec(dec);
                    }
                });
                self.line();
                self.put("}");
            }
            ModExpKind::Import(file) => {
                let _ = write!(self.out, "import {file:?}");
            }
            ModExpKind::Apply(head, arg) => {
                self.mod_exp(head);
                self.put(" ");
                self.mod_exp(arg);
            }
            ModExpKind::Ascript(inner, sig) => {
                self.mod_exp(inner);
                self.put(" : ");
                self.mod_type(sig);
            }
            ModExpKind::Lambda(name, sig, result, body) => {
                self.put("\\");
                self.mod_param(&name, sig);
                if let Some(result) = result {
                    self.put(" : ");
                    self.mod_type(result);
                }
                self.put(" -> ");
                self.mod_exp(body);
            }
        }
    }

    pub(super) fn mod_type(&mut self, sig: &ModTypeExp) {
        match sig.kind {
            ModTypeExpKind::Var(name) => self.put(&name.text()),
            ModTypeExpKind::Parens(inner) => {
                self.put("(");
                self.mod_type(inner);
                self.put(")");
            }
            ModTypeExpKind::Specs(specs) => {
                self.put("{");
                self.deeper(|p| {
                    for spec in specs {
                        p.line();
                        p.spec(spec);
                    }
                });
                self.line();
                self.put("}");
            }
            ModTypeExpKind::With(inner, name, params, def) => {
                self.mod_type(inner);
                self.put(" with ");
                self.put(&name.text());
                self.type_params(params);
                self.put(" = ");
                self.type_exp(def);
            }
            ModTypeExpKind::Arrow(name, domain, result) => {
                match name {
                    Some(name) => self.mod_param(&name, domain),
                    None => self.mod_type(domain),
                }
                self.put(" -> ");
                self.mod_type(result);
            }
        }
    }

    pub(super) fn spec(&mut self, spec: &Spec) {
        for attr in spec.attrs {
            self.attr(attr);
            self.put(" ");
        }
        match spec.kind {
            SpecKind::Val(name, params, ty) => {
                self.put("val ");
                self.binder(name.text);
                self.type_params(params);
                self.put(" : ");
                self.type_exp(ty);
            }
            SpecKind::TypeAbbr(bind) => self.type_bind(bind),
            SpecKind::Type(lifted, name, params) => {
                self.put("type");
                self.lifted(lifted);
                self.put(" ");
                self.put(name.text);
                self.type_params(params);
            }
            SpecKind::Module(name, sig) => {
                self.put("module ");
                self.put(name.text);
                self.put(" : ");
                self.mod_type(sig);
            }
            SpecKind::Include(sig) => {
                self.put("include ");
                self.mod_type(sig);
            }
        }
    }
}
