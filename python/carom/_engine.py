"""Sweeps on several machines: a task is one part of the sweep, a range of rows that becomes one file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _carom, _toml

if TYPE_CHECKING:
    from ._model import Model

#: Tasks in flight for each worker.
IN_FLIGHT = 4
#: A task is tried so often.
TRIES = 4


def make_part(name: str, text: str, words: list[str], share: str) -> str:
    """Makes one part, unless it is there. Runs on a worker."""
    answer, _, _, _ = _carom.call([*words, f"--part={share}", "--threads=1"], (name, text))
    return answer


def spread(model: Model, words: list[str], folder: Path, engine: Any) -> dict[str, int]:
    """Makes the parts of a sweep on the workers of an engine, which must all see the folder; counts the rows by status."""
    if engine != "ray" and not (hasattr(engine, "submit") and hasattr(engine, "scheduler_info")):
        raise TypeError(f'engine is a dask.distributed.Client or "ray", not {type(engine).__name__}')
    name, text = model._private.name, model._private.text
    typed = [word for setting in model._private.settings for word in _toml.typed(setting)]
    command = ["sweep", name, *typed, *words]
    # The first part fixes how many rows a part has.
    first = make_part(name, text, command, "1/1000000000000")
    manifest = json.loads((folder / "_sweep.json").read_text(encoding="utf-8"))
    parts = -(-manifest["plan"]["rows"] // manifest["chunk"])
    shares = [f"{part + 1}/{parts}" for part in range(parts)]
    on = _ray if engine == "ray" else _dask
    return _count([first, *on(engine, name, text, command, shares)])


def _count(answers: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for answer in answers:
        for status, count in json.loads(answer)["status"].items():
            counts[status] = counts.get(status, 0) + count
    return counts


def _dask(client: Any, name: str, text: str, command: list[str], shares: list[str]) -> Iterator[str]:
    from distributed import as_completed

    def submit(share: str) -> Any:
        return client.submit(make_part, name, text, command, share, pure=False, retries=TRIES - 1)

    workers = max(len(client.scheduler_info()["workers"]), 1)
    waiting = iter(shares)
    futures = as_completed([submit(share) for share, _ in zip(waiting, range(IN_FLIGHT * workers), strict=False)])
    for future in futures:
        yield future.result()
        share = next(waiting, None)
        if share is not None:
            futures.add(submit(share))


def _ray(_: Any, name: str, text: str, command: list[str], shares: list[str]) -> Iterator[str]:
    import ray

    if not ray.is_initialized():
        ray.init()
    remote = ray.remote(max_retries=TRIES - 1)(make_part)
    workers = max(int(ray.cluster_resources().get("CPU", 1)), 1)
    waiting = iter(shares)
    flying = [remote.remote(name, text, command, share) for share, _ in zip(waiting, range(IN_FLIGHT * workers), strict=False)]
    while flying:
        done, flying = ray.wait(flying)
        yield from ray.get(done)
        for _ in done:
            share = next(waiting, None)
            if share is not None:
                flying.append(remote.remote(name, text, command, share))
