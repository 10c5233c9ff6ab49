from os import PathLike
from typing import Any, List, Mapping, Optional, Tuple, TypedDict, Union

from typing_extensions import Unpack

from .derivatives import grad as grad
from .derivatives import jvp as jvp
from .derivatives import vjp as vjp
from .function import function as function
from .sums import Variant as Variant
from .sums import variant as variant
from .told import Explanation, Profile, Stats

__version__: str

class Error(Exception):
    """What galopvm reports."""

class CompileError(Error):
    """The source does not compile; the text shows where, with its lines."""

class LoadError(Error):
    """A file cannot be read, or is no program."""

class RunError(Error):
    """The program failed. The text has the call sites."""

class LimitError(RunError):
    """A bound of memory, fuel, time or depth is reached."""

class Cancelled(RunError):
    """A canceller ended the call."""

class Canceller:
    """Ends the calls inside of its `with` blocks, from any thread. Once it has cancelled it stays so."""

    def __init__(self) -> None: ...
    def cancel(self) -> None: ...
    @property
    def cancelled(self) -> bool: ...
    def __enter__(self) -> "Canceller": ...
    def __exit__(self, *how: object) -> None: ...

class Opaque:
    """A value that only programs take apart: one of a type that a module hides, or an array of sums."""

    @property
    def type(self) -> str: ...

class Entry:
    """An entry point: called with its arguments in order, or by the names of its parameters."""

    @property
    def name(self) -> str: ...
    @property
    def params(self) -> List[Tuple[str, str]]: ...
    @property
    def results(self) -> List[str]: ...
    def __call__(self, *arguments: Any, **named: Any) -> Any: ...
    def explain(self, *arguments: Any, **named: Any) -> Explanation: ...
    def profile(self, *arguments: Any, runs: Optional[int] = ..., **named: Any) -> Profile: ...

class Program:
    """A compiled program. Each entry point is an attribute that can be called."""

    @property
    def entries(self) -> Mapping[str, Entry]: ...
    @property
    def warnings(self) -> Optional[str]: ...
    @property
    def memory(self) -> Mapping[str, int]: ...
    def stats(self) -> Stats: ...
    def to_bytecode(self) -> bytes: ...
    def __getattr__(self, name: str) -> Entry: ...

class _Options(TypedDict, total=False):
    backend: Optional[str]
    cpu: Optional[str]
    threads: Optional[int]
    memory_limit: Optional[int]
    fuel: Optional[int]
    timeout: Optional[float]

def compile(source: str, *, name: str = ..., **options: Unpack[_Options]) -> Program: ...
def load(path: Union[str, "PathLike[str]"], **options: Unpack[_Options]) -> Program: ...
def from_bytecode(data: bytes, *, name: str = ..., **options: Unpack[_Options]) -> Program: ...
