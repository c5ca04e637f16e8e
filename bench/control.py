#!/usr/bin/env python3
"""carom beside CasADi + IPOPT: control problems from the text of the model to the optimum.

    python3 bench/control.py [--json] [--rounds N]

makes a virtual environment with CasADi in target/control-venv (once, from the package index) and measures both in turns, each in a
process of its own, since both keep what they have derived. The problem is the same, the transcription too (docs/control.md): svc,
controls constant on each step, q at the nodes, impulses and durations as unknowns; the costs must agree to 1e-6. A time of CasADi is
that of writing down the problem, of `nlpsol` (derivatives) and of the solve, without the start of Python and the import. A time of
carom is that of the whole command `carom optimize`, with its two runs that check the answer. The best of the rounds counts.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / "target" / "control-venv"
CAROM = ROOT / "target" / "release" / "carom"
PROBLEMS = {"pendulum": "pendulum-swingup", "cart-pole": "cart-pole", "strike": "strike", "hopper": "hop"}
TOLERANCE = 1e-8


def enter_environment():
    """Goes on in a Python that has CasADi."""
    try:
        import casadi  # noqa: F401

        return
    except ImportError:
        pass
    python = VENV / "bin" / "python"
    if Path(sys.prefix) == VENV:
        sys.exit("CasADi cannot be imported from " + str(VENV))
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", "casadi"], check=True)
    os.execv(python, [str(python), __file__, *sys.argv[1:]])


class Problem:
    """A nonlinear program that is written down row by row."""

    def __init__(self, ca):
        self.ca, self.x, self.x0, self.lower, self.upper = ca, [], [], [], []
        self.rows, self.row_lower, self.row_upper, self.cost = [], [], [], 0

    def unknown(self, name, guess, lower=-float("inf"), upper=float("inf")):
        symbol = self.ca.SX.sym(name)
        self.x.append(symbol)
        self.x0.append(guess)
        self.lower.append(lower)
        self.upper.append(upper)
        return symbol

    def ask(self, row, lower=0.0, upper=0.0):
        self.rows.append(row)
        self.row_lower.append(lower)
        self.row_upper.append(upper)

    def solver(self):
        nlp = {"x": self.ca.vertcat(*self.x), "f": self.cost, "g": self.ca.vertcat(*self.rows)}
        quiet = {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes", "ipopt.tol": TOLERANCE}
        quiet["ipopt.bound_relax_factor"] = 0.0
        return self.ca.nlpsol("solver", "ipopt", nlp, quiet)

    def solve(self, solver):
        bounds = {"lbx": self.lower, "ubx": self.upper, "lbg": self.row_lower, "ubg": self.row_upper}
        answer = solver(x0=self.x0, **bounds)
        stats = solver.stats()
        assert stats["success"], stats["return_status"]
        return float(answer["f"]), stats["iter_count"]


def svc(ca, n, controls, lagrangian, force, running):
    """One step of svc: (q0, q1, u, h) → p⁻, p⁺, cost."""
    q0, q1, u, h = ca.SX.sym("q0", n), ca.SX.sym("q1", n), ca.SX.sym("u", controls), ca.SX.sym("h")
    v = (q1 - q0) / h
    ld = h / 2 * (lagrangian(q0, v) + lagrangian(q1, v))
    minus = -ca.gradient(ld, q0) - h / 2 * force(u)
    plus = ca.gradient(ld, q1) + h / 2 * force(u)
    return ca.Function("step", [q0, q1, u, h], [minus, plus, h * running(u)])


def momentum(ca, n, lagrangian):
    q, v = ca.SX.sym("q", n), ca.SX.sym("v", n)
    return ca.Function("momentum", [q, v], [ca.gradient(lagrangian(q, v), v)])


def swing(ca, lagrangian, force, n, end, until, steps, limit, track=None):
    """From rest at 0 to rest at `end`, at the least ∫u²."""
    problem, h = Problem(ca), until / steps
    step = svc(ca, n, 1, lagrangian, force, lambda u: ca.sumsqr(u))
    q, before = ca.SX.zeros(n), None
    for k in range(steps):
        u = problem.unknown(f"u{k}", 0.0, -limit, limit)
        line = [e * (k + 1) / steps for e in end]
        if k + 1 < steps:
            within = lambda i: (-track, track) if track and i == 0 else (-float("inf"), float("inf"))  # noqa: E731
            following = ca.vertcat(*[problem.unknown(f"q{k}_{i}", line[i], *within(i)) for i in range(n)])
        else:
            following = ca.SX(ca.DM(end))
        minus, plus, cost = step(q, following, u, h)
        rest = minus if before is None else minus - before
        for i in range(n):
            problem.ask(rest[i])
        problem.cost += cost
        q, before = following, plus
    for i in range(n):
        problem.ask(before[i])
    return problem


def pendulum(ca):
    lagrangian = lambda q, v: v[0] ** 2 / 2 - 9.81 * (1 - ca.cos(q[0]))  # noqa: E731
    return swing(ca, lagrangian, lambda u: u, 1, [ca.pi], 3.0, 60, 5.0)


def cart_pole(ca):
    m1, m2, length, g = 1.0, 0.3, 0.5, 9.81

    def lagrangian(q, v):
        x, y = v[0] + length * ca.cos(q[1]) * v[1], length * ca.sin(q[1]) * v[1]
        return m1 * v[0] ** 2 / 2 + m2 * (x**2 + y**2) / 2 + m2 * g * length * ca.cos(q[1])

    return swing(ca, lagrangian, lambda u: ca.vertcat(u, 0), 2, [1.0, ca.pi], 2.0, 60, 20.0, 2.0)


def strike(ca):
    def lagrangian(q, v):
        a, b, w = q[0], q[0] + q[1], v[0] + v[1]
        x1, y1 = ca.cos(a) * v[0], ca.sin(a) * v[0]
        x2, y2 = x1 + ca.cos(b) * w, y1 + ca.sin(b) * w
        return (x1**2 + y1**2 + x2**2 + y2**2) / 2 + 10 * (2 * ca.cos(a) + ca.cos(b))

    problem, steps = Problem(ca), 30
    step = svc(ca, 2, 2, lagrangian, lambda u: u, lambda u: ca.sumsqr(u))
    of_velocity = momentum(ca, 2, lagrangian)
    first = problem.unknown("T1", 1.0, 0.1, 1.9)
    q, before = ca.SX.zeros(2), None
    for phase, duration in enumerate([first, 2.0 - first]):
        for k in range(steps):
            u = ca.vertcat(*[problem.unknown(f"u{phase}_{k}_{i}", 0.0) for i in range(2)])
            t = (k + 1) / steps
            if (phase, k + 1) == (1, steps):
                following = ca.SX.zeros(2)
            else:
                angle = -ca.asin(0.125) * (t if phase == 0 else 1 - t)
                following = ca.vertcat(problem.unknown(f"a{phase}_{k}", float(angle)), problem.unknown(f"b{phase}_{k}", 0.0))
            minus, plus, cost = step(q, following, u, duration / steps)
            rest = minus if before is None else minus - before
            for i in range(2):
                problem.ask(rest[i])
            problem.cost += cost
            q, before = following, plus
            if k + 1 < steps:
                problem.ask(ca.sin(q[0]) + ca.sin(q[0] + q[1]) + 0.25, 0.0, float("inf"))
        if phase == 0:
            gap = ca.sin(q[0]) + ca.sin(q[0] + q[1]) + 0.25
            problem.ask(gap)
            slope = ca.vertcat(ca.cos(q[0]) + ca.cos(q[0] + q[1]), ca.cos(q[0] + q[1]))
            impulse = problem.unknown("lambda", 1.0, 1.0)
            mass = ca.jacobian(of_velocity(q, w := ca.SX.sym("w", 2)), w)
            after = before + impulse * slope
            problem.ask(ca.dot(slope, ca.solve(ca.substitute(mass, w, ca.SX.zeros(2)), before + after)))
            before = after
    for i in range(2):
        problem.ask(before[i])
    return problem


def hopper(ca):
    big, small, stiffness, rest_length, g = 1.0, 0.2, 80.0, 0.5, 9.81

    def lagrangian(q, v):
        spring = q[0] - q[1] - rest_length
        return big * v[0] ** 2 / 2 + small * v[1] ** 2 / 2 - g * (big * q[0] + small * q[1]) - stiffness * spring**2 / 2

    problem, steps = Problem(ca), 40
    step = svc(ca, 2, 1, lagrangian, lambda u: ca.vertcat(u, -u), lambda u: ca.sumsqr(u))
    stance = problem.unknown("T1", 0.3, 0.1, 0.6)
    y0, p0 = problem.unknown("y0", 0.48, 0.1, 2.0), problem.unknown("p0", -1.4715)
    q, before = ca.vertcat(y0, 0), ca.vertcat(p0, 0)
    for phase, duration in enumerate([stance, 0.3]):
        for k in range(steps):
            u = problem.unknown(f"u{phase}_{k}", 0.0)
            s = (k + 1) / steps
            body = 0.48 - 0.25 * s * (1 - s) if phase == 0 else 0.5 + 0.4 * s * (1 - s)
            is_last = (phase, k + 1) == (1, steps)
            y = y0 if is_last else problem.unknown(f"y{phase}_{k}", body)
            foot = 0 if phase == 0 or is_last else problem.unknown(f"z{phase}_{k}", 0.2 * s * (1 - s), 0.0)
            following = ca.vertcat(y, foot)
            minus, plus, cost = step(q, following, u, duration / steps)
            problem.ask(minus[0] - before[0])
            if phase == 1:
                problem.ask(minus[1] - before[1])
            elif k > 0:
                problem.ask(minus[1] - before[1], 0.0, float("inf"))
            problem.cost += cost
            q, before = following, plus
        if phase == 0:
            before = ca.vertcat(before[0], 0)
    problem.ask(before[0] - p0)
    return problem


def casadi_once(name):
    """Prints the times and the answer of one problem, in seconds."""
    import casadi as ca

    begin = time.perf_counter()
    problem = {"pendulum": pendulum, "cart-pole": cart_pole, "strike": strike, "hopper": hopper}[name](ca)
    written = time.perf_counter()
    solver = problem.solver()
    derived = time.perf_counter()
    cost, iterations = problem.solve(solver)
    end = time.perf_counter()
    times = [written - begin, derived - written, end - derived]
    print(json.dumps({"times": times, "cost": cost, "iterations": iterations}))


def carom_once(name):
    begin = time.perf_counter()
    done = subprocess.run([str(CAROM), "optimize", name, "--json"], capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - begin
    answer = json.loads(done.stdout)
    return seconds, answer["seconds"], answer["cost"], answer["iterations"]


def main():
    rounds = int(sys.argv[sys.argv.index("--rounds") + 1]) if "--rounds" in sys.argv else 5
    if not CAROM.exists():
        sys.exit("first: cargo build --release")
    print(f"{'ms':<12}{'CasADi':>8}{'= write':>9}{'+ derive':>9}{'+ solve':>9}{'it.':>5}{'carom':>9}{'it.':>5}{'ratio':>8}{'cost':>18}")
    results = {}
    for name, shipped in PROBLEMS.items():
        theirs, ours = [], []
        for _ in range(rounds):
            call = [sys.executable, __file__, "--once", name]
            theirs.append(json.loads(subprocess.run(call, capture_output=True, text=True, check=True).stdout))
            ours.append(carom_once(shipped))
        best = min(theirs, key=lambda run: sum(run["times"]))
        seconds, _, cost, iterations = min(ours, key=lambda run: run[0])
        assert abs(cost / best["cost"] - 1) < 1e-6, (name, cost, best["cost"])
        total = sum(best["times"])
        parts = "".join(f"{1e3 * t:>9.1f}" for t in best["times"])
        print(f"{name:<12}{1e3 * total:>8.1f}{parts}{best['iterations']:>5}{1e3 * seconds:>9.1f}{iterations:>5}{total / seconds:>8.1f}{cost:>18.10f}")
        results[name] = {"casadi_ms": 1e3 * total, "carom_ms": 1e3 * seconds, "ratio": total / seconds}
    if "--json" in sys.argv:
        print(json.dumps(results))


if __name__ == "__main__":
    enter_environment()
    if "--once" in sys.argv:
        casadi_once(sys.argv[sys.argv.index("--once") + 1])
    else:
        main()
