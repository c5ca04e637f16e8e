"""The interface: models, runs, columns, dense output."""

import math
from pathlib import Path

import carom
import numpy as np
import pytest


def test_a_model_from_keywords_is_the_model_from_its_text(pendulum: carom.Model) -> None:
    assert pendulum.coordinates == ["theta"] and pendulum.walls == ["stop"]
    assert dict(pendulum.parameters) == {"m": 1.0, "R": 1.0, "g": 9.8}
    again = carom.loads(pendulum.text)
    assert again.text == pendulum.text
    a, b = pendulum.run(), again.run()
    assert np.array_equal(a.q, b.q) and a.impacts.wall == b.impacts.wall == ["stop"] * a.impacts.count


def test_rows_are_the_nodes() -> None:
    sol = carom.load("double-pendulum").run(until=8, method="cva", step=0.058)
    assert sol.success and sol.status == "completed" and sol.method == "cva" and sol.step == 0.058
    n = math.ceil(8 / 0.058)
    assert sol.steps == n and len(sol) == n + 1 and sol.t[0] == 0 and sol.t[-1] == 8
    assert sol.q.shape == sol.v.shape == sol.p.shape == (n + 1, 2)
    assert np.allclose(np.diff(sol.t)[:-1], 0.058, atol=1e-12)
    assert np.array_equal(sol["theta1"], sol.q[:, 0]) and np.array_equal(sol["theta2'"], sol.v[:, 1])
    assert sol["energy"][0] == pytest.approx(17.342618359)


def test_samples_are_dense_output_at_equal_times() -> None:
    m = carom.load("double-pendulum")
    sol = m.run(until=2, method="gauss4", step=0.05, every=0.01)
    assert len(sol) == 201 and np.allclose(sol.t, np.linspace(0, 2, 201), atol=1e-14)
    nodes = m.run(until=2, method="gauss4", step=0.05)
    assert np.allclose(sol.q, nodes.at(sol.t), rtol=0, atol=1e-13)


def test_arrays_are_read_only_and_own_the_memory_of_the_run(pendulum: carom.Model) -> None:
    sol = pendulum.run()
    for array in (sol.t, sol.q, sol.v, sol.p, sol.impacts.t, sol.impacts.v_plus, sol.final.q, sol["theta"]):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    # Rows are a view of the vector that Rust made.
    assert sol.q.base is not None and not sol.q.flags.owndata


def test_dense_output() -> None:
    sol = carom.load("double-pendulum").run()
    t, wall = sol.impacts.t, sol.impacts.wall
    assert len(t) == 5 and wall == ["left wall"] * 5
    assert sol.at(0.5).shape == (2,) and sol.at([0.5, 0.6]).shape == (2, 2) and sol.at([]).shape == (0, 2)
    # The state before and after an impact are those of the impact.
    for k in range(5):
        assert np.allclose(sol.at(t[k], of="v", side="-"), sol.impacts.v_minus[k], rtol=0, atol=1e-9)
        assert np.allclose(sol.at(t[k], of="v", side="+"), sol.impacts.v_plus[k], rtol=0, atol=1e-9)
        assert np.abs(sol.impacts.v_plus[k] - sol.impacts.v_minus[k]).max() > 0.1
    assert np.allclose(sol.at(sol.t, of="theta2'"), sol["theta2'"], rtol=0, atol=1e-11)
    assert np.allclose(sol.at(sol.t, of="p"), sol.p, rtol=0, atol=1e-11)
    assert np.allclose(sol.at([1.0, 2.0], of="energy"), 17.342618359, atol=1e-8)
    for wrong in (-0.1, 8.1, math.nan, [1.0, 9.0]):
        with pytest.raises(ValueError, match="outside the run"):
            sol.at(wrong)
    with pytest.raises(ValueError, match="did you mean `theta[12]`"):
        sol.at(1.0, of="theta")
    with pytest.raises(ValueError, match="side"):
        sol.at(1.0, side="before")
    with pytest.raises(ValueError, match="axis"):
        sol.at([[1.0]])


def test_diagnostics_by_name() -> None:
    sol = carom.load("double-pendulum").run(method="cva", step=0.058)
    drift = np.abs(sol["H_mod"] - sol["H_mod"][0])
    assert len(drift) == len(sol) and np.array_equal(sol["H_mod"], sol["modified"])
    assert sol["gap_left wall"].min() > -1e-9
    with pytest.raises(KeyError, match="did you mean `theta[12]`"):
        sol["theta"]
    with pytest.raises(TypeError):
        sol[0]  # type: ignore[index]


def test_a_run_goes_on_from_the_final_state() -> None:
    m = carom.load("double-pendulum")
    for options in ({"method": "cva", "step": 0.015625}, {}, {"method": "gauss4", "step": 0.125}):
        whole = m.run(until=8, **options)  # type: ignore[arg-type]
        half = m.run(until=4, **options)  # type: ignore[arg-type]
        rest = m.run(until=8, start=half.final, **options)  # type: ignore[arg-type]
        assert rest.t[0] == 4 and rest.t[-1] == 8
        # Steps that are told go on to roundoff, controlled ones to the tolerance.
        atol = 1e-12 if "step" in options else 1e-6
        assert np.allclose(rest.final.q, whole.final.q, rtol=0, atol=atol), options
        assert np.allclose(rest.at([4.0, 6.0]), whole.at([4.0, 6.0]), rtol=0, atol=atol), options


def test_other_values_make_another_model(pendulum: carom.Model) -> None:
    moon = pendulum.set(g=1.62)
    assert moon.parameters["g"] == 1.62 and pendulum.parameters["g"] == 9.8
    assert moon.run().impacts.t[0] > 2 * pendulum.run().impacts.t[0]
    assert pendulum.set({"initial.q[0]": 0.3}).run().q[0, 0] == 0.3
    assert pendulum.set({"initial.q[0]": "pi/5"}).run().q[0, 0] == math.pi / 5
    assert pendulum.set({"run.zeno": "stop"}).settings == ["run.zeno=stop"]


def test_account_sections_and_rest() -> None:
    sol = carom.load("braked-pendulum").run()
    assert sol.account is not None and sol.account.work < 0
    assert sol["energy"][-1] - sol["energy"][0] == pytest.approx(sum(sol.account), abs=1e-9)
    ball = carom.load("bouncing-ball").run(until=15)
    assert [event for _, _, event in ball.rest] == ["rest"] and ball.final.q[0] == pytest.approx(0, abs=1e-9)
    crossed = carom.load("pendulum").text + '\n[[section]]\nname = "bottom"\ng = "theta\'"\n'
    sol = carom.loads(crossed).run()
    found = sol.sections["bottom"]
    assert len(found.t) > 0 and np.allclose(found.v, 0, atol=1e-9)


def test_equations_check_and_comparison(pendulum: carom.Model) -> None:
    assert r"\ddot" in pendulum.equations.latex and "θ̈" in pendulum.equations.text
    assert pendulum.equations.document.startswith("\\documentclass") and "<html" in pendulum.equations.html
    assert "no mistakes found" in pendulum.check()
    table = pendulum.compare(methods=["cva", "gauss4"], steps=[0.05, 0.025])
    assert len(table) == 4 and table["method"] == ["cva", "cva", "gauss4", "gauss4"]
    assert table["l2_error"][-1] < table["l2_error"][0] and len(table.to_pandas()) == len(table.to_polars()) == 4


def test_files(pendulum: carom.Model, tmp_path: Path) -> None:
    import pandas
    import polars

    sol = pendulum.run()
    sol.report(tmp_path / "x.html")
    assert b"<html" in (tmp_path / "x.html").read_bytes()[:200]
    sol.animate(tmp_path / "x.gif")
    assert (tmp_path / "x.gif").read_bytes().startswith(b"GIF89a")
    picture = sol.plot(tmp_path / "x.png", show="energy")
    assert picture._repr_svg_().startswith("<svg") and (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    names = ["t", "theta", "theta'", "p_theta", "energy"]
    assert sol.columns == names == list(sol.to_pandas().columns) == sol.to_polars().columns
    for path, read in (("x.parquet", pandas.read_parquet), ("x.csv", pandas.read_csv)):
        sol.save(tmp_path / path)
        assert np.array_equal(read(tmp_path / path).to_numpy(), sol.to_pandas().to_numpy())
    assert polars.read_parquet(tmp_path / "x.parquet").equals(sol.to_polars())
    with pytest.raises(ValueError, match="parquet"):
        sol.save(tmp_path / "x.xlsx")
    with pytest.raises(carom.ModelError, match="show|panel|variable"):
        sol.plot(show="nonsense")


def test_the_lecture_in_under_ten_lines(tmp_path: Path) -> None:
    m = carom.Model(
        coordinates=["x", "y"],
        T="(x'^2 + y'^2)/2",
        V="9.8*y",
        walls={"floor": "y"},
        initial={"q": [0, 1], "v": [1, 0]},
        points={"mass": ["x", "y"]},
        draw=[{"disk": "mass", "radius": 0.05}],
    )
    m.run(until=3).animate(tmp_path / "mass.gif")
    assert (tmp_path / "mass.gif").stat().st_size > 1000


def test_an_imported_robot() -> None:
    urdf = Path(__file__).parents[2] / "crates/carom-cli/tests/urdf/arm.urdf"
    arm = carom.from_urdf(urdf)
    assert arm.coordinates == ["shoulder", "elbow_joint", "slide", "finger_l", "finger_r"]
    floating = carom.from_urdf(urdf, floating=True)
    assert len(floating.coordinates) > len(arm.coordinates)
