from typing import Any, Tuple, Type

class Variant(Tuple[Any, ...]):
    """A constructor of a sum with what it holds, which are the parts of this tuple."""

    constructor: str
    def __new__(cls, *held: Any) -> "Variant": ...

class _Constructors:
    """Classes of constructors, by their names."""

    def __getattr__(self, name: str) -> Type[Variant]: ...
    def __getitem__(self, name: str) -> Type[Variant]: ...

variant: _Constructors

def named(name: str) -> Type[Variant]: ...
def value(name: str, held: Tuple[Any, ...]) -> Variant: ...
