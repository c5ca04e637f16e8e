"""The cost of Python: m.run() beside what the library takes, 10⁷ nodes, many motions, a callback's worth of overhead.

    python3 bench/python.py            # with the package installed
"""

import resource
import statistics
import time

import carom
import numpy as np


def fastest(work, repeat=200):
    """The fastest and the median time of a call, in microseconds."""
    times = []
    for _ in range(repeat):
        begin = time.perf_counter()
        work()
        times.append(1e6 * (time.perf_counter() - begin))
    return min(times), statistics.median(times)


cart = carom.load("cart-pendulum")
for options in ({"method": "cva", "step": 0.01}, {}):
    model = cart._with(until=5, **options)
    model.run()
    whole = fastest(lambda: model.run())
    # The library alone, with the same watchers: it tells its own time.
    inside = [model._private.run(arcs=200_000)["seconds"] for _ in range(200)]
    inside = (1e6 * min(inside), 1e6 * statistics.median(inside))
    rows = len(model.run())
    print(f"{model.settings}: {rows} nodes, m.run() {whole[0]:.0f} µs (median {whole[1]:.0f}), "
          f"in the library {inside[0]:.0f} (median {inside[1]:.0f}), overhead {whole[0] - inside[0]:.0f} µs")

before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
begin = time.perf_counter()
sol = carom.load("pendulum").run(method="cva", step=1e-6, until=10)
seconds = time.perf_counter() - begin
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
data = sum(a.nbytes for a in (sol.t, sol.q, sol.v, sol.p, sol["energy"]))
print(f"{len(sol)} nodes in {seconds:.1f} s: {data / 1e6:.0f} MB of arrays, {peak / 1e3:.0f} MB more memory at the peak")

m = carom.load("cart-pendulum")
n = 20_000
q = np.tile(m.run(until=0.1).q[0], (n, 1))
q[:, 1] += np.linspace(0, 0.01, n)
v = np.zeros_like(q)
m.run_many(q=q[:64], v=v[:64], t=[5.0])
begin = time.perf_counter()
runs = m.run_many(q=q, v=v, t=[5.0])
seconds = time.perf_counter() - begin
print(f"run_many: {n / seconds:.0f} motions a second, {runs!r}")
