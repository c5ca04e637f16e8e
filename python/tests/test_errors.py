"""Bad input: an exception with the cause, never a crash."""

import math
import pickle
import warnings
from pathlib import Path
from typing import Any

import carom
import numpy as np
import pytest


def test_an_error_shows_the_line(pendulum: carom.Model) -> None:
    text = pendulum.text.replace("cos(theta)", "cos(thetta)")
    with pytest.raises(carom.ModelError) as caught:
        carom.loads(text, name="my-model.toml")
    error = caught.value
    line = next(i for i, each in enumerate(text.splitlines(), 1) if "thetta" in each)
    assert isinstance(error, ValueError) and error.line == line and error.source == "my-model.toml"
    assert error.column == text.splitlines()[line - 1].index("thetta") + 1
    assert error.message == "unknown name `thetta`" and error.hint == "did you mean the coordinate `theta`?"
    assert "my-model.toml" in str(error) and "^^^^^^" in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


def test_unknown_keywords_are_type_errors_with_a_suggestion(pendulum: carom.Model) -> None:
    calls: list[tuple[Any, dict[str, Any], str]] = [
        (pendulum.run, {"untill": 3}, "`until`"),
        (pendulum.run, {"stepp": 3}, "`step`"),
        (pendulum.set, {"gg": 3}, "`g`"),
        (carom.Model, {"coordinate": ["x"]}, "`coordinates`"),
        (pendulum.lyapunov, {"counts": 3}, "`count`"),
        (pendulum.bifurcation, {"transients": 3}, "`transient`"),
        (pendulum.sweep, {"g": [1], "sample": 3}, "`samples`"),
    ]
    for function, keywords, hint in calls:
        with pytest.raises(TypeError, match=f"did you mean {hint}"):
            function(**keywords)
    with pytest.raises(TypeError, match="needs at=: "):
        pendulum.bifurcation(g=[1, 2])
    with pytest.raises(TypeError):
        pendulum.run(3)  # type: ignore[misc]


def test_what_is_no_model() -> None:
    for wrong in (None, 3, b"text", ["x"], object()):
        with pytest.raises(TypeError):
            carom.loads(wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            carom.load(wrong if not isinstance(wrong, bytes) else 3.5)  # type: ignore[arg-type]
    with pytest.raises(carom.ModelError, match="did you mean `double-pendulum`"):
        carom.load("double-pendulun")
    with pytest.raises(carom.ModelError, match="no such file"):
        carom.load(Path("/nowhere/at/all.toml"))
    for text in ("", "\0", "coordinates = 3", "a" * 5_000_000, "[" * 100_000, "coordinates = ['x']\n[lagrangian]\nL = '" + "(" * 5000 + "'"):
        with pytest.raises(carom.ModelError):
            carom.loads(text)
    with pytest.raises(TypeError, match="list of names"):
        carom.Model(coordinates="theta", L="theta'^2/2")
    with pytest.raises(TypeError):
        carom.Model(coordinates=[3], L="theta'^2/2")
    with pytest.raises(TypeError, match="not object"):
        carom.Model(coordinates=["x"], L=object())
    with pytest.raises(carom.ModelError):
        carom.Model(coordinates=["x"], L="x'^2/2", parameters={"m": math.nan})


def test_wrong_numbers(pendulum: carom.Model) -> None:
    for options in ({"until": -1}, {"until": math.nan}, {"step": 0}, {"step": -1}, {"step": math.inf}, {"tolerance": 0}):
        with pytest.raises(carom.ModelError):
            pendulum.run(**options)  # type: ignore[arg-type]
    for every in (0, -1, math.nan, math.inf):
        with pytest.raises(ValueError, match="every"):
            pendulum.run(every=every)
    with pytest.raises(carom.ModelError, match="did you mean"):
        pendulum.run(method="gaus4")
    with pytest.raises((TypeError, ValueError)):
        pendulum.run(until="soon")  # type: ignore[arg-type]
    with pytest.raises((TypeError, ValueError)):
        pendulum.run(until=object())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="start"):
        pendulum.run(start=3)  # type: ignore[arg-type]
    with pytest.raises(carom.ModelError):
        pendulum.set({"initial.q[0]": -1}).run()
    with pytest.raises(carom.ModelError):
        pendulum.set({"no.such.key": 1})


def test_a_state_of_another_model_is_refused(pendulum: carom.Model) -> None:
    final = carom.load("double-pendulum").run(until=1).final
    with pytest.raises(carom.ModelError, match="its coordinates are"):
        pendulum.run(start=final, until=5)
    end = pendulum.run().final
    with pytest.raises(carom.ModelError, match="not before the end time"):
        pendulum.run(start=end, until=2)


FALLS = """
coordinates = ["x"]
[lagrangian]
T = "x'^2/2"
V = "sqrt(x)"
[initial]
q = [1]
v = [-2]
[run]
until = 5
"""


def test_a_failed_run_is_a_solution() -> None:
    m = carom.loads(FALLS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", carom.CaromWarning)
        sol = m.run(method="cva", step=0.01)
        assert not sol.success and sol.status == "failed" and sol.message
        assert 0 < sol.final.t < 1 and len(sol) > 10 and sol.q[0, 0] == 1
        with pytest.raises(carom.RunError) as caught:
            m.run(method="cva", step=0.01, throw=True)
    assert isinstance(caught.value, RuntimeError) and caught.value.solution is not None
    assert np.array_equal(caught.value.solution.q, sol.q)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and np.array_equal(again.solution.q, sol.q)


def test_warnings_are_warnings_of_python() -> None:
    m = carom.load("double-pendulum")
    with pytest.warns(carom.CaromWarning, match="tolerance|chaotic|error"):
        m.run(until=60)


def test_shapes(pendulum: carom.Model) -> None:
    q, v = np.full((4, 1), 0.5), np.zeros((4, 1))
    for wrong in (np.zeros((4, 2)), np.zeros((3, 1)), np.full((4, 1), np.nan), np.zeros((4, 1, 1)), "x"):
        with pytest.raises((ValueError, TypeError)):
            pendulum.run_many(q=q, v=wrong)
    with pytest.raises(TypeError, match="either v or p"):
        pendulum.run_many(q=q)
    for times in ([], [[1]], [2, 1], [-1, 1], [math.nan]):
        with pytest.raises(ValueError):
            pendulum.run_many(q=q, v=v, t=times)
    for axis in ([], [[1, 2]], [math.nan], "nonsense"):
        with pytest.raises(ValueError):
            pendulum.sweep(g=axis)
    with pytest.raises(carom.ModelError, match="no_such"):
        pendulum.sweep({"no_such": [1, 2]})


def test_a_pickle_of_another_version(pendulum: carom.Model) -> None:
    function, (_, *facts) = pendulum.__reduce__()
    with pytest.raises(ValueError, match="another version"):
        function(2, *facts)
    state = pendulum.run().__getstate__()
    with pytest.raises(ValueError, match="another version"):
        carom.Solution.__new__(carom.Solution).__setstate__({**state, "version": 2})
