"""Python's world: pickles, processes, threads, Ctrl-C."""

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import carom
import numpy as np
import pytest


def test_everything_pickles(pendulum: carom.Model) -> None:
    moon = pendulum.set({"initial.q[0]": 0.5}, g=1.62)
    again = pickle.loads(pickle.dumps(moon))
    assert again == moon and again.hash == moon.hash and dict(again.parameters) == dict(moon.parameters)
    sol = moon.run(until=3)
    copy = pickle.loads(pickle.dumps(sol))
    for name in ("t", "q", "v", "p"):
        array = getattr(copy, name)
        assert np.array_equal(array, getattr(sol, name)) and not array.flags.writeable
    assert copy.impacts.wall == sol.impacts.wall and copy.status == sol.status and copy.account == sol.account
    assert np.array_equal(copy.at([0.1, 2.0]), sol.at([0.1, 2.0]))
    assert np.array_equal(copy["gap_stop"], sol["gap_stop"])
    assert np.array_equal(moon.run(start=copy.final, until=4).q, moon.run(start=sol.final, until=4).q)
    for value in (moon.equations, carom.uniform(0, 1), carom.Wall("x"), sol.account, sol.impacts, carom.CaromWarning("x")):
        assert repr(pickle.loads(pickle.dumps(value))) == repr(value)


def final(model: carom.Model) -> list[float]:
    return list(model.run().final.q)


def test_spawned_processes(pendulum: carom.Model) -> None:
    models = [pendulum.set(g=g) for g in (1.62, 9.8)]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(final, models) == [final(model) for model in models]


def test_threads_give_the_same_bits_and_overlap(pendulum: carom.Model) -> None:
    ticks, done = 0, threading.Event()

    def count() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    found: list[list[float]] = []
    long = pendulum._with(method="cva", step=1e-5, until=5)
    threads = [threading.Thread(target=lambda: found.append(final(long))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    done.set()
    counter.join()
    assert found[0] == found[1] == found[2] == final(long)
    # A thread of Python has run meanwhile.
    assert ticks > 10


INTERRUPTED = """
import os, signal, sys, threading, time
import carom, numpy as np
m = carom.load("double-pendulum")
m.run(until=0.1)
sent = 0.0
def send():
    global sent
    sent = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)
threading.Timer(1.0, send).start()
try:
    {work}
except KeyboardInterrupt:
    print(time.monotonic() - sent)
else:
    print("it ended by itself")
"""

LONG = {
    "run": 'm.run(until=1e5, method="cva", step=1e-3, every=100)',
    "controlled run": "m.run(until=1e4, tolerance=1e-12)",
    "sweep": "m.sweep(m1=np.linspace(1, 2, 1_000_000), until=20)",
    "folder": 'import tempfile; m.sweep(m1=np.linspace(1, 2, 100_000), until=20, out=tempfile.mkdtemp())',
    "ensemble": "m.run_many(q=np.full((200_000, 2), .5), p=np.zeros((200_000, 2)), t=np.linspace(0, 20, 11))",
    "lyapunov": 'm.lyapunov(until=1e5, method="cva", step=1e-3)',
}


@pytest.mark.parametrize("work", LONG)
def test_ctrl_c(work: str) -> None:
    program = INTERRUPTED.format(work=LONG[work])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    # 0.2 s on a quiet machine; tests may share theirs.
    assert float(done.stdout) < 2.0


def test_ctrl_c_while_it_compiles() -> None:
    program = INTERRUPTED.format(work='carom.load("chain-10").run(until=1e6)').replace("Timer(1.0", "Timer(0.05")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and float(done.stdout) < 2.0, done.stdout + done.stderr


def test_the_command_does_not_load_numpy() -> None:
    program = "import sys, carom, carom.__main__; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr


@pytest.mark.skipif(not hasattr(signal, "SIGINT"), reason="needs signals")
def test_ctrl_c_ends_the_command() -> None:
    words = [sys.executable, "-m", "carom", "run", "double-pendulum", "--method=cva", "--step=1e-6", "--until=1e4", "--json"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(2)
    os.kill(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 0 and '"interrupted"' in output


def test_a_closed_pipe_is_no_error() -> None:
    done = subprocess.run(f"{sys.executable} -m carom examples | head -1", shell=True, capture_output=True, text=True)
    assert done.stdout.count("\n") == 1 and not done.stderr


def test_progress(pendulum: carom.Model, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    pendulum.run(until=5, method="cva", step=1e-5, progress=True)
    assert "100%" in capsys.readouterr().err
