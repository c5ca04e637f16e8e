"""Sweeps and ensembles."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _carom
from ._table import Table

if TYPE_CHECKING:
    import numpy as np
    import pandas
    import polars
    from numpy.typing import ArrayLike, NDArray

    from ._model import Model

    Array = NDArray[np.float64]


class Distribution(NamedTuple):
    """A random axis of a sweep."""

    kind: str
    a: float
    b: float


def uniform(a: float, b: float) -> Distribution:
    """Between a and b."""
    return Distribution("uniform", float(a), float(b))


def normal(mean: float, sd: float) -> Distribution:
    """By a normal distribution."""
    return Distribution("normal", float(mean), float(sd))


def sobol(a: float, b: float) -> Distribution:
    """Between a and b, by a sequence that fills the space evenly."""
    return Distribution("sobol", float(a), float(b))


def axis_text(name: str, values: Any) -> str:
    """``name=values``, as the option ``--vary`` takes it."""
    if isinstance(values, str):
        return f"{name}={values}"
    if isinstance(values, Distribution):
        return f"{name}={values.kind}({values.a!r},{values.b!r})"
    import numpy as np

    list_of = np.asarray(values, dtype=np.float64)
    if list_of.ndim > 1:
        raise ValueError(f"the values of `{name}` have one axis, not {list_of.ndim}")
    if not np.isfinite(list_of).all():
        raise ValueError(f"the values of `{name}` must be finite numbers")
    if list_of.size == 0:
        raise ValueError(f"`{name}` has no values")
    return f"{name}={','.join(map(repr, list_of.reshape(-1).tolist()))}"


def axis_words(axes: Mapping[str, Any]) -> list[str]:
    """The options ``--vary`` of some axes."""
    return [f"--vary={axis_text(name, values)}" for name, values in axes.items()]


def threads_of(given: int | None) -> int:
    """The number of threads: that of the processors if it is not given."""
    if given is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if given < 1:
        raise ValueError(f"threads must be at least 1, not {given}")
    return int(given)


class Sweep:
    """Many runs: a table in memory, or Parquet files in a folder."""

    def __init__(self, path: Path | None, table: Table | None, facts: dict[str, Any]) -> None:
        #: The folder; none if the rows are in memory.
        self.path = path
        self._table = table
        #: What the command tells: rows, those made by this call, the statistics of ``reduce``.
        self.facts = facts

    @property
    def counts(self) -> dict[str, int]:
        """The number of rows made by this call, by status."""
        return dict(self.facts["status"])

    @property
    def statistics(self) -> dict[str, Any]:
        """The values of ``reduce``, if all parts are there."""
        return {each["reduce"]: each["value"] for each in self.facts.get("statistics", [])}

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self._rows().columns

    def __getitem__(self, name: str) -> Any:
        return self._rows()[name]

    def __len__(self) -> int:
        return int(self.facts["rows"])

    def _rows(self) -> Table:
        if self._table is None:
            frame = self.to_polars()
            self._table = Table({name: frame[name].to_numpy() for name in frame.columns})
        return self._table

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a pandas data frame; those of a folder need pyarrow."""
        if self.path is None:
            return self._rows().to_pandas()
        import pandas

        return pandas.read_parquet(self.path).sort_values("run", ignore_index=True)

    def to_polars(self) -> polars.DataFrame:
        """The rows as a polars data frame."""
        if self.path is None:
            return self._rows().to_polars()
        import polars

        return polars.read_parquet(self.path / "part-*.parquet").sort("run")

    def __repr__(self) -> str:
        where = "in memory" if self.path is None else f"in {self.path}"
        counts = ", ".join(f"{count} {status}" for status, count in self.counts.items() if count)
        return f"<Sweep: {len(self)} rows {where}; {counts}>"


def sweep(
    model: Model,
    axes: Mapping[str, Any],
    *,
    samples: int | None,
    seed: int,
    record: list[str],
    out: str | os.PathLike[str] | None,
    reduce: list[str],
    engine: Any,
    threads: int | None,
    timeout: float,
    progress: bool,
) -> Sweep:
    """``carom sweep``."""
    if out is None:
        if engine is not None or reduce:
            raise ValueError("engine and reduce need a folder: give out=")
        return _in_memory(model, axes, samples, seed, record, timeout, threads_of(threads), progress)
    words = [*axis_words(axes), f"--seed={int(seed)}", f"--timeout={float(timeout)!r}", f"--out={os.fspath(out)}", "--json"]
    words += [] if samples is None else [f"--samples={int(samples)}"]
    words += [f"--record={name}" for name in record] if record else []
    words += [f"--reduce={statistic}" for statistic in reduce]
    made: dict[str, int] = {}
    if engine is not None:
        from ._engine import spread

        made = spread(model, words, Path(out), engine)
    # After an engine there is nothing left to do but to look at the parts and to merge their statistics.
    facts = json.loads(model._command("sweep", *words, f"--threads={threads_of(threads)}"))
    facts["status"] = {status: count + made.get(status, 0) for status, count in facts["status"].items()}
    return Sweep(Path(out), None, facts)


def _in_memory(
    model: Model,
    axes: Mapping[str, Any],
    samples: int | None,
    seed: int,
    record: list[str],
    timeout: float,
    threads: int,
    progress: bool,
) -> Sweep:
    texts = [axis_text(name, values) for name, values in axes.items()]

    def run(tell: Any) -> dict[str, Any]:
        return model._private.sweep(
            axes=texts,
            lists=[],
            samples=None if samples is None else int(samples),
            seed=int(seed),
            records=record,
            timeout=float(timeout),
            threads=threads,
            progress=tell,
        )

    if progress:
        from ._progress import bar

        with bar(None, unit="rows") as tell:
            columns = run(tell)
    else:
        columns = run(None)
    return Sweep(None, Table(columns), {"rows": len(columns["run"]), "status": _count(columns["status"])})


def _count(statuses: list[str]) -> dict[str, int]:
    return {status: statuses.count(status) for status in dict.fromkeys(statuses)}


class Ensemble:
    """Many motions: arrays are (trajectory, time, coordinate); what comes after a failure is not a number."""

    #: The times that were kept, (time,).
    t: Array
    q: Array
    v: Array
    p: Array
    #: How each motion ended: ``completed``, ``stopped``, ``failed``, ``refused`` or ``timeout``.
    status: list[str]
    #: Why, where it did not complete.
    message: list[str | None]

    def __init__(self, t: Array, found: dict[str, Any]) -> None:
        self.t, self.q, self.v, self.p = t, found["q"], found["v"], found["p"]
        self.status, self.message = found["status"], found["message"]

    def __len__(self) -> int:
        return len(self.status)

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {status}" for status, count in _count(self.status).items())
        return f"<Ensemble: {len(self)} motions at {len(self.t)} times; {counts}>"


def _starts(name: str, given: ArrayLike, shape: tuple[int, ...] | None, dof: int) -> Array:
    import numpy as np

    rows = np.ascontiguousarray(given, dtype=np.float64)
    if dof == 1 and rows.ndim == 1:
        rows = rows.reshape(-1, 1)
    if rows.ndim != 2 or rows.shape[1] != dof or (shape is not None and rows.shape != shape):
        wanted = shape or ("trajectories", dof)
        raise ValueError(f"{name} has the shape {rows.shape}, not {wanted}".replace("'", ""))
    if not np.isfinite(rows).all():
        raise ValueError(f"{name} must have finite numbers")
    return rows


def run_many(
    model: Model, q: ArrayLike, v: ArrayLike | None, p: ArrayLike | None, t: ArrayLike | None, threads: int | None
) -> Ensemble:
    """Runs a motion from each start."""
    import numpy as np

    dof = len(model.coordinates)
    starts = _starts("q", q, None, dof)
    if (v is None) == (p is None):
        raise TypeError("give either v or p")
    name, given = ("v", v) if v is not None else ("p", p)
    assert given is not None
    motion = _starts(name, given, starts.shape, dof)
    times = None if t is None else np.ascontiguousarray(np.atleast_1d(np.asarray(t, dtype=np.float64)))
    if times is not None:
        if times.ndim != 1 or times.size == 0 or not np.isfinite(times).all():
            raise ValueError("t has one axis with finite times")
        if (np.diff(times) < 0).any() or times[0] < 0:
            raise ValueError("the times t must not decrease, nor be before the start at 0")
        model = model._with(until=float(times[-1]))
    elif model.until is None:
        raise ValueError("the run has no end time: give t")
    else:
        times = np.array([model.until])
    if len(times) == 1 and name == "v" and model._private.facts()["motion"] == "v":
        return Ensemble(times, _ends(model, starts, motion, threads_of(threads)))
    found = model._private.samples(
        q=starts, motion=motion, is_momentum=name == "p", times=times, threads=threads_of(threads)
    )
    return Ensemble(times, found)


def _ends(model: Model, q: Array, v: Array, threads: int) -> dict[str, Any]:
    """The ends of all motions, in lanes if they can be."""
    import numpy as np

    n = q.shape[1]
    lists = [(f"initial.q[{i}]", np.ascontiguousarray(q[:, i])) for i in range(n)]
    lists += [(f"initial.v[{i}]", np.ascontiguousarray(v[:, i])) for i in range(n)]
    columns = model._private.sweep(
        axes=[],
        lists=lists,
        samples=None,
        seed=0,
        records=["final", *(f"p_{c}" for c in model.coordinates)],
        timeout=3600.0,
        threads=threads,
        progress=None,
    )
    ended = np.isin(columns["status"], ["completed"])

    def gather(names: list[str]) -> Array:
        values = np.stack([columns[name] for name in names], axis=-1)[:, None, :]
        values[~ended] = np.nan
        return values

    c = model.coordinates
    return {
        "q": gather(c),
        "v": gather([f"{name}'" for name in c]),
        "p": gather([f"p_{name}" for name in c]),
        "status": columns["status"],
        "message": columns["message"],
    }
