#!/usr/bin/env python3
"""carom beside heyoka: the time of a whole run with impacts, at equal error of its final state.

    python3 bench/peers.py
    python3 bench/peers.py --ensemble      10,000 trajectories beside heyoka's batch mode

makes a virtual environment with heyoka in target/peers-venv (once, from the package index), measures heyoka with its own
terminal events and carom (the example `peers`) in turns, and prints the ratios. The error is Σ|z − z_exact| over q and p at
T = 5; the exact state is heyoka's at its finest tolerance, which must agree with tests/reference. A time is the
median over single runs, for the fastest setting whose error is small enough: of CPU time for heyoka, of the clock on the wall,
which is never less, for carom; the smallest median of three rounds counts.
"""

import json
import math
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / "target" / "peers-venv"
LIMITS = [1e-6, 1e-10]
UNTIL = 5.0
ROUNDS = 3


def enter_environment():
    """Goes on in a Python that has heyoka."""
    try:
        import heyoka  # noqa: F401

        return
    except ImportError:
        pass
    python = VENV / "bin" / "python"
    if Path(sys.prefix) == VENV:
        sys.exit("heyoka cannot be imported from " + str(VENV))
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", "heyoka"], check=True)
    os.execv(python, [str(python), __file__, *sys.argv[1:]])


class CartPendulum:
    """W1. State y, θ, y', θ'; M = [[m1 + m2, m2 L sin θ], [m2 L sin θ, m2 L²]]."""

    name, key = "W1 cart-pendulum", "cart-pendulum"
    start = [4.0, 0.0, 0.0, 3.5 - 0.18 * 4.0]

    def equations(self, hy):
        y, th, v, w = hy.make_vars("y", "th", "v", "w")
        m1, m2, length, g = 1.0, 0.2, 2.0, 10.0
        s, c = hy.sin(th), hy.cos(th)
        # (m1 + m2) y'' + m2 L s θ'' = −(m1 + m2) g − m2 L c θ'²;  m2 L s y'' + m2 L² θ'' = −m2 g L s
        acc_th = m2 * c * s * w * w / (m1 + m2 * c * c)
        acc_y = -g - (m2 * length / (m1 + m2)) * (s * acc_th + c * w * w)
        return [(y, v), (th, w), (v, acc_y), (w, acc_th)], y

    def mass(self, q):
        a = 0.4 * math.sin(q[1])
        return 1.2, a, 0.8

    def normal(self, q):
        return 1.0, 0.0

    def reference(self):
        case = json.loads((ROOT / "tests/reference/cart-pendulum.json").read_text())["exact"]["4.0"]
        return 5.0, [float(x) for x in case["z_T5"]]


class DoublePendulum:
    """W2. State θ1, θ2, θ1', θ2'; all masses and lengths 1, θ2 relative to the first rod."""

    name, key = "W2 double pendulum", "double-pendulum"

    def __init__(self):
        q, p = [0.5647, 1.1106], [3.7270, 0.2415]
        a, b, c = self.mass(q)
        det = a * c - b * b
        self.start = q + [(c * p[0] - b * p[1]) / det, (a * p[1] - b * p[0]) / det]

    def equations(self, hy):
        t1, t2, v1, v2 = hy.make_vars("t1", "t2", "v1", "v2")
        g = 10.0
        c2, s2 = hy.cos(t2), hy.sin(t2)
        s1, s12 = hy.sin(t1), hy.sin(t1 + t2)
        a, b = 3.0 + 2.0 * c2, 1.0 + c2
        r1 = s2 * v2 * (2.0 * v1 + v2) - g * (2.0 * s1 + s12)
        r2 = -s2 * v1 * v1 - g * s12
        det = a - b * b
        return [(t1, v1), (t2, v2), (v1, (r1 - b * r2) / det), (v2, (a * r2 - b * r1) / det)], s1 + s12 + 0.25

    def mass(self, q):
        c = math.cos(q[1])
        return 3.0 + 2.0 * c, 1.0 + c, 1.0

    def normal(self, q):
        c12 = math.cos(q[0] + q[1])
        return math.cos(q[0]) + c12, c12

    def reference(self):
        states = json.loads((ROOT / "tests/reference/double-pendulum.json").read_text())["exact"]["states"]
        return 4.0, [float(x) for x in states["4.0"]]


def momenta(system, state):
    """(q, v) → (q, p)."""
    a, b, c = system.mass(state[:2])
    v, w = state[2], state[3]
    return [state[0], state[1], a * v + b * w, b * v + c * w]


def integrator(hy, system, tolerance):
    """heyoka's Taylor integrator with a terminal event at the wall, which reflects the velocity."""
    equations, gap = system.equations(hy)

    def reflect(ta, _direction):
        state = ta.state
        q = [float(state[0]), float(state[1])]
        v, w = float(state[2]), float(state[3])
        a, b, c = system.mass(q)
        n1, n2 = system.normal(q)
        det = a * c - b * b
        i1, i2 = (c * n1 - b * n2) / det, (a * n2 - b * n1) / det
        impulse = -2.0 * (n1 * v + n2 * w) / (n1 * i1 + n2 * i2)
        state[2], state[3] = v + impulse * i1, w + impulse * i2
        return True

    event = hy.t_event(gap, callback=reflect, direction=hy.event_direction.negative)
    return hy.taylor_adaptive(equations, system.start, tol=tolerance, t_events=[event])


def reset(ta, system):
    ta.time = 0.0
    ta.state[:] = system.start
    ta.reset_cooldowns()


def final(ta, system, until):
    reset(ta, system)
    ta.propagate_until(until)
    return momenta(system, [float(x) for x in ta.state])


def exact(hy, system):
    """The final state at the finest tolerance, after a look at tests/reference."""
    ta = integrator(hy, system, 1e-18)
    at, reference = system.reference()
    gap = sum(abs(a - b) for a, b in zip(final(ta, system, at), reference))
    print(f"{system.name}: heyoka is within {gap:.0e} of tests/reference at t = {at}")
    if not gap < 1e-11:
        sys.exit("the equations given to heyoka are not those of the reference")
    return final(ta, system, UNTIL)


def heyoka(hy, system, target):
    """For each limit the median CPU time in µs, the error and the tolerance."""
    best = {}
    for exponent in range(8, 34):
        tolerance = 10.0 ** (-exponent / 2)
        ta = integrator(hy, system, tolerance)
        error = sum(abs(a - b) for a, b in zip(final(ta, system, UNTIL), target))
        times = []
        for _ in range(300):
            reset(ta, system)
            begin = time.process_time_ns()
            ta.propagate_until(UNTIL)
            times.append((time.process_time_ns() - begin) / 1e3)
        median = statistics.median(times)
        for limit in LIMITS:
            if error <= limit and (limit not in best or median < best[limit][0]):
                best[limit] = (median, error, f"tol = {tolerance:.0e}")
    return best


def carom():
    """Rows (key, limit, µs, error, how, final state of the reference run) of the example."""
    command = ["cargo", "run", "--release", "--quiet", "--example", "peers", "-p", "carom-bench", "--", "--json"]
    lines = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return [json.loads(line) for line in lines]


def main():
    enter_environment()
    import heyoka as hy

    if "--ensemble" in sys.argv:
        import ensemble

        ensemble.main(hy, CartPendulum(), json_only=False)
        return
    systems = [CartPendulum(), DoublePendulum()]
    targets = {system.key: exact(hy, system) for system in systems}
    # In turns, and the best round of each: other work on the machine comes and goes.
    rounds, ours = [], []
    for _ in range(ROUNDS):
        ours.append(carom())
        rounds.append({system.key: heyoka(hy, system, targets[system.key]) for system in systems})
    rows = [min(row, key=lambda row: row["median"]) for row in zip(*ours)]
    print(f"{'':<22}{'error':>7}  {'heyoka ' + hy.__version__:>24}  {'carom':>36}  heyoka/carom")
    for row in rows:
        system = next(system for system in systems if system.key == row["model"])
        gap = sum(abs(a - b) for a, b in zip(row["exact"], targets[system.key]))
        if not gap < 1e-10:
            sys.exit(f"carom and heyoka disagree on {system.name}: {gap:.0e}")
        time_h, error_h, how_h = min(part[system.key][row["limit"]] for part in rounds)
        theirs = f"{time_h:.1f} µs ({error_h:.0e}, {how_h})"
        mine = f"{row['median']:.1f} µs ({row['error']:.0e}, {row['how']})"
        print(f"{system.name:<22}{row['limit']:>7.0e}  {theirs:>24}  {mine:>36}  {time_h / row['median']:.2f}")


if __name__ == "__main__":
    main()
