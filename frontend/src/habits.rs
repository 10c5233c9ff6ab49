//! What people write who come from other languages, and how Futhark says it: hints for messages that there are anyway.
//!
//! A hint says what to write, never more than one line, and nothing is decided here: the program is wrong before anybody asks.

use galopvm_base::ElemType;

/// The hint for a value's name that is not known.
pub fn of_name(name: &str) -> Option<String> {
    let hint = match name {
        "print" | "println" | "printf" | "puts" | "echo" => {
            "`trace e` shows a value while the program runs; what `main` gives is printed at its end"
        }
        "show" | "str" | "repr" | "toString" | "to_string" | "format" => {
            "there is no text but arrays of `u8`: values are written by whoever runs the program"
        }
        "range" | "arange" | "linspace" => {
            "`iota n` has the numbers below `n`; `a..<b` and `a...b` are ranges"
        }
        "len" | "size" | "count" | "shape" => "`length xs`",
        "return" => "there is no `return`: the body of a function is what it gives",
        "True" | "False" => "`true` and `false` are written in small letters",
        "None" | "nil" | "Nothing" | "undefined" | "NULL" | "Just" | "Some" => {
            "there is no null: a sum type such as `#none | #some i32` says that something may be missing"
        }
        "lambda" | "fun" | "fn" | "func" | "function" => {
            "a function without a name is written `\\x -> x + 1`"
        }
        "zeros" | "ones" | "full" | "fill" => "`replicate n 0` is an array of `n` zeros",
        "append" | "push" | "cons" => "`xs ++ [x]` is an array with one element more",
        "sort" | "sorted" | "argsort" => "the prelude sorts nothing: import a library, or write the sort",
        "fst" | "snd" => "the components of a tuple are `x.0` and `x.1`",
        "zipWith" => "`map2 f xs ys`",
        "zipWith3" => "`map3 f xs ys zs`",
        "fold" | "foldl1" | "foldr1" | "accumulate" | "aggregate" => {
            "`reduce f start xs` if `f` is associative, else `foldl f start xs`"
        }
        "cumsum" | "prefix_sum" | "scanl" => "`scan (+) 0 xs`",
        "mod" | "rem" => "`x % y`",
        "div" | "quot" => "`x / y`, which rounds integers down",
        "pow" | "power" => "`x ** y`",
        "xor" => "`x ^ y` of integers, `x != y` of truth values",
        "fromIntegral" | "toFloat" | "float" | "double" | "int" | "integer" | "realToFrac" | "astype" => {
            "the module of the type that is wanted converts: `f64.i32 x`, `i64.f32 x`"
        }
        "otherwise" => "the last branch is an `else`, or `case _ -> ..` of a `match`",
        "elem" | "contains" | "includes" | "member" => "`any (== x) xs`",
        "index_of" | "indexOf" | "argmax" | "argmin" => "`reduce` over `zip xs (indices xs)` finds the place",
        "where" => "there is no `where`: bind names in front with `let x = .. in ..`",
        "let" | "var" | "val" | "mut" | "auto" => "names are bound by `let x = .. in ..`, and never change",
        "pass" => "every expression has a value: `()` is the empty one",
        "elif" | "elsif" | "elseif" => "`else if .. then .. else ..`",
        "continue" => "a `loop` ends when its `while` is false; it gives its variables, nothing else",
        "foreach" | "forEach" | "apply" => "`map f xs`",
        "select" => "`if c then a else b`",
        "dot" | "inner" | "matmul" => "a dot product is `reduce (+) 0 (map2 (*) xs ys)`",
        "mean" | "average" | "avg" => "`f64.sum xs / f64.i64 (length xs)`",
        "random" | "rand" | "randint" => {
            "random numbers need a seed that is passed on: see a library for them"
        }
        "error" | "throw" | "raise" | "panic" | "failwith" => {
            "`assert c e` is `e`, and ends the run if `c` is false"
        }
        "input" | "read" | "readLine" | "open" => {
            "what a program reads are the parameters of its entry point"
        }
        "slice" | "subarray" => "`xs[i:j]` is the elements from `i` on, before `j`",
        "array" | "list" | "vec" | "Array" => "an array is written `[1, 2, 3]`",
        "reversed" => "`reverse xs`",
        "unique" | "nub" | "groupby" | "group" => {
            "the prelude has none: sort, then `filter` by the neighbours"
        }
        "typeof" | "type" => {
            "types are known before the program runs: `:type e` at the prompt of `galopvm repl`"
        }
        "np" | "numpy" | "math" | "Math" | "std" => {
            "functions of numbers are in the module of their type: `f64.sqrt`, `f64.pi`"
        }
        "is" => "`x == y`",
        "as" => "the module of the type that is wanted converts: `f64.i32 x`",
        "<>" | "/=" | "=/=" | "!==" => "`x != y`",
        "===" => "`x == y`",
        "=>" => "a function without a name is written `\\x -> x + 1`",
        ">>=" | "|>>" => "`x |> f` applies `f` to `x`",
        "++." | "<>." => "`xs ++ ys`",
        "+." | "-." | "*." | "/." => "operators are the same for all numbers: `x + y`",
        "&&&" | "|||" => "`&` and `|` for bits, `&&` and `||` for truth values",
        _ => return of_member(name),
    };
    Some(hint.into())
}

/// The hint for what is a member of the modules of numbers.
fn of_member(name: &str) -> Option<String> {
    let types = [ElemType::F64, ElemType::I64];
    let has = types.into_iter().find(|ty| galopvm_stdlib::member_names(*ty).contains(&name));
    let ty = match name {
        "sum" | "product" | "maximum" | "minimum" => ElemType::F64,
        _ => has?,
    };
    Some(format!("each type of numbers has its own, in the module of its name: `{ty}.{name}`"))
}

/// The hint for what is written behind the point of a value that has no fields, as methods are called.
pub fn of_method(name: &str, elem: Option<ElemType>) -> String {
    let own = elem.filter(|ty| galopvm_stdlib::member_names(*ty).contains(&name));
    let instead = match (name, own) {
        ("length" | "len" | "size" | "shape" | "count", None) => "`length xs`".into(),
        ("map" | "filter" | "any" | "all", _) => format!("`{name} f xs`"),
        ("reduce" | "fold", _) => "`reduce f start xs`".into(),
        ("append" | "push", _) => "`xs ++ [x]`".into(),
        (_, Some(ty)) => format!("`{ty}.{name} x`"),
        (_, None) => format!("`{name} x`"),
    };
    format!("there are no methods: functions are written in front of what they take, {instead}")
}

/// The hint for an operator of numbers that meets an array.
pub fn of_elements(op: &str) -> String {
    format!("`map ({op} x) xs` does it with each element, `map2 ({op}) xs ys` with those of two arrays")
}

/// The hint for a word that stands between two values, as an operator of other languages.
pub fn of_infix(word: &str) -> Option<&'static str> {
    Some(match word {
        "and" => "`x && y`",
        "or" => "`x || y`",
        "xor" => "`x != y` of truth values, `x ^ y` of integers",
        "mod" | "rem" => "`x % y`",
        "div" | "quot" => "`x / y`, which rounds integers down",
        "is" | "eq" => "`x == y`",
        "as" => "the module of the type that is wanted converts: `f64.i32 x`",
        "where" => "there is no `where`: bind names in front with `let x = .. in ..`",
        "in" | "elem" => "`any (== x) xs`",
        _ => return None,
    })
}

/// The hint for a type that is not known.
pub fn of_type(name: &str) -> Option<&'static str> {
    Some(match name {
        "int" | "Int" | "integer" | "Integer" | "int32" | "int32_t" => "`i32` has 32 bits, `i64` has 64",
        "long" | "int64" | "int64_t" | "isize" | "size_t" | "usize" | "Int64" => {
            "`i64`, which sizes have as well"
        }
        "short" | "int16" => "`i16`",
        "uint" | "unsigned" | "uint32" | "uint32_t" | "Word" => "`u32`",
        "byte" | "char" | "Char" | "uint8" | "uint8_t" => "`u8`",
        "float" | "Float" | "real" | "float32" => "`f32` has 32 bits, `f64` has 64",
        "double" | "Double" | "number" | "float64" => "`f64`",
        "half" | "float16" => "`f16`",
        "boolean" | "Bool" | "Boolean" => "`bool`",
        "string" | "String" | "str" => "`[]u8`, an array of bytes",
        "void" | "unit" | "Unit" => "`()`",
        "list" | "List" | "vec" | "Vec" | "vector" | "Vector" | "array" | "Array" | "ndarray" => {
            "`[]f64` is an array of numbers, `[][]f64` a matrix"
        }
        "Maybe" | "Option" | "option" | "Optional" => "a sum type: `#none | #some i32`",
        "any" | "Any" | "object" | "auto" => "a type parameter stands for any type: `def id 't (x: t) = x`",
        _ if name.len() == 1 => "a type parameter is written with a quote: `def id 't (x: t) = x`",
        _ => return None,
    })
}

/// The hint for a token that was not expected, beside what was.
pub fn of_token(found: &str, expected: &str) -> Option<&'static str> {
    const COMMENT: &str = "a comment begins with `--`, and ends with the line";
    const FUNCTION: &str = "functions and values are defined with `def`: `def f (x: i32) = x + 1`";
    const LOOP: &str =
        "`loop x = start for i < n do ..` repeats; `map f xs` does something with every element";
    const BRACES: &str = "braces make records, `{x = 1, y = 2}`; parentheses hold expressions together";
    let declares = expected == "a declaration";
    Some(match found {
        ";" => "Futhark has no `;`: bindings are separated by `let` or `in`",
        "//" | "/*" if declares => COMMENT,
        "#" => COMMENT,
        "#include" | "include" | "use" | "using" | "from" | "open" if declares => {
            "`import \"name\"` or `open import \"name\"`"
        }
        "fn" | "fun" | "func" | "function" | "define" | "defun" | "proc" if declares => FUNCTION,
        "const" | "var" | "val" | "static" | "final" if declares => FUNCTION,
        "struct" | "class" | "record" | "typedef" if declares => {
            "`type point = {x: f64, y: f64}` is a record"
        }
        "enum" | "data" | "newtype" | "union" if declares => "`type colour = #red | #green` is a sum type",
        "if" if declares => "the condition comes first: `if c then a else b`",
        "?" => "`if c then a else b`",
        "->" if declares => "a field is `x.a`",
        "->" if expected.starts_with("a parameter") => {
            "the type of the result stands behind a colon: `def f (x: i32): i32 = x`"
        }
        "|" if declares => "constructors begin with `#`: `type colour = #red | #green`",
        "|" if expected.starts_with("a parameter") => "there are no guards: `if c then a else b`",
        "=" if declares || expected == "the end of the expression" => {
            "names are bound by `let x = .. in ..`, and defined by `def x = ..`"
        }
        "=" if expected == "`then`" => "`=` binds a name; `==` compares",
        ")" | "]" | "}" if declares => "nothing is open that this would close",
        "for" if expected == "`]`" => {
            "there are no comprehensions: `map (\\x -> ..) xs`, and `filter` in front of it"
        }
        "for" | "while" | "do" if expected == "an expression" || expected.starts_with("`in`") => LOOP,
        "case" | "switch" if expected == "an expression" || expected == "a field name" => {
            "`match x case #a -> .. case #b -> ..` tells cases apart"
        }
        "~" | "not" => "`!x`",
        "*" if expected == "an expression" => "there are no pointers",
        "'" if expected == "an expression" => "a character is written `'a'`, a string `\"abc\"`",
        "$" => "`f <| x` applies a function to all that follows",
        "@" => "there is no operator for matrices: write the product as a function, with `map` and `reduce`",
        "+=" | "-=" | "*=" | "/=" | ":=" | "<-" if expected == "`=`" => {
            "names never change: `let y = y + x in ..` binds a new one"
        }
        "=>" => "`case x -> ..` in a `match`, `\\x -> ..` for a function",
        "->" if expected == "`case`" => "each case begins with the word: `match x case 1 -> .. case _ -> ..`",
        "<" | ">" if expected.starts_with("a parameter") || expected == "`)`" => {
            "type parameters are written with a quote, `def id 't (x: t)`, and arguments of types behind them: `vec i32`"
        }
        "let" | "if" | "loop" | "match" | "\\" | "-" | "!" if expected == "a field name" => BRACES,
        _ if expected == "`}`" || expected == "`=` and the field's value" => BRACES,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_modules_are_found_by_their_name() {
        let hint = "each type of numbers has its own, in the module of its name: `f64.sqrt`";
        assert_eq!(of_name("sqrt").as_deref(), Some(hint));
        assert_eq!(of_name("zebra"), None);
    }
}
