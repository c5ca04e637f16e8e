#!/usr/bin/env python3
"""carom beside heyoka: the time of a whole run with impacts, at equal error of its final state.

    python3 bench/peers.py [--json] [--starts N] [--long]
    python3 bench/peers.py --ensemble      10,000 trajectories beside heyoka's batch mode

makes a virtual environment with heyoka in target/peers-venv (once, from the package index), measures heyoka with its own
terminal events and carom (the example `peers`) in turns, and prints the ratios. The error is Σ|z − z_exact| over q and p at
T = 5; the exact state is heyoka's at its finest tolerance, which must agree with tests/reference. A time is the median over
single runs by the clock on the wall, for the fastest setting whose error is small enough; the smallest median of the rounds
counts. `default` is a whole run with neither method nor step named, from the simulation to its outcome, without the estimate of
the error; `named` is the best constant step.

--json      ends with one line of JSON: µs and ratios for each case, and the ratio of --ensemble
--starts N  the same over N random starts: time against quantiles of the error, so that a lucky start counts for nothing
--long      T = 1000: time against the error of the energy
"""

import json
import math
import os
import random
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

    def energy(self, state):
        a, b, c = self.mass(state[:2])
        v, w = state[2], state[3]
        kinetic = 0.5 * (a * v * v + 2.0 * b * v * w + c * w * w)
        return kinetic + 10.0 * (1.2 * state[0] - 0.2 * 2.0 * math.cos(state[1]))

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

    def energy(self, state):
        a, b, c = self.mass(state[:2])
        v, w = state[2], state[3]
        kinetic = 0.5 * (a * v * v + 2.0 * b * v * w + c * w * w)
        return kinetic + 10.0 * (3.0 - 2.0 * math.cos(state[0]) - math.cos(state[0] + state[1]))

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


def settings(hy, system, target):
    """For each limit heyoka's integrator with the fastest tolerance, in half decades, whose error is small enough."""
    best = {}
    for exponent in range(8, 34):
        tolerance = 10.0 ** (-exponent / 2)
        ta = integrator(hy, system, tolerance)
        error = sum(abs(a - b) for a, b in zip(final(ta, system, UNTIL), target))
        median = statistics.median(timed(ta, system) for _ in range(30))
        for limit in LIMITS:
            if error <= limit and (limit not in best or median < best[limit][0]):
                best[limit] = (median, error, f"tol = {tolerance:.0e}", ta)
        # A smaller tolerance takes longer.
        if len(best) == len(LIMITS) and median > 1.3 * max(found[0] for found in best.values()):
            break
    return best


def timed(ta, system):
    """The time of one run in µs."""
    reset(ta, system)
    begin = time.perf_counter_ns()
    ta.propagate_until(UNTIL)
    return (time.perf_counter_ns() - begin) / 1e3


def callback_share(hy, system):
    """The time of the Python callbacks in a run, in µs: the function itself, called as often as there are impacts."""
    ta = integrator(hy, system, 1e-9)
    calls = []
    reset(ta, system)
    reflect = ta.t_events[0].callback
    for _ in range(300):
        begin = time.perf_counter_ns()
        reflect(ta, -1)
        calls.append((time.perf_counter_ns() - begin) / 1e3)
    return 3 * statistics.median(calls)


def example(arguments, text=None):
    """Lines of JSON that the example `peers` prints."""
    command = ["cargo", "run", "--release", "--quiet", "--example", "peers", "-p", "carom-bench", "--", *arguments]
    run = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, input=text)
    return [json.loads(line) for line in run.stdout.splitlines()]


def compare(hy, systems):
    """Rows of the table: carom's, with heyoka's best beside them."""
    targets = {system.key: exact(hy, system) for system in systems}
    chosen = {system.key: settings(hy, system, targets[system.key]) for system in systems}
    # In turns, and the best round of each: other work on the machine comes and goes.
    theirs, ours = [], []
    for _ in range(ROUNDS):
        ours.append(example(["--json"]))
        theirs.append({
            (system.key, limit): statistics.median(timed(ta, system) for _ in range(1000))
            for system in systems
            for limit, (_, _, _, ta) in chosen[system.key].items()
        })
    rows = []
    for all_rounds in zip(*ours):
        row = dict(all_rounds[0])
        # The settings of a round belong to its time.
        for key in ["named", "default", "default_with_estimate"]:
            best = min(all_rounds, key=lambda part: part[key])
            for part in [key, f"{key}_error", f"{key}_steps", f"{key}_how"]:
                row[part] = best[part]
            row[f"{key}_spread"] = max(part[key] for part in all_rounds) / best[key]
        system = next(system for system in systems if system.key == row["model"])
        gap = sum(abs(a - b) for a, b in zip(row["exact"], targets[system.key]))
        if not gap < 1e-9:
            sys.exit(f"carom and heyoka disagree on {system.name}: {gap:.0e}")
        times = [part[system.key, row["limit"]] for part in theirs]
        row["heyoka"], row["heyoka_spread"] = min(times), max(times) / min(times)
        _, row["heyoka_error"], row["heyoka_how"], _ = chosen[system.key][row["limit"]]
        row["system"] = system
        rows.append(row)
    return rows


def table(rows, shares):
    print(f"{'':<22}{'error':>7}  {'heyoka':>22}  {'default':>22}  {'with estimate':>14}  {'named':>22}  ratios")
    for row in rows:
        cells = [f"{row[key]:.1f} µs ({row[key + '_error']:.0e})" for key in ["heyoka", "default", "named"]]
        ratios = [row["heyoka"] / row[key] for key in ["default", "named"]]
        print(
            f"{row['system'].name:<22}{row['limit']:>7.0e}  {cells[0]:>22}  {cells[1]:>22}  "
            f"{row['default_with_estimate']:>11.1f} µs  {cells[2]:>22}  {ratios[0]:.2f} {ratios[1]:.2f}"
            f"  (steps {row['default_steps']} and {row['named_steps']}; {row['default_how']}; {row['named_how']}; "
            f"rounds differ by {max(row[key + '_spread'] for key in ['heyoka', 'default', 'named']) - 1:.0%})"
        )
    for system, share in shares.items():
        print(f"{system}: {share:.1f} µs of heyoka's time are its three Python callbacks")


def in_json(rows, ensemble_ratio):
    names = {"cart-pendulum": "W1", "double-pendulum": "W2"}
    out = {}
    for row in rows:
        case = {key: round(row[key], 2) for key in ["heyoka", "default", "default_with_estimate", "named"]}
        case["default_ratio"] = round(row["heyoka"] / row["default"], 2)
        case["named_ratio"] = round(row["heyoka"] / row["named"], 2)
        limit = f"{row['limit']:.0e}".replace("e-0", "e-")
        out[f"{names[row['model']]} {limit}"] = case
    out["ensemble_ratio"] = round(ensemble_ratio, 2)
    return json.dumps(out)


def random_starts(system, count):
    """Starts near the standard one: every coordinate and velocity is moved."""
    rng = random.Random(2026)
    by = [1.0, 0.1, 0.1, 0.1] if system.key == "cart-pendulum" else [0.1] * 4
    return [[x + rng.uniform(-d, d) for x, d in zip(system.start, by)] for _ in range(count)]


def over_starts(hy, systems, count):
    """Time against quantiles of the error over many starts, for heyoka and for the default."""
    for system in systems:
        starts = random_starts(system, count)
        for limit in LIMITS:
            text = f"{system.key} {limit}\n" + "".join(" ".join(map(repr, start)) + "\n" for start in starts)
            ours = example(["--starts"], text)
            theirs = heyoka_over_starts(hy, system, starts, limit)
            print(f"{system.name}, limit {limit:.0e}, {count} starts: mean µs, error at 50, 90, 99, 100 %")
            for who, lines in [("heyoka", theirs), ("default", ours)]:
                for line in lines:
                    quantiles = ", ".join(f"{line[key]:.1e}" for key in ["q50", "q90", "q99", "q100"])
                    print(f"  {who:<8} tolerance {line['tolerance']:.0e}: {line['mean']:7.1f} µs  {quantiles}")
            good = [[line["mean"] for line in lines if line["q99"] <= limit] for lines in [theirs, ours]]
            if all(good):
                print(f"  99 % within {limit:.0e}: {min(good[0]):.1f} and {min(good[1]):.1f} µs, "
                      f"ratio {min(good[0]) / min(good[1]):.2f}")


def heyoka_over_starts(hy, system, starts, limit):
    standard, finest = system.start, integrator(hy, system, 1e-18)
    targets = []
    for system.start in starts:
        targets.append(final(finest, system, UNTIL))
    lines = []
    for half in range(0, 8):
        tolerance = limit * 10.0 ** (-half / 2)
        ta = integrator(hy, system, tolerance)
        errors, times = [], []
        for system.start, target in zip(starts, targets):
            errors.append(sum(abs(a - b) for a, b in zip(final(ta, system, UNTIL), target)))
            times.append(statistics.median(timed(ta, system) for _ in range(5)))
        errors.sort()
        at = lambda part: errors[round((len(errors) - 1) * part)]
        lines.append({"tolerance": tolerance, "mean": statistics.mean(times),
                      "q50": at(0.5), "q90": at(0.9), "q99": at(0.99), "q100": at(1.0)})
    system.start = standard
    return lines


def long(hy, systems):
    """T = 1000: CPU time against the error of the energy, for heyoka and for carom."""
    for system in systems:
        for tolerance in [1e-6, 1e-9, 1e-12, 1e-15]:
            ta = integrator(hy, system, tolerance)
            reset(ta, system)
            first = system.energy([float(x) for x in ta.state])
            begin = time.process_time_ns()
            ta.propagate_until(1000.0)
            spent = (time.process_time_ns() - begin) / 1e6
            drift = abs(system.energy([float(x) for x in ta.state]) / first - 1.0)
            print(json.dumps({"model": system.key, "how": f"heyoka, tol = {tolerance:.0e}", "ms": spent, "energy_error": drift}))
    for line in example(["--long"]):
        print(json.dumps(line))


def main():
    enter_environment()
    import heyoka as hy

    import ensemble

    if "--ensemble" in sys.argv:
        return ensemble.main(hy, CartPendulum())
    systems = [CartPendulum(), DoublePendulum()]
    if "--starts" in sys.argv:
        return over_starts(hy, systems, int(sys.argv[sys.argv.index("--starts") + 1]))
    if "--long" in sys.argv:
        return long(hy, systems)
    rows = compare(hy, systems)
    table(rows, {system.name: callback_share(hy, system) for system in systems})
    if "--json" in sys.argv:
        print(in_json(rows, ensemble.main(hy, CartPendulum())), flush=True)


if __name__ == "__main__":
    main()
