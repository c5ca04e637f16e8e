"""Models."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from . import _build, _carom, _toml
from ._build import Expression, Force, Parts
from ._equations import Equations
from ._errors import CaromWarning, ModelError
from ._keywords import suggesting, unknown
from ._solution import Solution, State, finish

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ._analysis import Answer, Derivatives, Exponents
    from ._sweep import Ensemble, Sweep
    from ._table import Table

#: The arguments of a sweep that are no keywords.
_NO_OPTIONS = ("self", "axes", "parameters")


class Model:
    """A mechanical system with its start, the settings of a run and a drawing. It never changes: ``set`` makes a new one.

    Each part is what the section of that name is in the model format (docs/model-format.md). Expressions are texts, numbers or
    expressions of SymPy. ``more`` has any other section, as a mapping or a list of mappings. ``forces`` may be a function, as
    ``with_force`` takes it.
    """

    _private: _carom.Model

    @suggesting
    def __init__(
        self,
        *,
        coordinates: Sequence[Any],
        T: Expression | None = None,
        V: Expression | None = None,
        L: Expression | None = None,
        title: str | None = None,
        parameters: Mapping[Any, Any] | None = None,
        definitions: Mapping[str, Expression] | None = None,
        walls: Parts = None,
        constraints: Parts = None,
        forces: Mapping[Any, Expression] | Force | None = None,
        prescribed: Mapping[Any, Expression] | None = None,
        initial: Mapping[str, Any] | None = None,
        outputs: Mapping[str, Expression] | None = None,
        sections: Sequence[Mapping[str, Any]] | None = None,
        points: Mapping[str, Any] | None = None,
        draw: Sequence[Mapping[str, Any]] | None = None,
        method: str | None = None,
        step: float | None = None,
        tolerance: float | None = None,
        until: float | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> None:
        lagrangian = {"T": T, "V": V, "L": L}
        run = {"method": method, "step": step, "tolerance": tolerance, "until": until}
        further = {"section": sections, "points": points, "draw": draw}
        text = _build.text(
            coordinates=coordinates,
            title=title,
            parameters=parameters,
            definitions=definitions,
            lagrangian={name: part for name, part in lagrangian.items() if part is not None},
            walls=walls,
            constraints=constraints,
            forces=None if callable(forces) else forces,
            prescribed=prescribed,
            initial=initial,
            outputs=outputs,
            run={name: part for name, part in run.items() if part is not None},
            more={**{name: part for name, part in further.items() if part is not None}, **(more or {})},
        )
        self._take(_carom.Model("model", text, [], forces if callable(forces) else None))

    def _take(self, private: _carom.Model) -> None:
        self._private = private
        facts = private.facts()
        #: What it is called.
        self.title: str = facts["title"]
        #: The names of the coordinates.
        self.coordinates: list[str] = facts["coordinates"]
        #: The values of the parameters.
        self.parameters: Mapping[str, float] = MappingProxyType(facts["parameters"])
        #: The names of the walls.
        self.walls: list[str] = facts["walls"]
        #: The names of the constraints.
        self.constraints: list[str] = facts["constraints"]
        #: The names of the outputs.
        self.outputs: list[str] = facts["outputs"]
        #: The names of the sections.
        self.sections: list[str] = facts["sections"]
        #: The end time.
        self.until: float | None = facts["until"]
        #: A fingerprint of the text and its settings.
        self.hash: str = facts["hash"]

    @classmethod
    def _of(cls, private: _carom.Model) -> Model:
        model = cls.__new__(cls)
        model._take(private)
        return model

    def with_force(self, function: Force, /) -> Model:
        """A new model with a force that is a function, where no expression will do. It acts beside the forces of the model.

        ``function(t, q, v)`` gets the time and arrays of all coordinates and velocities, and returns the force on each
        coordinate, (dof,). It must not remember earlier calls: a step asks for states that the motion never reaches. Implicit
        methods find its slopes by differences, so that a step calls it many times (docs/python.md). Sweeps, ``run_many``,
        derivatives and pickle refuse such a model.
        """
        private = self._private
        if not callable(function):
            raise TypeError(f"a force is a function f(t, q, v), not {type(function).__name__}")
        return Model._of(_carom.Model(private.name, private.text, private.settings, function))

    @property
    def force(self) -> Force | None:
        """The function of ``with_force``."""
        return self._private.force

    def _needs_expressions(self, who: str) -> None:
        if self._private.force is not None:
            hint = "write the force as an expression"
            raise ModelError(f"{who} does not apply to a model with a force that is a function\nhelp: {hint}", hint=hint)

    @property
    def text(self) -> str:
        """The text of the model, without what ``set`` has changed."""
        return self._private.text

    @property
    def settings(self) -> list[str]:
        """What ``set`` has changed, as the option ``--set`` of the command takes it."""
        return self._private.settings

    def set(self, values: Mapping[str, Any] | None = None, /, **parameters: Any) -> Model:
        """A new model with other values: parameters by keyword, anything else by a mapping: ``{"initial.q[0]": 0.3}``.

        Nothing compiles anew if only numbers change.
        """
        for name in parameters:
            if name not in self.parameters:
                raise unknown("the model", name, self.parameters)
        given = {**(values or {}), **parameters}
        settings = [_toml.setting(str(name), value) for name, value in given.items()]
        return Model._of(self._private.with_settings(settings))

    def _with(self, **options: Any) -> Model:
        words = [f"--{name} {_toml.word(value)}" for name, value in options.items() if value is not None]
        return Model._of(self._private.with_settings(words)) if words else self

    @suggesting
    def run(
        self,
        *,
        until: float | None = None,
        method: str | None = None,
        step: float | str | None = None,
        tolerance: float | None = None,
        every: float | None = None,
        start: State | Solution | None = None,
        progress: bool = False,
        throw: bool = False,
    ) -> Solution:
        """Simulates the model.

        ``until`` is the end time, also of a run that goes on from ``start=sol.final``. Without a method and a step carom chooses
        both from the tolerance and estimates the error. With ``every`` the rows are samples at these intervals, else the nodes.
        A run that fails is a ``Solution`` with what it has; with ``throw`` it raises ``RunError``.
        """
        model = self._with(method=method, step=step, tolerance=tolerance, until=until)
        if every is not None:
            every = float(every)
            if not 0 < every < float("inf"):
                raise ValueError(f"every must be positive, not {every}")
        if isinstance(start, Solution):
            start = start.final
        if start is not None and not isinstance(start, State):
            raise TypeError(f"start is the final state of a solution, not {type(start).__name__}")
        if not progress:
            return finish(model, start=start, every=every, throw=throw, progress=None)
        from ._progress import bar

        with bar(model.until, 0.0 if start is None else start.t) as tell:
            return finish(model, start=start, every=every, throw=throw, progress=tell)

    def check(self) -> str:
        """Validates the model and evaluates its start. Returns what the command prints; a mistake is a ``ModelError``."""
        return self._command("check")

    @property
    def equations(self) -> Equations:
        """The equations of motion and the impact law."""
        return Equations(self)

    def _command(self, command: str, *words: str) -> str:
        """What a command prints about this model. Its warnings are warnings of Python."""
        if command not in ("check", "compare", "run"):
            self._needs_expressions(f"Model.{command}()")
        name, settings = self._private.name, self._private.settings
        typed = [word for setting in settings for word in _toml.typed(setting)]
        text, told, _, _ = _carom.call([command, name, *typed, *words], (name, self._private.text), self._private.force)
        for message in told:
            warnings.warn(message, CaromWarning, stacklevel=3)
        return text

    @suggesting
    def compare(self, *, methods: Iterable[str], steps: Iterable[float], until: float | None = None) -> Table:
        """Compares methods and steps with a reference motion: errors, drifts, order, time."""
        from ._analysis import compare

        return compare(self, list(methods), [float(step) for step in steps], until)

    @suggesting
    def run_many(
        self,
        *,
        q: ArrayLike,
        v: ArrayLike | None = None,
        p: ArrayLike | None = None,
        t: ArrayLike | None = None,
        method: str | None = None,
        step: float | str | None = None,
        tolerance: float | None = None,
        threads: int | None = None,
    ) -> Ensemble:
        """Runs a motion from each start: ``q`` and ``v`` or ``p`` are (trajectory, dof), ``t`` has the times that are kept.

        The last of them is the end time; without ``t`` only the end is kept. If the model names neither a method nor a step,
        motions go in lanes, several at once.
        """
        from ._sweep import run_many

        self._needs_expressions("Model.run_many()")
        model = self._with(method=method, step=step, tolerance=tolerance)
        return run_many(model, q, v, p, t, threads)

    def sweep(
        self,
        axes: Mapping[str, Any] | None = None,
        /,
        *,
        samples: int | None = None,
        seed: int = 0,
        record: Sequence[str] | str = ("final",),
        out: str | os.PathLike[str] | None = None,
        reduce: Sequence[str] | str = (),
        engine: Any = None,
        threads: int | None = None,
        timeout: float = 60.0,
        until: float | None = None,
        method: str | None = None,
        step: float | str | None = None,
        tolerance: float | None = None,
        progress: bool = False,
        **parameters: Any,
    ) -> Sweep:
        """Runs the model many times. Each axis is a parameter with its values, or ``carom.uniform``, ``normal`` or ``sobol``.

        Axes by keyword, or in a mapping for names that are no identifiers. Without ``out`` the rows are in memory; with it they
        are Parquet files in a folder, where the same call goes on. ``engine`` is a ``dask.distributed.Client`` or ``"ray"``.
        """
        from ._sweep import sweep

        self._needs_expressions("Model.sweep()")
        for name in parameters:
            if name not in self.parameters:
                options = [option for option in inspect.signature(Model.sweep).parameters if option not in _NO_OPTIONS]
                raise unknown("Model.sweep()", name, [*options, *self.parameters])
        model = self._with(method=method, step=step, tolerance=tolerance, until=until)
        lists: dict[str, Any] = {"record": [record] if isinstance(record, str) else list(record)}
        lists["reduce"] = [reduce] if isinstance(reduce, str) else list(reduce)
        means: dict[str, Any] = {"engine": engine, "threads": threads, "timeout": timeout, "progress": progress}
        return sweep(model, {**(axes or {}), **parameters}, samples=samples, seed=seed, out=out, **lists, **means)

    def bifurcation(self, axes: Mapping[str, Any] | None = None, /, **options: Any) -> Table:
        """Follows the long-run motion along a parameter: ``m.bifurcation(A=np.linspace(.5, 1.2, 700), at="strobe")``.

        Options: ``at``, ``period``, ``transient``, ``keep``, ``back``, ``method``, ``step``, ``tolerance``, ``until``.
        """
        from ._analysis import dynamics

        return dynamics(self, "bifurcation", axes, options)

    def basins(self, axes: Mapping[str, Any] | None = None, /, **options: Any) -> Table:
        """Finds which starts lead to which long-run motion, over two axes.

        Options: ``at``, ``period``, ``transient``, ``keep``, ``method``, ``step``, ``tolerance``, ``until``.
        """
        from ._analysis import dynamics

        return dynamics(self, "basins", axes, options)

    def poincare(self, axes: Mapping[str, Any] | None = None, /, **options: Any) -> Table:
        """Finds where motions cross a section or leave a wall.

        Options: ``at``, ``period``, ``transient``, ``keep``, ``starts``, ``method``, ``step``, ``tolerance``, ``until``.
        """
        from ._analysis import dynamics

        return dynamics(self, "poincare", axes, options)

    @suggesting
    def lyapunov(
        self,
        *,
        count: int | None = None,
        every: float | None = None,
        discard: float | None = None,
        method: str | None = None,
        step: float | str | None = None,
        until: float | None = None,
    ) -> Exponents:
        """The Lyapunov exponents through impacts, with error bars."""
        from ._analysis import lyapunov

        return lyapunov(self, count=count, every=every, discard=discard, method=method, step=step, until=until)

    @suggesting
    def sensitivity(
        self,
        *,
        by: Sequence[str] | str,
        of: Sequence[str] | str = "final",
        fixed: str | None = None,
        mode: str | None = None,
        method: str | None = None,
        step: float | str | None = None,
        until: float | None = None,
    ) -> Derivatives:
        """Derivatives of the results of a run by parameters and by the start, through impacts."""
        from ._analysis import sensitivity

        return sensitivity(self, by=by, of=of, fixed=fixed, mode=mode, method=method, step=step, until=until)

    @suggesting
    def optimize(
        self,
        *,
        method: str | None = None,
        tolerance: float | None = None,
        iterations: int | None = None,
        tries: int | None = None,
        refine: float | None = None,
        report: str | os.PathLike[str] | None = None,
    ) -> Answer:
        """Solves the control problem of the model."""
        from ._analysis import optimize

        options = {"method": method, "tolerance": tolerance, "iterations": iterations, "tries": tries, "refine": refine}
        return optimize(self, report=report, **options)

    def to_sympy(self) -> Any:
        """The mechanics as expressions of SymPy."""
        from ._sympy import to_sympy

        self._needs_expressions("Model.to_sympy()")
        return to_sympy(self)

    def __repr__(self) -> str:
        from ._display import describe

        return describe(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from ._display import bundle_of_model

        return bundle_of_model(self)

    def __eq__(self, other: object) -> bool:
        def facts(model: Model) -> tuple[Any, ...]:
            return model.text, model.settings, model.force

        return isinstance(other, Model) and facts(self) == facts(other)

    def __hash__(self) -> int:
        return hash((self.text, *self.settings))

    def __reduce__(self) -> tuple[Callable[..., Model], tuple[Any, ...]]:
        if self.force is not None:
            raise TypeError("cannot pickle a model with a force that is a function; write the force as an expression")
        return (_unpickle, (1, self._private.name, self._private.text, self._private.settings))


def _unpickle(version: int, *facts: Any) -> Model:
    if version != 1:
        raise ValueError("the pickle is of another version of carom")
    return Model._of(_carom.Model(*facts))
