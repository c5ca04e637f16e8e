"""Tables of named columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _carom

if TYPE_CHECKING:
    import pandas
    import polars


class Table:
    """Named columns of equal length."""

    def __init__(self, columns: Mapping[str, Any], summary: str = "", facts: Mapping[str, Any] | None = None) -> None:
        self._columns = dict(columns)
        self._summary = summary
        #: What the command tells beside the columns.
        self.facts: dict[str, Any] = dict(facts or {})

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._columns)

    def __getitem__(self, name: str) -> Any:
        try:
            return self._columns[name]
        except KeyError:
            near = _carom.suggestion(name, self.columns) if isinstance(name, str) else None
            hint = f"did you mean `{near}`?" if near else f"there are {', '.join(self.columns)}"
            raise KeyError(f"no column `{name}`; {hint}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), ()))

    def to_pandas(self) -> pandas.DataFrame:
        """As a pandas data frame."""
        import pandas

        return pandas.DataFrame(self._columns)

    def to_polars(self) -> polars.DataFrame:
        """As a polars data frame."""
        import polars

        return polars.DataFrame(self._columns)

    def __repr__(self) -> str:
        return self._summary or f"<{type(self).__name__}: {len(self)} rows of {', '.join(self.columns)}>"


def save(path: str | Path, columns: Mapping[str, Any]) -> None:
    """Writes columns of numbers to a file: ``.parquet`` or ``.csv``."""
    import numpy as np

    path = Path(path)
    arrays = {name: np.ascontiguousarray(values, dtype=np.float64) for name, values in columns.items()}
    if path.suffix == ".parquet":
        _carom.write_parquet(path, list(arrays.items()))
    elif path.suffix == ".csv":
        import csv

        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(arrays)
            writer.writerows(zip(*(values.tolist() for values in arrays.values()), strict=True))
    else:
        raise ValueError(f"a table is written as .parquet or .csv, not {path.suffix!r}")


def numbers(rows: list[list[float | None]], names: list[str]) -> dict[str, Any]:
    """Columns from rows of JSON, in which null is not a number."""
    import numpy as np

    table = np.array(rows, dtype=np.float64).reshape(len(rows), len(names))
    return {name: table[:, i] for i, name in enumerate(names)}
