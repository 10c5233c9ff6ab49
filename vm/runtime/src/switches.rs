//! The switches: everything that makes programs faster and can be turned off, in one table.
//!
//! Command line, help and documentation derive from the table at the end of this file. Invariant: results of programs
//! do not depend on any switch (floats: see the architecture page).

use std::fmt::Write;
use std::str::FromStr;

macro_rules! switches {
    ($($variant:ident $name:ident: $meaning:literal;)*) => {
        /// One switch.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub enum Switch {
            $(#[doc = $meaning] $variant,)*
        }

        /// What is on; by default everything.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub struct Switches {
            $(#[doc = $meaning] pub $name: bool,)*
        }

        impl Switch {
            /// Every switch, in the order of the table.
            pub const ALL: &[Switch] = &[$(Switch::$variant,)*];

            /// Its word on the command line.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Switch::$variant => stringify!($name),)*
                }
            }

            /// What is done if it is on, in one line.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Switch::$variant => $meaning,)*
                }
            }
        }

        impl Switches {
            /// Everything on.
            pub const ON: Switches = Switches { $($name: true,)* };
            /// Everything off.
            pub const OFF: Switches = Switches { $($name: false,)* };

            /// True if this one is on.
            pub const fn is_on(&self, switch: Switch) -> bool {
                match switch {
                    $(Switch::$variant => self.$name,)*
                }
            }

            /// The same, with this one on or off.
            pub const fn with(mut self, switch: Switch, on: bool) -> Switches {
                match switch {
                    $(Switch::$variant => self.$name = on,)*
                }
                self
            }
        }
    };
}

impl Default for Switches {
    fn default() -> Switches {
        Switches::ON
    }
}

impl Switches {
    /// Everything on but these.
    pub fn without(off: &[Switch]) -> Switches {
        off.iter().fold(Switches::ON, |switches, switch| switches.with(*switch, false))
    }

    /// Those that are off, in the order of the table.
    pub fn off(&self) -> impl Iterator<Item = Switch> {
        Switch::ALL.iter().copied().filter(|switch| !self.is_on(*switch))
    }
}

impl FromStr for Switch {
    type Err = ();

    fn from_str(text: &str) -> Result<Switch, ()> {
        Switch::ALL.iter().copied().find(|switch| switch.name() == text).ok_or(())
    }
}

/// The table as documentation shows it.
pub fn switch_table() -> String {
    let mut table = String::from("| `--no` | what is not done then |\n|---|---|\n");
    for switch in Switch::ALL {
        let _ = writeln!(table, "| `{}` | {} |", switch.name(), switch.meaning());
    }
    table
}

switches! {
    Galop galop: "copies of arrays into the layout in which kernels read them";
    Strategy strategy: "layouts that are chosen for several kernels at once";
    Reuse reuse: "results written over arrays that nobody needs any more";
    ShortCircuit shortcircuit: "arrays built where a later copy would put them";
    Merge merge: "arrays that are not alive at the same time in the same memory";
    Fusion fusion: "operators that become part of those that read their results";
    Jit jit: "operators compiled by a back end (x86, Vulkan, ..)";
    Machine machine: "loops and operators interpreted as flat code";
    Quick quick: "operators that are not hot run by code that is made at once";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_fields_agree() {
        for switch in Switch::ALL {
            assert_eq!(switch.name().parse(), Ok(*switch));
            let without = Switches::without(&[*switch]);
            assert!(!without.is_on(*switch) && without != Switches::ON);
            assert_eq!(without.off().collect::<Vec<_>>(), [*switch]);
            assert_eq!(without.with(*switch, true), Switches::default());
        }
        assert_eq!(Switches::without(Switch::ALL), Switches::OFF);
        assert!("fission".parse::<Switch>().is_err());
        assert!(!Switches::without(&[Switch::ShortCircuit, Switch::Galop]).shortcircuit);
    }

    #[test]
    fn the_documentation_has_the_table() {
        let page = include_str!("../../../docs/running.md");
        assert!(page.contains(&switch_table()), "docs/running.md should have this:\n{}", switch_table());
    }
}
