"""The command, and the same numbers from both."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import carom
import pytest

from conftest import command


def test_the_command_is_installed() -> None:
    assert command("--version").stdout.split() == ["carom", carom.__version__]
    assert command("run", "no-such-model").returncode == 2
    assert command("nonsense").returncode == 2
    assert command("examples").stdout.count("\n") >= len(carom.examples())
    done = command("run", "pendulum")
    assert done.returncode == 0 and "energy" in done.stdout


def told(name: str, until: float) -> dict[str, Any]:
    """What Python tells about a run, as the command writes it."""
    try:
        sol = carom.load(name).run(until=until)
    except (carom.ModelError, carom.RunError) as error:
        return {"error": str(error).splitlines()[0], "code": 2 if isinstance(error, carom.ModelError) else 1}
    rows = zip(sol.t, sol.q, sol.v, sol.p)
    impacts = zip(sol.impacts.t, sol.impacts.wall, sol.impacts.impulse, sol.impacts.v_minus, sol.impacts.v_plus)
    ours = {
        "status": sol.status,
        "method": sol.method,
        "step": sol.step,
        "steps": sol.steps,
        "error_estimate": sol.error,
        "nodes": [{"t": t, "q": q.tolist(), "v": v.tolist(), "p": p.tolist()} for t, q, v, p in rows],
        "impacts": [
            {"t": t, "wall": w, "lambda": x, "v_minus": a.tolist(), "v_plus": b.tolist()} for t, w, x, a, b in impacts
        ],
        "account": None if sol.account is None else sol.account._asdict(),
        "outputs": {name: sol[name].tolist() for name in sol.model.outputs},
    }
    # JSON has all bits of a number, and null for those that are none.
    again: dict[str, Any] = json.loads(json.dumps(ours).replace("NaN", "null"))
    return again


def difference(name: str) -> str | None:
    """What this process, with all that it did before, and the command tell differently about a model."""
    until = min(carom.load(name).until or 0.5, 0.5)
    done = command("run", name, "--json", "--nodes", f"--until={until!r}")
    ours = told(name, until)
    if "error" in ours:
        return None if (done.returncode, ours["error"] in done.stderr) == (ours["code"], True) else f"{name}: {ours}"
    if not done.stdout:
        return f"{name}: the command says {done.stderr}"
    theirs: dict[str, Any] = json.loads(done.stdout)
    for key in ("status", "method", "step", "steps", "error_estimate"):
        if ours[key] != theirs[key]:
            return f"{name}: {key} is {ours[key]} and {theirs[key]}"
    for key in ("nodes", "impacts"):
        keys = ours[key][0] if ours[key] else {}
        if ours[key] != [{k: each[k] for k in keys} for each in theirs[key]]:
            return f"{name}: {key} differ"
    if ours["account"] != theirs.get("account"):
        return f"{name}: the account is {ours['account']} and {theirs.get('account')}"
    for output, values in ours["outputs"].items():
        if values != [node["outputs"][output] for node in theirs["nodes"]]:
            return f"{name}: {output} differs"
    return None


@pytest.mark.filterwarnings("ignore")
def test_the_same_bits_as_the_command() -> None:
    names = sorted(carom.examples())
    for order in (names, names[::-1]):
        with ThreadPoolExecutor(2) as pool:
            differences = [text for text in pool.map(difference, order) if text is not None]
        assert not differences, "\n".join(differences)
