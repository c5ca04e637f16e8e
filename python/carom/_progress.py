"""Progress bars, if tqdm is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def bar(total: float | None, begin: float = 0.0, unit: str = "s") -> Iterator[Callable[[float], object] | None]:
    """Gives what a run calls with how far it is; none without tqdm."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield None
        return
    length = None if total is None else total - begin
    with tqdm(total=length, unit=unit, bar_format="{l_bar}{bar}| {n:.4g}/{total:.4g} [{elapsed}<{remaining}]") as shown:

        def tell(reached: float) -> None:
            shown.update(max(reached - begin - shown.n, 0.0))

        yield tell
        if length is not None:
            shown.update(max(length - shown.n, 0.0))
