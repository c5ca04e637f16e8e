#!/usr/bin/env python3
"""The floor test: one ball, e = 0.8, dropped from 10 m, until t = 15.

    python3 docs/floor-test.py

runs it with an event loop around SciPy's `solve_ivp`, with heyoka's terminal events, and with carom, prints where the ball ends,
and draws docs/floor-test.svg. Its bounces accumulate at t = sqrt(2 h/g) (1 + e)/(1 - e) = 12.850588; from there on the ball rests.

SciPy, heyoka and matplotlib come from the package index, into a virtual environment in target/floor-venv (once). carom is
target/release/carom, or the program in the variable CAROM.
"""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / "target" / "floor-venv"
PACKAGES = ["scipy", "heyoka", "matplotlib"]
G, E, HEIGHT, UNTIL = 9.81, 0.8, 10.0, 15.0
ACCUMULATES = math.sqrt(2 * HEIGHT / G) * (1 + E) / (1 - E)
EVERY = 0.005


def enter_environment():
    """Goes on in a Python that has the packages."""
    try:
        import heyoka, matplotlib, scipy  # noqa: E401, F401

        return
    except ImportError:
        pass
    python = VENV / "bin" / "python"
    if Path(sys.prefix) == VENV:
        sys.exit(f"{', '.join(PACKAGES)} cannot be imported from {VENV}")
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    os.execv(python, [str(python), __file__])


def scipy_loop():
    """As in many tutorials: integrate to the event, turn the velocity, go on."""
    from scipy.integrate import solve_ivp

    def fall(_, z):
        return [z[1], -G]

    def floor(_, z):
        return z[0]

    floor.terminal, floor.direction = True, -1
    t, z, path, bounces = 0.0, [HEIGHT, 0.0], [], 0
    while t < UNTIL:
        run = solve_ivp(fall, (t, UNTIL), z, events=floor, rtol=1e-9, atol=1e-9, max_step=0.05)
        path += list(zip(run.t, run.y[0]))
        t, (y, v) = run.t[-1], run.y[:, -1]
        met = run.status == 1
        z, bounces = [y, -E * v if met else v], bounces + met
    return path, bounces, run.message


def heyoka_events():
    """A terminal event whose callback turns the velocity."""
    import heyoka as hy

    y, v = hy.make_vars("y", "v")
    bounces = 0

    def bounce(ta, _):
        nonlocal bounces
        bounces += 1
        ta.state[1] = -E * ta.state[1]
        return True

    event = hy.t_event(y, direction=hy.event_direction.negative, callback=bounce)
    ta = hy.taylor_adaptive([(y, v), (v, hy.expression(-G))], [HEIGHT, 0.0], t_events=[event])
    path = []
    for k in range(round(UNTIL / EVERY) + 1):
        outcome = ta.propagate_until(k * EVERY)[0]
        path.append((ta.time, ta.state[0]))
    return path, bounces, str(outcome)


def carom():
    """The shipped model bouncing-ball with these numbers."""
    program = os.environ.get("CAROM", str(ROOT / "target" / "release" / "carom"))
    numbers = ["--set", f"e={E}", "--set", f"h={HEIGHT}", "--until", str(UNTIL)]
    arguments = [program, "run", "bouncing-ball", *numbers, "--json", "--every", str(EVERY)]
    run = json.loads(subprocess.run(arguments, check=True, capture_output=True).stdout)
    rest = run["rest"][0]["t"]
    print(f"carom rests from t = {rest:.9f} on; in closed form {ACCUMULATES:.9f}")
    path = [(node["t"], node["q"][0]) for node in run["nodes"]]
    return path, len(run["impacts"]), run["status"]


def draw(paths):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "carom", "font.size": 10})
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
    axes.axhline(0, color="#888888", linewidth=1)
    axes.text(0.1, -1.6, "floor", color="#888888")
    styles = [("#d1495b", "-", 3.0), ("#edae49", "--", 1.5), ("#00798c", "-", 1.5)]
    for (name, path), (color, line, width) in zip(paths.items(), styles):
        axes.plot(*zip(*path), line, color=color, linewidth=width, label=f"{name}: ends at {path[-1][1]:.2f} m".replace("-", "−"))
    axes.set(xlabel="t [s]", ylabel="height [m]", xlim=(0, UNTIL), title="A ball dropped from 10 m, e = 0.8")
    axes.legend(loc="lower left", frameon=False)
    figure.savefig(ROOT / "docs" / "floor-test.svg", metadata={"Date": None})


def main():
    enter_environment()
    import heyoka
    import scipy

    runs = {
        f"SciPy {scipy.__version__}": scipy_loop(),
        f"heyoka {heyoka.__version__}": heyoka_events(),
        "carom": carom(),
    }
    for name, (path, bounces, message) in runs.items():
        print(f"{name}: {bounces} bounces, ends at y = {path[-1][1]:.6f} m, says: {message}")
    draw({name: path for name, (path, _, _) in runs.items()})


if __name__ == "__main__":
    main()
