"""Unknown keywords are errors that suggest the right one."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

from . import _carom

P = ParamSpec("P")
R = TypeVar("R")


def unknown(function: str, name: str, known: Iterable[str]) -> TypeError:
    """The error for an unknown keyword."""
    names = list(known)
    near = _carom.suggestion(name, names)
    hint = f"did you mean `{near}`?" if near else f"it takes {', '.join(names)}"
    return TypeError(f"{function} has no keyword `{name}`; {hint}")


def suggesting(function: Callable[P, R]) -> Callable[P, R]:
    """Makes a function suggest a keyword in place of an unknown one."""
    parameters = inspect.signature(function).parameters.values()
    names = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)} - {"self"}

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if name not in names:
                what = function.__qualname__.removesuffix(".__init__")
                raise unknown(f"{what}()", name, [p.name for p in parameters if p.name in names])
        return function(*args, **kwargs)

    return checked
