"""Memory: models that are built and dropped."""

import os
import subprocess
import sys

PROGRAM = """
import sys, carom
count = int(sys.argv[1])
kept = []
for k in range(count):
    text = f"m*R^2*theta'^2/2*(1 + {k}/1e6*cos(theta)) - m*{9 + k * 1e-5}*R*(1 - cos(theta + {k}/1e7)) + sin(2*theta)*{k}/1e8"
    m = carom.Model(coordinates=["theta"], parameters={"m": 1, "R": 1}, L=text, walls=["theta"],
                    initial={"q": [1], "v": [0]}, until=0.5)
    sol = m.run(method="cva", step=0.1)
    assert sol.success
    if k % 500 == 0:
        kept.append((m, sol, sol.at(0.3)))
# What was dropped meanwhile is made again.
for m, sol, q in kept:
    assert (sol.at(0.3) == q).all() and (m.run(method="cva", step=0.1).q == sol.q).all()
# The peak of this program alone: that of getrusage begins with the memory of the process that started it.
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(int(peak.split()[1]) / 1024)
"""


def test_models_that_are_dropped_leave_no_memory_behind() -> None:
    # CAROM_SOAK=1: ten thousand models.
    count = "10000" if os.environ.get("CAROM_SOAK") else "600"
    done = subprocess.run([sys.executable, "-c", PROGRAM, count], capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 300, done.stdout
