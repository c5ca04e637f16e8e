"""Models from SymPy and back."""

import warnings

import carom
import numpy as np
import pytest

sympy = pytest.importorskip("sympy")

t = sympy.Symbol("t")


def test_the_same_model_from_sympy(pendulum: carom.Model) -> None:
    th = sympy.Function("theta")(t)
    m, R, g = sympy.symbols("m R g", positive=True)
    L = m * R**2 * th.diff(t) ** 2 / 2 - m * g * R * (1 - sympy.cos(th))
    given = {"parameters": {m: 1, R: 1, g: 9.8}, "initial": {"q": [sympy.pi / 3], "v": [0]}, "until": 5}
    direct = carom.Model(coordinates=[th], L=L, walls=[carom.Wall(th, name="stop", restitution=0.9)], **given)
    other = carom.from_sympy(L, coordinates=[th], walls=[carom.Wall(th, name="stop", restitution=0.9)], **given)
    for model in (direct, other):
        a, b = model.run(), pendulum.run()
        assert a.impacts.count == b.impacts.count and np.allclose(a.final.q, b.final.q, rtol=0, atol=1e-8)
    named = carom.Model(coordinates=[th], L=L, walls={"stop": th}, **given)
    assert named.walls == ["stop"]


def test_symbols_without_a_value_are_one_with_a_warning() -> None:
    th = sympy.Function("theta")(t)
    m, R, g, k = sympy.symbols("m R g k", positive=True)
    L = m * R**2 * th.diff(t) ** 2 / 2 - m * g * R * (1 - sympy.cos(th))
    start = {"q": [1], "v": [0]}
    expected = carom.Model(coordinates=[th], L=L, parameters={m: 1, R: 1, g: 1}, walls={"stop": th}, initial=start, until=5)
    for make in (carom.Model, carom.from_sympy):
        lagrangian = {"L": L} if make is carom.Model else {}
        words = () if make is carom.Model else (L,)
        with pytest.warns(carom.CaromWarning, match="the symbols `R`, `g`, `m` have no values and are 1; give parameters=") as told:
            model = make(*words, coordinates=[th], **lagrangian, walls={"stop": th}, initial=start, until=5)
        assert told[0].filename == __file__
        assert dict(model.parameters) == {"m": 1, "R": 1, "g": 1}
        assert np.array_equal(model.run().final.q, expected.run().final.q)
    # Each part counts; what has a value, or is defined, does not.
    with pytest.warns(carom.CaromWarning, match="the symbol `k` has no value and is 1"):
        carom.Model(coordinates=[th], L=L, parameters={"m": 1, R: 1, "g": 1}, walls=[carom.Wall(th, restitution=k)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = sympy.Symbol("x")
        carom.Model(coordinates=["x"], definitions={"k": "2"}, T="x'^2/2", V=k * x**2)
        with pytest.raises(carom.ModelError, match="unknown name `k`"):
            carom.Model(coordinates=["x"], T="x'^2/2", V="k*x^2")


def test_there_and_back() -> None:
    for name in ("double-pendulum", "cart-pendulum", "pendulum", "braked-pendulum", "four-bar", "wavy-floor"):
        model = carom.load(name)
        s = model.to_sympy()
        again = carom.Model(
            coordinates=s.coordinates,
            L=s.L,
            parameters=s.parameters,
            walls=[carom.Wall(phi, name=w, restitution=s.restitution[w]) for w, phi in s.walls.items()],
            constraints=s.constraints,
            forces=s.forces,
        )
        # The same Euler–Lagrange equations, as numbers at some state.
        back = again.to_sympy()
        rng = np.random.default_rng(3)
        values = {p: v for p, v in s.parameters.items()}
        values.update({s.t: 0.3})
        points = dict(zip([*s.coordinates, *(q.diff(s.t) for q in s.coordinates)], rng.uniform(0.2, 0.9, 100), strict=False))
        at = lambda e: float(e.subs(points).subs(values))  # noqa: E731
        assert at(back.L) == pytest.approx(at(s.L), rel=1e-12), name
        for wall, phi in s.walls.items():
            assert at(back.walls[wall]) == pytest.approx(at(phi), rel=1e-12)
        if s.T is not None:
            assert at(s.T - s.V) == pytest.approx(at(s.L), rel=1e-12)


def test_what_sympy_knows_and_carom_does_not() -> None:
    x = sympy.Function("x")(t)
    v = x.diff(t) ** 2 / 2
    for wrong in (sympy.gamma(x), sympy.besselj(0, x), sympy.Piecewise((x, x > 0), (0, True)), sympy.I * x, x.diff(t, 2)):
        with pytest.raises(ValueError, match="carom|real"):
            carom.Model(coordinates=[x], L=v - wrong)
    y = sympy.Function("y")(t, sympy.Symbol("s"))
    with pytest.raises(ValueError, match="function of t alone"):
        carom.Model(coordinates=[y], L=y)


def test_functions_and_numbers_keep_their_values() -> None:
    x = sympy.Function("x")(t)
    V = sympy.exp(-x) + sympy.sqrt(x) + sympy.Rational(1, 3) * x**3 - x ** sympy.Rational(-5, 2) + sympy.Abs(x) + sympy.E * x
    V += sympy.atan2(x, 2) + sympy.sinh(x) * sympy.Float("0.1") + sympy.log(x + 1) + sympy.tan(x / 7) - sympy.pi * x
    s = carom.Model(coordinates=[x], L=x.diff(t) ** 2 / 2 - V).to_sympy()
    q = s.coordinates[0]
    for value in (0.3, 1.7):
        mine = float((x.diff(t) ** 2 / 2 - V).subs(x.diff(t), 0).subs(x, value))
        assert float(s.L.subs(q.diff(s.t), 0).subs(q, value)) == pytest.approx(mine, rel=1e-13)
