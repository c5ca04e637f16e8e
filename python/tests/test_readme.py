"""The examples of the documents run."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run_examples(document: str) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(encoding="utf-8"), re.S)
    assert blocks, document
    for block in blocks:
        exec(compile(block, document, "exec"), {})


def test_the_examples_of_the_page_on_python() -> None:
    run_examples("docs/python.md")


def test_the_example_of_the_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    run_examples("README.md")
    assert "left wall" in capsys.readouterr().out and (tmp_path / "double-pendulum.html").exists()
