"""A force that is a Python function."""

import gc
import pickle
import signal
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path
from typing import Any

import carom
import numpy as np
import pytest

Law = Any


def damping(t: float, q: Any, v: Any) -> Any:
    return -0.3 * v + 0.2 * np.sin(3 * t) * q


@pytest.fixture
def damped(pendulum: carom.Model) -> carom.Model:
    return pendulum.with_force(damping)


def as_expression(pendulum: carom.Model) -> carom.Model:
    return carom.loads(pendulum.text + "\n[forces]\ntheta = \"-0.3*theta' + 0.2*sin(3*t)*theta\"\n")


def test_a_function_does_what_an_expression_does(pendulum: carom.Model, damped: carom.Model) -> None:
    expected = as_expression(pendulum)
    for options in ({}, {"method": "svc", "step": 0.01}, {"method": "gauss4", "step": 0.05}, {"tolerance": 1e-6}):
        a, b = damped.run(**options), expected.run(**options)  # type: ignore[arg-type]
        assert a.success and len(a.impacts.t) == len(b.impacts.t) > 3, options
        loose = 1e-4 if "tolerance" in options else 1e-7
        assert np.allclose(a.final.q, b.final.q, rtol=0, atol=loose), options
        assert np.allclose(a.impacts.impulse, b.impacts.impulse, rtol=0, atol=loose), options
        assert a.account is not None and b.account is not None
        assert a.account.work == pytest.approx(b.account.work, abs=loose) and a.account.work < -0.1


def test_the_rest_of_the_interface(pendulum: carom.Model, damped: carom.Model, tmp_path: Path) -> None:
    assert pendulum.force is None and damped.force is damping and damped != pendulum
    assert damped == pendulum.with_force(damping) and hash(damped) == hash(pendulum)
    moon = damped.set(g=1.62)
    assert moon.force is damping and not np.array_equal(moon.run(until=1).final.q, damped.run(until=1).final.q)
    sol = damped.run(method="gauss4", step=0.05)
    expected = as_expression(pendulum).run(method="gauss4", step=0.05)
    times = [0.11, 2.3, 4.4]
    assert np.allclose(sol.at(times), expected.at(times), rtol=0, atol=1e-9)
    assert np.allclose(sol.at(times, of="energy"), expected.at(times, of="energy"), rtol=0, atol=1e-8)
    assert np.allclose(sol["gap_stop"], expected["gap_stop"], rtol=0, atol=1e-8, equal_nan=True)
    half = damped.run(method="gauss4", step=0.05, until=2.5)
    assert np.allclose(damped.run(method="gauss4", step=0.05, start=half.final).final.q, sol.final.q, rtol=0, atol=1e-9)
    # A picture is of the motion with the force: it ends with another energy than that without it.
    sol.report(tmp_path / "damped.html")
    assert "function" in (tmp_path / "damped.html").read_text(encoding="utf-8")
    assert sol.plot(show="energy").svg != pendulum.run(method="gauss4", step=0.05).plot(show="energy").svg
    assert "text/html" in sol._repr_mimebundle_() and "text/html" in damped._repr_mimebundle_()
    assert "a force that is a function" in damped.equations.text and "function" not in pendulum.equations.text
    assert "no mistakes" in damped.check()
    both = carom.Model(coordinates=["x"], L="x'^2/2", forces=lambda t, q, v: [1.0], initial={"q": [0], "v": [0]}, until=1)
    assert both.run(method="svc", step=0.1).final.q[0] == pytest.approx(0.5)
    with pytest.raises(KeyError, match="it needs expressions, but a force is a function"):
        sol["series"]


def test_what_needs_expressions_refuses(damped: carom.Model, tmp_path: Path) -> None:
    refused = {
        "Model.sweep()": lambda: damped.sweep(g=[1.0, 2.0]),
        "Model.sweep() ": lambda: damped.sweep(g=[1.0, 2.0], out=tmp_path / "sweep"),
        "Model.run_many()": lambda: damped.run_many(q=[[0.1]], v=[[0.0]], t=[1.0]),
        "Model.sensitivity()": lambda: damped.sensitivity(by="g"),
        "Model.lyapunov()": lambda: damped.lyapunov(),
        "Model.optimize()": lambda: damped.optimize(),
        "Model.bifurcation()": lambda: damped.bifurcation(g=[1.0, 2.0], at="impact"),
        "Model.to_sympy()": lambda: damped.to_sympy(),
    }
    for who, call in refused.items():
        with pytest.raises(carom.ModelError) as caught:
            call()  # type: ignore[no-untyped-call]
        assert str(caught.value).startswith(who.strip()) and "a force that is a function" in str(caught.value)
        assert caught.value.hint == "write the force as an expression"
    assert not (tmp_path / "sweep").exists()
    for whole in (damped, damped.run(method="svc", step=0.1)):
        with pytest.raises(TypeError, match="cannot pickle a model with a force that is a function"):
            pickle.dumps(whole)
    with pytest.raises(carom.ModelError, match="`dop853` does not call a function"):
        damped.run(method="dop853")
    with pytest.raises(carom.ModelError, match="forces act on the system"):
        damped.run(method="svc+dtec", step=0.1)
    driven = carom.Model(coordinates=["x", "y"], T="x'^2 + y'^2", V="x*y", prescribed={"y": "sin(t)"}, until=1)
    with pytest.raises(carom.ModelError, match="the coordinate `y` is prescribed"):
        driven.with_force(damping)


class Own(Exception):
    """An exception of the caller."""


def test_bad_functions_are_exceptions_with_the_cause(pendulum: carom.Model) -> None:
    def raises(t: float, q: Any, v: Any) -> Any:
        if t > 1:
            raise Own("broken")
        return 0 * q

    def wrong(value: Any) -> Law:
        return lambda t, q, v: value

    cases: list[tuple[Law, type[BaseException], str]] = [
        (raises, Own, "broken"),
        (lambda t, q, v: q[3], IndexError, "out of bounds"),
        (lambda t, q: q, TypeError, "positional argument"),
        (wrong(np.zeros(2)), ValueError, r"shape \(2,\), not \(1,\)"),
        (wrong(np.zeros((1, 1))), ValueError, r"shape \(1, 1\), not \(1,\)"),
        (wrong(0.0), ValueError, r"shape \(\), not \(1,\)"),
        (wrong(np.zeros(0)), ValueError, r"shape \(0,\), not \(1,\)"),
        (wrong(None), TypeError, "returned NoneType, not 1 numbers"),
        (wrong([None, 1]), ValueError, r"shape \(2,\)"),
        (wrong("x"), TypeError, "returned str, not 1 numbers"),
        (wrong([1j]), TypeError, "returned list, not 1 numbers"),
        (wrong([np.nan]), ValueError, "not finite"),
        (wrong(np.array([np.inf], dtype=np.float32)), ValueError, "not finite"),
        (wrong(object()), TypeError, "returned object, not 1 numbers"),
        (lambda t, q, v: sys.exit(3), SystemExit, "3"),
    ]
    for function, kind, text in cases:
        for options in ({}, {"method": "svc", "step": 0.1}, {"method": "rk4", "step": 0.1}):
            with pytest.raises(kind, match=text) as caught:
                pendulum.with_force(function).run(**options)  # type: ignore[arg-type]
            assert any("in the force, which was called with t = " in note for note in caught.value.__notes__)
        # Pictures and drawings call it too.
        with pytest.raises(kind, match=text):
            pendulum.with_force(function)._private.drawing()
    for no_function in (None, 3, "x", {"theta": "1"}):
        with pytest.raises(TypeError, match="function"):
            pendulum.with_force(no_function)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="forces is a mapping or a function, not list"):
        carom.Model(coordinates=["x"], L="x'^2", forces=["1"])  # type: ignore[arg-type]
    # What follows an exception is a new run.
    fickle = pendulum.with_force(raises)
    with pytest.raises(Own):
        fickle.run(method="svc", step=0.1)
    assert fickle.run(method="svc", step=0.1, until=0.9).success
    # Integers, lists and other numbers of NumPy are numbers.
    for value in ([1], (1.0,), np.ones(1, dtype=np.int32), np.ones(2)[::2]):
        assert pendulum.with_force(wrong(value)).run(method="svc", step=0.1, until=1).success


def test_an_exception_belongs_to_its_run(pendulum: carom.Model) -> None:
    faulty = threading.local()

    def law(t: float, q: Any, v: Any) -> Any:
        if getattr(faulty, "is_on", False) and t > 0.5:
            raise Own("broken")
        return -0.1 * v

    model = pendulum.with_force(law)
    expected = model.run(method="svc", step=0.01).final.q
    raised, results = [], []

    def bad() -> None:
        faulty.is_on = True
        for _ in range(50):
            try:
                model.run(method="svc", step=0.01)
            except Own:
                raised.append(True)

    def good() -> None:
        for _ in range(20):
            results.append(model.run(method="svc", step=0.01))

    threads = [threading.Thread(target=work) for work in (bad, good, bad, good)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(raised) == 100
    assert len(results) == 40 and all(sol.success and np.array_equal(sol.final.q, expected) for sol in results)

    # A function may run models too, with the same function.
    depth = threading.local()

    def nested(t: float, q: Any, v: Any) -> Any:
        if getattr(depth, "inner", False):
            raise Own("inner")
        depth.inner = True
        try:
            outer.run(method="svc", step=0.1, until=0.1)
        except Own:
            pass
        finally:
            depth.inner = False
        return [0.0]

    outer = pendulum.with_force(nested)
    assert outer.run(method="svc", step=0.1, until=0.2).success


def test_it_is_called_in_the_thread_that_asks(pendulum: carom.Model) -> None:
    threads = set()

    def watch(t: float, q: Any, v: Any) -> Any:
        threads.add(threading.get_ident())
        q[:], v[:] = np.nan, np.nan  # the arrays are its own
        return [0.0]

    assert pendulum.with_force(watch).run().success
    assert threads == {threading.get_ident()}
    free = pendulum.run(method="gauss4", step=0.01).final.q
    assert np.allclose(pendulum.with_force(watch).run(method="gauss4", step=0.01).final.q, free, rtol=0, atol=1e-9)


def test_a_function_lives_as_long_as_its_model(pendulum: carom.Model) -> None:
    def law(t: float, q: Any, v: Any) -> Any:
        return -v

    alive = weakref.ref(law)
    sol = pendulum.with_force(law).run(method="svc", step=0.1)
    del law
    gc.collect()
    assert alive() is not None and sol.at(0.05).shape == (1,)
    del sol
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("options", ["method='svc', step=1e-5", ""])
def test_ctrl_c(options: str) -> None:
    code = f"""
import time, carom
m = carom.load("pendulum").with_force(lambda t, q, v: -0.1*v)
m.run(method="svc", step=0.1, until=0.2)
print("begin", flush=True)
try:
    m.run(until=1e4, {options})
except KeyboardInterrupt:
    print(time.time(), flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begin\n"
        time.sleep(0.5)
        told = time.time()
        process.send_signal(signal.SIGINT)
        took = float(process.stdout.readline()) - told
    # 0.2 s on a quiet machine; tests may share theirs.
    assert took < 2.0, f"{took:.3f} s"
