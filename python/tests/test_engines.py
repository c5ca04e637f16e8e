"""Sweeps on workers: the same table, also if one of them is killed."""

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import carom
import numpy as np
import pytest


def plan(out: Path, **options: Any) -> carom.Sweep:
    m = carom.load("impact-oscillator")
    axes = {"A": np.linspace(0.5, 0.9, 60), "initial.q[0]": carom.uniform(-1, 1.2)}
    return m.sweep(axes, samples=20, seed=7, until=100, out=out, **options)


def table(sweep: carom.Sweep) -> list[tuple[Any, ...]]:
    frame = sweep.to_polars().drop("seconds")
    return frame.rows()


def test_dask(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    local = table(plan(tmp_path / "local"))
    assert len(local) == 1200 and {row[3] for row in local} >= {"completed", "refused"}
    with distributed.LocalCluster(2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            whole = plan(tmp_path / "dask", engine=client)
            # The workers made all of it, and this process nothing but its first part.
            assert whole.facts["known"] == 1200 and whole.facts["made"] == 0 and sum(whole.counts.values()) == 1200
            assert table(whole) == local
            victim = next(iter(client.run(os.getpid).values()))
            killed: list[int] = []

            def kill() -> None:
                while len(list((tmp_path / "killed").glob("part-*"))) < 2:
                    time.sleep(0.005)
                os.kill(victim, signal.SIGKILL)
                killed.append(len(list((tmp_path / "killed").glob("part-*"))))

            killer = threading.Thread(target=kill)
            killer.start()
            sweep = plan(tmp_path / "killed", engine=client)
            killer.join()
            # It was in the middle: some parts were there, and not all.
            assert killed and killed[0] < len(list((tmp_path / "killed").glob("part-*")))
            assert table(sweep) == local


@pytest.mark.skipif(not os.environ.get("CAROM_RAY"), reason="CAROM_RAY=1 needs Ray, which is large")
def test_ray(tmp_path: Path) -> None:
    ray = pytest.importorskip("ray")
    local = table(plan(tmp_path / "local"))
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        whole = plan(tmp_path / "ray", engine="ray")
        assert whole.facts["made"] == 0 and sum(whole.counts.values()) == 1200 and table(whole) == local

        killed: list[int] = []

        def kill() -> None:
            while len(list((tmp_path / "killed").glob("part-*"))) < 2:
                time.sleep(0.005)
            until = time.monotonic() + 10
            while not killed and time.monotonic() < until:
                for process in Path("/proc").glob("[0-9]*"):
                    try:
                        name = (process / "cmdline").read_text()
                    except OSError:
                        continue
                    if name.startswith("ray::make_part") and not killed:
                        os.kill(int(process.name), signal.SIGKILL)
                        killed.append(len(list((tmp_path / "killed").glob("part-*"))))

        killer = threading.Thread(target=kill)
        killer.start()
        sweep = plan(tmp_path / "killed", engine="ray")
        killer.join()
        assert killed and killed[0] < len(list((tmp_path / "killed").glob("part-*")))
        assert table(sweep) == local
    finally:
        ray.shutdown()


def test_what_is_no_engine(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="engine"):
        plan(tmp_path / "x", engine="slurm")
    assert not (tmp_path / "x").exists()
    with pytest.raises(ValueError, match="folder"):
        carom.load("pendulum").sweep(g=[1, 2], engine="ray")
