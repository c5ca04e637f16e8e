"""W3: carom's sweep beside heyoka's batch mode, for `bench/peers.py --ensemble`."""

import json
import subprocess
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
ROWS, LIMIT, UNTIL = 10_000, 1e-6, 5.0


def starts():
    """y, θ, y', θ' of all starts, by columns."""
    beta = np.linspace(3.2, 5.2, ROWS)
    return np.array([beta, 0 * beta, 0 * beta, 3.5 - 0.18 * beta])


def integrator(hy, system, size, tolerance):
    equations, gap = system.equations(hy)

    def reflect(ta, _direction, lane):
        state = ta.state
        a, b, c = system.mass([float(state[0, lane]), float(state[1, lane])])
        det = a * c - b * b
        i1, i2 = c / det, -b / det
        impulse = -2.0 * float(state[2, lane]) / i1
        state[2, lane] += impulse * i1
        state[3, lane] += impulse * i2
        return True

    event = hy.t_event_batch(gap, callback=reflect, direction=hy.event_direction.negative)
    return hy.taylor_adaptive_batch(equations, starts()[:, :size].copy(), tol=tolerance, t_events=[event])


def run(ta, all_starts, size):
    """All trajectories, one batch after the other; returns the final states and the seconds of CPU time."""
    ends = np.empty_like(all_starts)
    begin = time.process_time()
    for first in range(0, ROWS, size):
        ta.set_time(0.0)
        ta.state[:] = all_starts[:, first : first + size]
        ta.reset_cooldowns()
        ta.propagate_until(UNTIL)
        ends[:, first : first + size] = ta.state
    return ends, time.process_time() - begin


def settings(hy, system):
    """For batches of 4 and 8 the integrator with the largest tolerance, in half decades, whose errors are all small enough."""
    all_starts, best = starts(), {}
    exact, _ = run(integrator(hy, system, 4, 1e-15), all_starts, 4)
    exponents = iter(range(11, 20))
    for size in (8, 4):
        for exponent in exponents:
            tolerance = 10.0 ** (-exponent / 2)
            ta = integrator(hy, system, size, tolerance)
            error = np.abs(run(ta, all_starts, size)[0] - exact).sum(axis=0).max()
            if error <= LIMIT:
                best[size] = (ta, tolerance, error)
                break
        # A trajectory has the same steps in a batch of any size.
        exponents = range(exponent, 20)
    return best


def main(hy, system):
    """Prints the table and returns the ratio."""
    command = ["cargo", "run", "--release", "--quiet", "--example", "ensemble", "-p", "carom-bench", "--", "--json"]
    theirs, ours, rates = settings(hy, system), None, {}
    for _ in range(2):
        row = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
        ours = row if ours is None or row["one"] > ours["one"] else ours
        for size, (ta, _, _) in theirs.items():
            rates[size] = max(rates.get(size, 0.0), ROWS / run(ta, starts(), size)[1])
    ratio = ours["one"] / max(rates.values())
    print(f"W3, {ROWS} cart-pendulums to T = {UNTIL}, all errors ≤ {LIMIT:.0e}; trajectories for each core and second")
    for size, (_, tolerance, error) in sorted(theirs.items()):
        print(f"  heyoka {hy.__version__}, batch of {size}: {rates[size]:>9.0f}  (tol = {tolerance:.0e}, error {error:.0e})")
    print(f"  carom, one thread:        {ours['one']:>9.0f}  (tolerance {ours['tolerance']:.0e}, error {ours['error']:.0e})")
    print(f"  carom, two threads:       {ours['two']:>9.0f}, {ours['two'] / ours['one']:.2f} times as many")
    print(f"  ratio {ratio:.2f}; other orders of the starts give the same bits: {ours['same_bits']}")
    return ratio
