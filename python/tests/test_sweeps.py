"""Sweeps, ensembles and what the commands compute beside runs."""

import json
from pathlib import Path

import carom
import numpy as np
import pytest

from conftest import command


def test_a_sweep_in_memory_has_the_rows_of_the_folder(tmp_path: Path) -> None:
    m = carom.load("impact-oscillator")
    axes = {"A": np.linspace(0.5, 0.9, 7), "initial.q[0]": carom.uniform(-1, 0.9)}
    memory = m.sweep(axes, samples=5, seed=7, until=20)
    folder = m.sweep(axes, samples=5, seed=7, until=20, out=tmp_path / "sweep")
    assert len(memory) == len(folder) == 35 and memory.counts["completed"] == 35 == folder.counts["completed"]
    a, b = memory.to_pandas().drop(columns="seconds"), folder.to_pandas().drop(columns="seconds")
    assert list(a.columns) == list(b.columns)
    for name in a.columns:
        x, y = (frame[name].astype(object) for frame in (a, b))
        assert x.where(x.notna(), None).tolist() == y.where(y.notna(), None).tolist(), name
    assert np.array_equal(memory["A"], np.repeat(np.linspace(0.5, 0.9, 7), 5))
    assert len(memory.to_polars()) == len(folder.to_polars()) == 35
    # The same call goes on where it was: nothing is left to do.
    assert m.sweep(axes, samples=5, seed=7, until=20, out=tmp_path / "sweep").counts["completed"] == 0
    with pytest.raises(carom.ModelError, match="seed"):
        m.sweep(axes, samples=5, seed=8, until=20, out=tmp_path / "sweep")


def test_statistics_in_place_of_rows(tmp_path: Path) -> None:
    m = carom.load("pendulum")
    found = m.sweep(g=np.linspace(9, 10, 50), record=[], reduce=["mean(theta)", "count(theta)"], out=tmp_path / "s", until=1)
    whole = m.sweep(g=np.linspace(9, 10, 50), until=1)
    assert found.statistics["count(theta)"] == 50
    assert found.statistics["mean(theta)"] == pytest.approx(whole["theta"].mean(), rel=1e-14)


def test_many_motions(pendulum: carom.Model) -> None:
    rng = np.random.default_rng(1)
    q, v = rng.uniform(0.2, 1, (20, 1)), rng.uniform(-1, 1, (20, 1))
    q[3] = -0.5
    runs = pendulum.run_many(q=q, v=v, t=[2.0])
    assert runs.q.shape == runs.v.shape == runs.p.shape == (20, 1, 1) and len(runs) == 20
    assert runs.status[3] == "refused" and "stop" in (runs.message[3] or "") and np.isnan(runs.q[3]).all()
    times = np.linspace(0, 2, 9)
    paths = pendulum.run_many(q=q, v=v, t=times)
    assert paths.q.shape == (20, 9, 1) and np.array_equal(np.delete(paths.q[:, 0], 3, 0), np.delete(q, 3, 0))
    good = np.arange(20) != 3
    assert np.allclose(paths.q[good, -1], runs.q[good, 0], rtol=0, atol=1e-8)
    for k in (0, 7):
        one = pendulum.set({"initial.q[0]": q[k, 0], "initial.v[0]": v[k, 0]}).run(until=2)
        assert np.allclose(one.at(times), paths.q[k], rtol=0, atol=1e-7)
        assert np.allclose(one.at(2.0, of="p"), runs.p[k, 0], rtol=0, atol=1e-7)
    heavy = pendulum.set(m=2)
    by_p = heavy.run_many(q=q, p=2 * v, t=times)
    assert np.allclose(by_p.q[good], paths.q[good], rtol=0, atol=1e-8)
    assert np.allclose(by_p.p[good], 2 * paths.v[good], rtol=0, atol=1e-7)


def test_after_a_failure_there_are_no_numbers() -> None:
    m = carom.Model(coordinates=["x"], T="x'^2/2", V="sqrt(x)", initial={"q": [1], "v": [0]})
    q, v = [[1.0], [1.0]], [[-2.0], [2.0]]
    ends = m.run_many(q=q, v=v, t=[1.0])
    assert ends.status == ["failed", "completed"] and ends.message[0]
    assert np.isnan(ends.q[0]).all() and np.isnan(ends.p[0]).all() and np.isfinite(ends.q[1]).all()
    times = np.linspace(0, 1, 11)
    paths = m.run_many(q=q, v=v, t=times)
    assert paths.status == ["failed", "completed"]
    assert np.isfinite(paths.q[0, :4]).all() and np.isnan(paths.q[0, -3:]).all() and np.isfinite(paths.q[1]).all()


def test_the_numbers_of_the_commands() -> None:
    m = carom.load("impact-oscillator")
    found = m.bifurcation(A=[0.5, 0.6, 0.7], at="strobe", transient=20, keep=5)
    told = command("bifurcation", "impact-oscillator", "--vary=A=0.5,0.6,0.7", "--at=strobe", "--transient=20", "--keep=5", "--json")
    theirs = json.loads(told.stdout)
    assert found.columns == theirs["columns"] and np.array_equal(found.to_pandas().to_numpy(), np.array(theirs["points"]))
    assert found.facts["values"] == theirs["values"]
    basins = m.basins({"initial.q[0]": [-1, 0, 0.5], "initial.v[0]": [-1, 1]}, at="strobe", transient=50, keep=4)
    assert len(basins) == 6 and "attractor" in basins.columns
    billiard = carom.load("elliptic-billiard")
    assert len(billiard.poincare({"initial.q[0]": [0.1, 0.2]}, at="cushion", transient=0, keep=5)) == 10


def test_exponents_derivatives_and_controls() -> None:
    m = carom.load("double-pendulum")
    exponents = m.lyapunov(until=20, method="cva", step=0.01)
    told = json.loads(command("lyapunov", "double-pendulum", "--until=20", "--method=cva", "--step=0.01", "--json").stdout)
    assert np.array_equal(exponents.exponents, told["exponents"]) and exponents.errors.shape == (4,)
    d = m.sensitivity(of=["final.q[0]"], by=["m1", "initial.q[0]"], method="cva", step=0.01, until=0.5)
    h = 1e-6
    ends = [m.set(m1=1 + s * h).run(method="cva", step=0.01, until=0.5).final.q[0] for s in (1, -1)]
    assert d["final.q[0]", "m1"] == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-6)
    assert d.matrix.shape == (1, 2)
    answer = carom.load("double-integrator").optimize()
    assert answer.success and len(answer.t) == len(answer.q) and set(answer.controls)
