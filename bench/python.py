"""The cost of Python: m.run() beside what the library takes, 10⁷ nodes, many motions, a force that is a function.

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

pendulum = carom.load("pendulum")
coordinate = pendulum.coordinates[0]
calls = 0


def damping(t, q, v):
    return -0.1 * v


def counted(t, q, v):
    global calls
    calls += 1
    return damping(t, q, v)


zero = np.zeros(1)
alone = fastest(lambda: [damping(0.0, zero, zero) for _ in range(1000)], 20)[0] / 1000
print(f"a force that is a function, of {alone:.2f} µs:")
as_expression = carom.loads(pendulum.text + f"\n[forces]\n{coordinate} = \"-0.1*{coordinate}'\"\n")
for method, step in (("rk4", 0.01), ("midpoint", 0.01), ("svc", 0.01), ("gauss2", 0.02), ("gauss4", 0.05), ("gauss6", 0.1)):
    options = {"method": method, "step": step, "until": 10}
    calls = 0
    pendulum.with_force(counted).run(**options)
    model = pendulum.with_force(damping)
    as_expression.run(**options)
    called = fastest(lambda: model.run(**options), 5)[0]
    compiled = fastest(lambda: as_expression.run(**options), 5)[0]
    print(f"  {method:<8} {calls * step / 10:6.1f} calls a step, {called / calls:.2f} µs each; "
          f"{called / compiled:.0f} times as long as with an expression")
