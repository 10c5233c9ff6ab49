//! The words of the analyses, in plain ones: what `galopvm words` prints, for those who have nothing but the program.

/// Words that belong together.
pub struct Words {
    /// Where they are met.
    pub about: &'static str,
    /// Each with what it means.
    pub rows: &'static [(&'static str, &'static str)],
}

/// All words.
pub const GLOSSARY: &[Words] = &[
    Words {
        about: "Who executes an operator or a loop",
        rows: &[
            ("machine code, x86", "code that was planned and compiled for it"),
            ("vector code, vector", "kernels that compute a group of rows at a time, made at once"),
            ("the GPU, vulkan", "kernels on a graphics device"),
            ("interpreted as flat code, a unit", "a loop over registers, the fast form of the interpreter"),
            ("interpreted row by row, single rows", "a block of instructions for each row"),
            ("strands", "the interpreter computes sums of floats of several rows at a time"),
            ("a group, fused", "operators that run together as one kernel"),
            ("kernel", "an operator with all that is inside of it, in a form that code is made from"),
            (
                "lifted",
                "an operator became a kernel; where it is not lifted, the reason is what stands in the way",
            ),
            ("launch", "code is run once"),
            ("hot", "so much was done at this place that compiling pays"),
            (
                "versions, for any views",
                "code of one kernel for arrays that lie in different ways; for any of them",
            ),
        ],
    },
    Words {
        about: "The analyses",
        rows: &[
            ("galop", "finds arrays that operators should be given in another layout"),
            ("strategy", "finds layouts for several kernels at once"),
            ("reuse", "finds results that may be written over arrays that nobody needs any more"),
            ("shortcircuit", "finds arrays that may be built where they would be copied to"),
            ("merge", "finds arrays that may take the same memory, one after the other"),
            ("fusion", "finds operators that become part of those that read their results"),
            (
                "analysed",
                "so many questions were put, and took so long; what is asked again is found as known",
            ),
            ("with something to do", "the answer had a decision in it"),
            ("recorded", "code with its numbers was written down as a region, which the analysis looks at"),
            (
                "planned, checked",
                "decisions were made, and proved by a checker that shares nothing with the analysis",
            ),
            ("applied", "a decision was carried out"),
        ],
    },
    Words {
        about: "Layouts: how arrays lie in memory",
        rows: &[
            ("lane", "the variable whose neighbours are computed together"),
            ("unit", "neighbouring lanes read neighbouring places"),
            ("bcast", "all lanes read one place"),
            ("gather(data)", "lanes read places that come from memory"),
            (
                "layout (1,0)",
                "dimensions in the order in which they lie, the outermost first: (0,1) is row-major",
            ),
            (
                "manifest",
                "the copy into another layout is made; with no, it is worth less than 1.25 times what it costs",
            ),
            ("NEVER-CLASS", "lanes are neighbours, or all at one place, already"),
            ("NEVER-FIT", "the array stays in the first cache, and only cache lines would be saved"),
            ("NEVER-USES", "fewer elements would be read than copied"),
            ("NEVER-CAP", "all reads together take no longer than the copy"),
            ("NEVER-ACC", "the array has another value in each round of a loop"),
            ("NEVER-MEM", "there is no memory for the copy"),
            (
                "{in v; out a; A->d}",
                "demands: v is the lane, a is not, dimension d of A, counted from the inside, is innermost",
            ),
            ("choose", "the demands that the best lane follows"),
            ("total", "the price of all kernels of a function or loop, with copies"),
            (
                "p0, s1",
                "what moves an index: a parallel or a sequential variable, and in how many others it lies",
            ),
            ("index table", "each read and write of a kernel, with its index and with what moves it"),
        ],
    },
    Words {
        about: "Reuse: results over arrays",
        rows: &[
            ("RDS", "the places of the array that an iteration reads which does not write there"),
            ("CDS", "the places of the result that keep the value of the array"),
            ("MOD", "the places of the result that get another value"),
            ("yes", "RDS and MOD have no place in common, so the result may be written over the array"),
            ("conflict(place)", "one iteration changes this place and another one reads it"),
            ("no-copies", "nothing of the array is copied into the result"),
            ("data-index", "the array is read at places that are not known"),
            ("budget", "the places are too intricate for an answer"),
        ],
    },
    Words {
        about: "Short-circuiting: arrays built where they would be copied to",
        rows: &[
            ("point", "a place of the program that copies a whole array into another one"),
            ("last-use", "nobody needs the array after this"),
            (
                "3 + {(4:1),(5:8)}",
                "places of a block: from element 3 on, 4 elements at distance 1, that 5 times at distance 8",
            ),
            (
                "overlap(.., witness 7)",
                "a place would be written while it is still used: place 7 is one of them",
            ),
            ("block-not-in-scope", "the memory it would go into cannot exist when it is made"),
            ("memcpy(n)", "the copy that remains goes in runs of n elements"),
        ],
    },
    Words {
        about: "Plans for code",
        rows: &[
            ("threads i", "the axis i is cut into pieces for threads"),
            ("lane j", "neighbours along j are in the lanes of a vector"),
            ("singly i", "iterations run one by one"),
            ("groups j 2", "two vectors along j are computed together"),
            ("tile i 4", "four rows are computed together, so that what they all read is read once"),
            ("inside j", "vectors away from borders have code without comparisons"),
            (
                "stretch k 512 i 510",
                "a reduction is computed 512 iterations at a time, for 510 rows before the next ones",
            ),
            ("pack", "what is read is copied for a stretch, to lie in order"),
            ("ahead, ready", "memory of the next turn is fetched in this one"),
            ("stream n", "results of more than n bytes are stored past the caches"),
            ("unchecked, contained", "reads and updates that are proved to stay inside their arrays"),
            ("fresh", "the result has a block of its own"),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::GLOSSARY;

    #[test]
    fn each_word_is_explained_once() {
        let mut words: Vec<&str> =
            GLOSSARY.iter().flat_map(|words| words.rows).map(|(word, _)| *word).collect();
        let all = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), all);
    }

    #[test]
    fn gates_of_layouts_are_explained() {
        use galopvm_analysis::layout::{Gate, Verdict};
        for gate in [Gate::Class, Gate::Fit, Gate::Uses, Gate::Cap, Gate::Accumulator, Gate::Memory] {
            let text = Verdict::Never(Some(gate)).to_string();
            let rows = || GLOSSARY.iter().flat_map(|words| words.rows);
            assert!(rows().any(|(word, _)| text.contains(word)), "{text}");
        }
    }
}
