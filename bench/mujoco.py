#!/usr/bin/env python3
"""carom beside MuJoCo: chains of 5, 20 and 100 links at h = 0.01, in the plane and in space.

    python3 bench/mujoco.py

makes a virtual environment with MuJoCo in target/mujoco-venv (once, from the package index), runs the example `mechanisms` of carom
and the same chains in MuJoCo with its integrators, three times in turns, and prints the shortest times: µs a step, the largest
relative error of the energy, and the ratio to MuJoCo's implicitfast. The figures of trep for 5, 20 and 100 links were measured once, on another machine.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# This file has the name of the package: it must not be found in its place.
sys.path = [path for path in sys.path if Path(path).resolve() != ROOT / "bench"]
VENV = ROOT / "target" / "mujoco-venv"
# Each time is the shortest of so many, or of as many more as fit into SECONDS: short rounds fall between other processes.
ROUNDS = 7
SECONDS = 0.3
TURNS = 3
STEPS = 100


def enter_environment():
    """Goes on in a Python that has MuJoCo."""
    try:
        import mujoco  # noqa: F401

        return
    except ImportError:
        pass
    python = VENV / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "mujoco==4.0.0"], check=True)
    os.execv(python, [str(python), *sys.argv])


def chain(n, is_planar, integrator):
    """The chain of bench/examples/mechanisms.rs."""
    import mujoco

    axis = lambda i: "0 1 0" if is_planar or i % 2 == 1 else "1 0 0"
    head = f'<mujoco><option gravity="0 0 -9.81" timestep="0.01" integrator="{integrator}"/><worldbody>'
    links = ""
    for i in range(1, n + 1):
        links += (
            f'<body pos="0 0 {0 if i == 1 else -1}"><joint type="hinge" axis="{axis(i)}"/>'
            '<inertial pos="0 0 -0.5" mass="1" diaginertia="0.0833333333333 0.0833333333333 0.001"/>'
        )
    text = head + links + "</body>" * n + "</worldbody></mujoco>"
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    return model


def measure(n, is_planar, integrator):
    """µs a step, and the largest relative error of the energy."""
    import mujoco
    from mujoco import MjData

    model = chain(n, is_planar, integrator)
    data = MjData(model)

    def start():
        mujoco.mj_resetData(model, data)
        data.qpos[0], data.qpos[1] = 0.8, 0.3
        mujoco.mj_forward(model, data)
        return sum(data.energy)

    best, drift, begin = float("inf"), 0.0, start()
    for _ in range(STEPS):
        mujoco.mj_step(model, data)
        mujoco.mj_forward(model, data)
        drift = max(drift, abs((sum(data.energy) - begin) / begin))
    model.opt.enableflags = 0
    all, rounds = time.perf_counter(), 0
    while rounds < ROUNDS or time.perf_counter() - all < SECONDS:
        start()
        begun = time.perf_counter()
        mujoco.mj_step(model, data, STEPS)
        best = min(best, (time.perf_counter() - begun) * 1e6 / STEPS)
        rounds += 1
    return best, drift


def carom():
    """What the example prints: µs a step and the rest of the line for each motion, and other lines as they are."""
    command = ["cargo", "run", "--release", "--quiet", "--example", "mechanisms", "-p", "carom-bench"]
    lines = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    for line in lines:
        name, _, rest = line.partition(": ")
        time, unit, rest = rest.partition(" µs")
        yield (name, float(time), rest) if unit else (line, None, "")


def main():
    enter_environment()
    import mujoco

    best, texts, others = {}, {}, []

    def note(name, time, rest):
        best[name] = min(best.get(name, time), time)
        texts[name] = rest

    for _ in range(TURNS):
        for name, time, rest in carom():
            if time is None:
                others.append(name)
            else:
                note(name, time, rest)
        for kind in ["planar", "space"]:
            for n in [5, 20, 100]:
                for integrator in ["Euler", "implicitfast", "RK4"]:
                    time, drift = measure(n, kind == "planar", integrator)
                    note(f"{kind} {n} MuJoCo {mujoco.__version__} {integrator}", time, f", dE {drift:.1e}")
    for name, time in best.items():
        beside = best.get(" ".join(name.split()[:2]) + f" MuJoCo {mujoco.__version__} implicitfast")
        ratio = f", {time / beside:.2f} of implicitfast" if beside else ""
        print(f"{name}: {time:.3f} µs{texts[name]}{ratio}")
    print("\n".join(others))
    print("trep, planar chains of 5, 20, 100 links: 105, 3800, 955000 µs")


if __name__ == "__main__":
    main()
