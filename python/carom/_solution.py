"""A run: arrays by name, impacts, dense output, pictures."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _carom
from ._errors import CaromWarning, RunError

if TYPE_CHECKING:
    import numpy as np
    import pandas
    import polars
    from numpy.typing import ArrayLike, NDArray

    from ._model import Model

    Array = NDArray[np.float64]

#: Runs with more arcs than this are made again when dense output is asked for.
MOST_ARCS = 200_000


class Account(NamedTuple):
    """What changed the energy."""

    #: The work of forces.
    work: float
    #: What driven coordinates and moving walls added.
    drives: float
    #: What impacts took.
    impacts: float
    #: The rest, which is the error of the method.
    unexplained: float


class Impacts(NamedTuple):
    """The impacts of a run, in order of time."""

    t: Array
    #: The names of the walls.
    wall: list[str]
    #: λ, along the gradient of the gap.
    impulse: Array
    q: Array
    v_minus: Array
    v_plus: Array
    p_minus: Array
    p_plus: Array

    @property
    def count(self) -> int:  # type: ignore[override]
        """The number of impacts."""
        return len(self.t)


class Crossings(NamedTuple):
    """The crossings of a section, in order of time."""

    t: Array
    q: Array
    v: Array
    p: Array


class State:
    """The final state of a run, complete enough to resume from: ``m.run(start=sol.final, until=…)``."""

    t: float
    q: Array
    v: Array
    p: Array

    def __init__(self, t: float, q: Array, v: Array, p: Array, text: str) -> None:
        self.t, self.q, self.v, self.p, self._text = t, q, v, p, text

    def __repr__(self) -> str:
        return f"State(t={self.t!r}, q={self.q.tolist()!r}, v={self.v.tolist()!r})"


class Solution:
    """A run. Rows are the nodes of the steps, or the samples with ``every``; impacts are no rows."""

    #: The model, with the settings of the run.
    model: Model
    #: The times, (n,). All arrays are read-only.
    t: Array
    #: Coordinates, (n, dof).
    q: Array
    #: Velocities, (n, dof).
    v: Array
    #: Momenta, (n, dof).
    p: Array
    impacts: Impacts
    #: The crossings of each section, by its name.
    sections: Mapping[str, Crossings]
    #: Where walls begin (``rest``) and cease (``release``) to hold the motion: time, wall, event.
    rest: list[tuple[float, str, str]]
    account: Account | None
    #: ``completed``, ``stopped``, ``zeno`` or ``failed``.
    status: str
    #: Why, if it did not complete.
    message: str | None
    #: The estimated error, where carom chose the steps.
    error: float | None
    final: State
    warnings: list[str]
    notes: list[str]
    method: str
    #: The step; none if carom controls its length.
    step: float | None
    steps: int
    #: The largest |H − H(0)| at a node.
    drift: float

    def __init__(self, model: Model, found: dict[str, Any], start: State | None, every: float | None) -> None:
        self.model, self._start, self._every = model, start, every
        self._dense: _carom.Dense | None = found.pop("dense")
        self._found = found
        self._diagnostics: dict[str, Array] = {}
        self._spread()

    def _spread(self) -> None:
        found = self._found
        for name in ("t", "q", "v", "p", "rest", "status", "message", "error", "warnings", "notes"):
            setattr(self, name, found[name])
        for name in ("method", "step", "steps", "drift"):
            setattr(self, name, found[name])
        self.impacts = Impacts(**found["impacts"])
        self.sections = {name: Crossings(**all) for name, all in found["sections"].items()}
        self.account = None if found["account"] is None else Account(*found["account"])
        self.final = State(*found["final"])

    @property
    def success(self) -> bool:
        """False if the run failed."""
        return self.status != "failed"

    @property
    def columns(self) -> list[str]:
        """The names of the recorded columns: ``t``, coordinates, velocities, momenta, outputs, impulses of constraints, energy."""
        m = self.model
        names = ["t", *m.coordinates, *(f"{c}'" for c in m.coordinates), *(f"p_{c}" for c in m.coordinates)]
        return [*names, *m.outputs, *(f"lambda_{c}" for c in m.constraints), "energy"]

    def __len__(self) -> int:
        return len(self.t)

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __getitem__(self, name: str) -> Array:
        """A column by name: a coordinate, a velocity ``theta'``, an output, ``energy``, or a diagnostic such as ``H_mod``.

        Diagnostics are computed when they are asked for, by the same run made again.
        """
        if not isinstance(name, str):
            raise TypeError(f"a column has a name, which is a str, not {type(name).__name__}")
        column = self._column(name)
        return self._diagnostic(name) if column is None else column

    def _column(self, name: str) -> Array | None:
        m, found = self.model, self._found
        coordinates = m.coordinates
        if name in coordinates:
            return self.q[:, coordinates.index(name)]
        if name in m.outputs:
            outputs: Array = found["outputs"][:, m.outputs.index(name)]
            return outputs
        if name.endswith("'") and name[:-1] in coordinates:
            return self.v[:, coordinates.index(name[:-1])]
        if name.startswith("p_") and name[2:] in coordinates:
            return self.p[:, coordinates.index(name[2:])]
        if name.startswith("lambda_") and name[7:] in m.constraints:
            impulses: Array = found["lambda"][:, m.constraints.index(name[7:])]
            return impulses
        if name in ("t", "energy"):
            column: Array = found[name]
            return column
        return None

    def _diagnostic(self, name: str) -> Array:
        key = "modified" if name == "H_mod" else name
        if key not in self._diagnostics:
            registered = _carom.diagnostics()
            fits = [known for known in registered if key.startswith(known.replace("-", "_"))]
            if not fits:
                known = self.columns + ["H_mod", *(each.replace("-", "_") for each in registered)]
                near = _carom.suggestion(name, known)
                raise KeyError(f"no column `{name}`; " + (f"did you mean `{near}`?" if near else f"there are {known}"))
            found = self._again(diagnostics=max(fits, key=len))
            left_out = dict(found["left_out"])
            if left_out:
                raise KeyError(f"no column `{name}`: {'; '.join(left_out.values())}")
            self._diagnostics.update(zip(found["diagnostic_names"], found["diagnostics"].T, strict=True))
        if key not in self._diagnostics:
            raise KeyError(f"no column `{name}`; there are {sorted(self._diagnostics)}")
        return self._diagnostics[key]

    def _again(self, **options: Any) -> dict[str, Any]:
        start = None if self._start is None else self._start._text
        return self.model._private.run(start=start, every=self._every, **options)

    def at(self, t: ArrayLike, *, of: str = "q", side: str = "+") -> Array:
        """The motion at any time of the run, to the order of the method: (len(t), dof), or (dof,) for a scalar t.

        ``of`` is ``q``, ``v``, ``p`` or the name of a column. ``side`` chooses the state before (``-``) or after (``+``) an
        impact at that time.
        """
        import numpy as np

        if side not in ("+", "-"):
            raise ValueError(f'side is "+" or "-", not {side!r}')
        times = np.asarray(t, dtype=np.float64)
        if times.ndim > 1:
            raise ValueError(f"t is a number or has one axis, not {times.ndim}")
        begin, end = self._found["span"]
        outside = ~((times >= begin) & (times <= end))
        if outside.any():
            wrong = float(times[outside][0]) if times.ndim else float(times)
            raise ValueError(f"t = {wrong} is outside the run, which goes from {begin} to {end}")
        pick = self._picker(of)
        flat = np.ascontiguousarray(times.reshape(-1))
        if not flat.size:
            return np.empty((0, len(self.model.coordinates)) if isinstance(pick, slice) else 0)
        found = self._look(flat, of, side == "-")
        values = found if of == "energy" else found[:, pick]
        return values if times.ndim else values[0]

    def _look(self, t: Array, of: str, before: bool) -> Array:
        """The states or the energies at some times, from a run that is made again if its dense output is not there."""
        while True:
            dense = self._dense
            if dense is not None and dense.end >= self._found["span"][1]:
                found = dense.energy(t) if of == "energy" else dense.at(t, before)
                if found is not None:
                    return found
            self._dense = self._again(arcs=2**62)["dense"]

    def _picker(self, of: str) -> slice | int:
        m, n = self.model, len(self.model.coordinates)
        parts = {"q": slice(1, 1 + n), "v": slice(1 + n, 1 + 2 * n), "p": slice(1 + 2 * n, 1 + 3 * n)}
        names = ["t", *m.coordinates, *(f"{c}'" for c in m.coordinates), *(f"p_{c}" for c in m.coordinates), *m.outputs]
        if of in m.coordinates or of in m.outputs:
            return names.index(of)
        if of in parts:
            return parts[of]
        if of in names:
            return names.index(of)
        if of == "energy":
            return 0
        near = _carom.suggestion(of, [*parts, *names, "energy"])
        hint = f"did you mean `{near}`?" if near else f"it is q, v, p or one of {', '.join(names)}"
        raise ValueError(f"of cannot be {of!r}; {hint}")

    def _table(self) -> dict[str, Array]:
        columns = {name: self._column(name) for name in self.columns}
        return {name: column for name, column in columns.items() if column is not None}

    def to_pandas(self) -> pandas.DataFrame:
        """The columns as a pandas data frame."""
        import pandas

        return pandas.DataFrame(self._table())

    def to_polars(self) -> polars.DataFrame:
        """The columns as a polars data frame."""
        import polars

        return polars.DataFrame(self._table())

    def save(self, path: str | Path) -> None:
        """Writes the columns to a file: ``.parquet`` or ``.csv``."""
        from ._table import save

        save(path, self._table())

    def _picture(self, *words: str) -> None:
        """Makes the run again and draws it. What it warns of was told before."""
        import tempfile

        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore", CaromWarning)
            restart = []
            if self._start is not None:
                file = Path(folder) / "start.json"
                file.write_text(self._start._text, encoding="utf-8")
                restart = ["--restart", str(file)]
            self.model._command("run", *restart, "--json", *words)

    def report(self, path: str | Path, *, show: str | None = None) -> None:
        """Writes one self-contained HTML page with the animation, plots, impacts and equations. Makes the run again."""
        self._picture("--report", str(path), *([] if show is None else ["--show", show]))

    def plot(self, path: str | Path | None = None, *, show: str | None = None, dark: bool = False) -> Picture:
        """Plots the run, to a file ``.svg`` or ``.png`` if one is given. ``show`` lists what is plotted: ``energy,gaps,theta1``.

        The picture that is returned shows itself in a notebook. Makes the run again.
        """
        import tempfile

        options = ([] if show is None else ["--show", show]) + (["--dark"] if dark else [])
        with tempfile.TemporaryDirectory() as folder:
            svg = Path(folder) / "plot.svg"
            self._picture("--plot", str(svg), *options, *([] if path is None else ["--plot", str(path)]))
            return Picture(svg.read_text(encoding="utf-8"))

    def animate(self, path: str | Path, *, dark: bool = False) -> None:
        """Writes an animation of the model's drawing: ``.gif``. Makes the run again."""
        self._picture("--animate", str(path), *(["--dark"] if dark else []))

    def __repr__(self) -> str:
        from ._display import summary

        return summary(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from ._display import bundle_of_solution

        return bundle_of_solution(self)

    def __getstate__(self) -> dict[str, Any]:
        return {"version": 1, "model": self.model, "start": self._start, "every": self._every, "found": self._found}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if state.get("version") != 1:
            raise ValueError("the pickle is of another version of carom")
        self.model, self._start, self._every, self._found = (state[k] for k in ("model", "start", "every", "found"))
        self._dense, self._diagnostics = None, {}
        for values in (self._found, self._found["impacts"], *self._found["sections"].values()):
            for value in values.values():
                if hasattr(value, "setflags"):
                    value.setflags(write=False)
        self._spread()


class Picture:
    """A picture that shows itself in a notebook."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> None:
        """Writes the SVG file."""
        Path(path).write_text(self.svg, encoding="utf-8")


def finish(
    model: Model,
    *,
    start: State | None,
    every: float | None,
    throw: bool,
    progress: Callable[[float], object] | None,
) -> Solution:
    """Runs a model that has all its settings."""
    text = None if start is None else start._text
    found = model._private.run(start=text, every=every, arcs=MOST_ARCS, progress=progress)
    solution = Solution(model, found, start, every)
    for message in solution.warnings:
        warnings.warn(message, CaromWarning, stacklevel=4)
    if throw and not solution.success:
        raise RunError(solution.message or "the run failed", solution)
    return solution
