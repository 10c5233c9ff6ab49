from typing import Any, List, Literal, Mapping, Optional, Sequence, Union

from dask.delayed import Delayed

from . import Entry

__all__: List[str]

_Chunks = Sequence[Union[int, float, Sequence[Union[int, float]]]]
_Around = Union[Literal["reflect", "periodic", "nearest", "none"], float, None]

def call(entry: Entry, *arguments: Any) -> Delayed:
    """One call, with all arguments whole: a delayed value."""

def map_blocks(entry: Entry, *arguments: Any, chunks: Optional[_Chunks] = ...) -> Any:
    """The entry point for each block."""

def reduce(entry: Entry, combine: Entry, *arguments: Any, split_every: int = ...) -> Any:
    """The entry point for each block, and what it gives combined by another, which has to be associative."""

def histogram(entry: Entry, *arguments: Any, combine: Optional[Entry] = ..., split_every: int = ...) -> Any:
    """The bins of each block by the entry point, combined by sum or by another entry point."""

def scan(entry: Entry, combine: Entry, apply: Entry, *arguments: Any, axis: int = ...) -> Any:
    """Each block's scan by the entry point, after what is carried to it from the blocks before."""

def stencil(
    entry: Entry,
    *arguments: Any,
    depth: Union[int, Sequence[int], Mapping[int, int]],
    boundary: Union[_Around, Mapping[int, _Around]] = ...,
) -> Any:
    """The entry point for each block with the elements around it, of which it gives the inner part."""
