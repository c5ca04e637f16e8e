"""What the commands compute beside runs: comparisons, long-run motions, exponents, derivatives, controls."""

from __future__ import annotations

import csv
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._keywords import unknown
from ._sweep import axis_words
from ._table import Table, numbers

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ._model import Model


def _options(given: Mapping[str, Any]) -> list[str]:
    """Options as words: ``--name=value``; a flag if the value is true."""
    words = []
    for name, value in given.items():
        if value is None or value is False:
            continue
        option = "--" + name.replace("_", "-")
        words.append(option if value is True else f"{option}={value if isinstance(value, str) else repr(value)}")
    return words


def _number(value: Any) -> Any:
    return value if value is None or isinstance(value, (str, bool)) else float(value)


def compare(model: Model, methods: list[str], steps: list[float], until: float | None) -> Table:
    """``carom compare``."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "table.csv"
        words = _options({"methods": ",".join(methods), "steps": ",".join(map(repr, steps)), "out": str(out)})
        text = model._command("compare", *words, *_options({"until": _number(until)}))
        with out.open(newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
    import numpy as np

    columns: dict[str, Any] = {}
    for i, name in enumerate(rows[0]):
        cells = [row[i] if i < len(row) else "" for row in rows[1:]]
        if name in ("method", "message"):
            columns[name] = cells
        else:
            columns[name] = np.array([float(cell) if cell else np.nan for cell in cells])
    summary = "\n".join(line for line in text.splitlines() if not line.startswith("written"))
    return Table(columns, summary)


_LOOKS = ("at", "period", "transient", "keep", "method", "step", "tolerance", "until", "samples", "seed")
_MORE = {"bifurcation": ("back",), "basins": (), "poincare": ("starts",)}


def dynamics(model: Model, command: str, axes: Mapping[str, Any] | None, options: Mapping[str, Any]) -> Table:
    """``carom bifurcation``, ``basins`` and ``poincare``."""
    known = (*_LOOKS, *_MORE[command])
    varied = dict(axes or {})
    given = {}
    for name, value in options.items():
        if name in known:
            given[name] = value
        elif name in model.parameters:
            varied[name] = value
        else:
            raise unknown(f"Model.{command}()", name, [*known, *model.parameters])
    if given.get("at") is None:
        raise TypeError(f'Model.{command}() needs at=: "strobe", "impact" or the name of a section or a wall')
    for name in ("step", "tolerance", "until"):
        given[name] = _number(given.get(name))
    found = json.loads(model._command(command, *axis_words(varied), *_options(given), "--json"))
    columns = numbers(found.pop("points"), found.pop("columns"))
    return Table(columns, facts=found)


class Exponents:
    """Lyapunov exponents, the largest first."""

    #: The exponents.
    exponents: NDArray[np.float64]
    #: Their error bars.
    errors: NDArray[np.float64]

    def __init__(self, found: dict[str, Any]) -> None:
        import numpy as np

        self.exponents = np.array(found["exponents"], dtype=np.float64)
        self.errors = np.array(found["errors"], dtype=np.float64)
        self.status: str = found["status"]
        self.message: str | None = found.get("message")
        #: Everything that the command tells.
        self.facts = found

    def __repr__(self) -> str:
        lines = [f"λ{k + 1} {x: .8f} ± {e:.1e}" for k, (x, e) in enumerate(zip(self.exponents, self.errors, strict=True))]
        return "\n".join(lines)


def lyapunov(model: Model, *, count: int | None, **options: Any) -> Exponents:
    """``carom lyapunov``."""
    words = _options({"count": count, **{name: _number(value) for name, value in options.items()}})
    return Exponents(json.loads(model._command("lyapunov", *words, "--json")))


class Derivatives:
    """Derivatives of the results of a run: rows are what is differentiated, columns by what."""

    #: What is differentiated.
    of: list[str]
    #: By what.
    by: list[str]
    #: The values of what is differentiated.
    values: NDArray[np.float64]
    #: The derivatives, (of, by).
    matrix: NDArray[np.float64]

    def __init__(self, found: dict[str, Any]) -> None:
        import numpy as np

        self.of, self.by = found["of"], found["by"]
        self.values = np.array(found["values"], dtype=np.float64)
        self.matrix = np.array(found["derivatives"], dtype=np.float64).reshape(len(self.of), len(self.by))
        self.status: str = found["status"]
        self.message: str | None = found.get("message")
        #: Everything that the command tells.
        self.facts = found

    def __getitem__(self, names: tuple[str, str]) -> float:
        of, by = names
        return float(self.matrix[self.of.index(of), self.by.index(by)])

    def __repr__(self) -> str:
        lines = [f"∂ {of} / ∂ {by} = {self[of, by]:.9g}" for of in self.of for by in self.by]
        return "\n".join(lines)


def _listed(names: Sequence[str] | str) -> str:
    return names if isinstance(names, str) else ",".join(names)


def sensitivity(model: Model, *, by: Sequence[str] | str, of: Sequence[str] | str, **options: Any) -> Derivatives:
    """``carom sensitivity``."""
    words = _options({"by": _listed(by), "of": _listed(of), **{name: _number(value) for name, value in options.items()}})
    return Derivatives(json.loads(model._command("sensitivity", *words, "--json")))


class Answer:
    """The answer to a control problem."""

    #: ``optimal``, ``infeasible``, …
    status: str
    message: str | None
    cost: float
    t: NDArray[np.float64]
    q: NDArray[np.float64]
    v: NDArray[np.float64]
    p: NDArray[np.float64]
    #: The controls by name, constant in each step.
    controls: dict[str, NDArray[np.float64]]

    def __init__(self, found: dict[str, Any]) -> None:
        import numpy as np

        self.status, self.message, self.cost = found["status"], found.get("message"), found["cost"]
        nodes = found["nodes"]
        self.t = np.array([node["t"] for node in nodes], dtype=np.float64)
        self.q, self.v, self.p = (np.array([node[part] for node in nodes], dtype=np.float64) for part in "qvp")
        self.controls = {name: np.array(values, dtype=np.float64) for name, values in found["controls"].items()}
        #: Everything that the command tells.
        self.facts = found

    @property
    def success(self) -> bool:
        """True if the answer is optimal."""
        return self.status == "optimal"

    def __repr__(self) -> str:
        return f"{self.status}: cost {self.cost!r}, t_end {float(self.t[-1])!r}, {self.facts['iterations']} iterations"


def optimize(model: Model, *, report: str | os.PathLike[str] | None, **options: Any) -> Answer:
    """``carom optimize``."""
    words = _options({**options, "report": None if report is None else os.fspath(report)})
    return Answer(json.loads(model._command("optimize", *words, "--json")))
