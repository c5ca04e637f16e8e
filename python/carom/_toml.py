"""Writes the text of a model."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def key(name: str) -> str:
    """A name as a key."""
    return name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def value(given: Any) -> str:
    """A number, a text, a list or a mapping as a value."""
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, str):
        return json.dumps(given, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(given, Mapping):
        return "{" + ", ".join(f"{key(str(k))} = {value(v)}" for k, v in given.items()) + "}"
    if isinstance(given, int):
        return str(given)
    if hasattr(given, "free_symbols"):
        from ._sympy import source

        return json.dumps(source(given))
    if hasattr(given, "tolist"):
        return value(given.tolist())
    if isinstance(given, Sequence):
        return "[" + ", ".join(value(item) for item in given) + "]"
    try:
        number = float(given)
    except (TypeError, ValueError):
        raise TypeError(f"a model has numbers, strings, lists and mappings, not {type(given).__name__}") from None
    return repr(number)


def section(name: str, entries: Mapping[str, Any]) -> list[str]:
    """The lines of a section."""
    return ["", f"[{name}]", *(f"{key(str(k))} = {value(v)}" for k, v in entries.items())]


def sections(name: str, all: Sequence[Mapping[str, Any]]) -> list[str]:
    """The lines of a list of sections."""
    lines: list[str] = []
    for entries in all:
        lines += ["", f"[[{name}]]", *(f"{key(str(k))} = {value(v)}" for k, v in entries.items())]
    return lines


def setting(name: str, given: Any) -> str:
    """`name=value`, as the option `--set` of the command takes it. A text is an expression, as it is."""
    return f"{name}={given if isinstance(given, str) else value(given)}"


def word(value: Any) -> str:
    """The value of an option."""
    return value if isinstance(value, str) else repr(float(value))


def typed(setting: str) -> list[str]:
    """A setting as the words of a command line."""
    if setting.startswith("--"):
        option, _, value = setting.partition(" ")
        return [f"{option}={value}"]
    return ["--set", setting]
