from typing import Any, Callable, overload

from typing_extensions import Unpack

from . import Program, _Options

class Function:
    """A Python function that calls the entry point of its name in the program that its docstring is."""

    __name__: str
    __qualname__: str
    @property
    def program(self) -> Program: ...
    def __call__(self, *arguments: Any, **named: Any) -> Any: ...

@overload
def function(function: Callable[..., Any]) -> Function: ...
@overload
def function(**options: Unpack[_Options]) -> Callable[[Callable[..., Any]], Function]: ...
