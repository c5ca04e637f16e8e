"""The private module: the types of what Rust provides."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Dense",
    "Model",
    "__version__",
    "call",
    "diagnostics",
    "examples",
    "main",
    "suggestion",
    "write_parquet",
]

__version__: str

def main(words: Sequence[str]) -> int: ...
def examples() -> list[tuple[str, str]]: ...
def diagnostics() -> list[str]: ...
def suggestion(name: str, known: Sequence[str]) -> str | None: ...
def write_parquet(path: str | PathLike[str], columns: Sequence[tuple[str, NDArray[np.float64]]]) -> None: ...
def call(
    words: Sequence[str],
    model: tuple[str, str] | None = None,
    force: Callable[[float, Any, Any], Any] | None = None,
) -> tuple[str, list[str], list[str], int]: ...
@final
class Dense:
    def at(self, t: NDArray[np.float64], before: bool) -> NDArray[np.float64] | None: ...
    def energy(self, t: NDArray[np.float64]) -> NDArray[np.float64] | None: ...
    @property
    def end(self) -> float: ...

@final
class Model:
    def __new__(
        cls,
        name: str,
        text: str,
        settings: Sequence[str],
        force: Callable[[float, Any, Any], Any] | None = None,
    ) -> Model: ...
    @staticmethod
    def load(path: str | PathLike[str]) -> Model: ...
    def with_settings(self, settings: Sequence[str]) -> Model: ...
    @property
    def name(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def settings(self) -> list[str]: ...
    @property
    def force(self) -> Callable[[float, Any, Any], Any] | None: ...
    def facts(self) -> dict[str, Any]: ...
    def run(
        self,
        *,
        start: str | None = None,
        every: float | None = None,
        arcs: int = 0,
        diagnostics: str | None = None,
        progress: Callable[[float], object] | None = None,
    ) -> dict[str, Any]: ...
    def drawing(self) -> bytes: ...
    def expressions(self) -> dict[str, Any]: ...
    def derive(self, format: str) -> str: ...
    def sweep(
        self,
        *,
        axes: Sequence[str],
        lists: Sequence[tuple[str, NDArray[np.float64]]],
        samples: int | None,
        seed: int,
        records: Sequence[str],
        timeout: float,
        threads: int,
        progress: Callable[[float], object] | None = None,
    ) -> dict[str, Any]: ...
    def samples(
        self,
        *,
        q: NDArray[np.float64],
        motion: NDArray[np.float64],
        is_momentum: bool,
        times: NDArray[np.float64],
        threads: int,
    ) -> dict[str, Any]: ...
