"""The examples of the documents run."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_example_of_the_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})
    assert "left wall" in capsys.readouterr().out and (tmp_path / "double-pendulum.html").exists()
