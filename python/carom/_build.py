"""A model from Python values: its parts become the text of a model."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import _toml
from ._errors import CaromWarning

#: A number, an expression as text, or one of SymPy.
Expression = Any

#: A force on each coordinate as a function of the time, the coordinates and the velocities.
Force = Callable[[float, Any, Any], Any]


@dataclass(frozen=True)
class Wall:
    """A wall: the motion is free while ``phi >= 0``."""

    phi: Expression
    name: str | None = None
    restitution: Expression | None = None


@dataclass(frozen=True)
class Constraint:
    """A holonomic constraint ``g = 0``."""

    g: Expression
    name: str | None = None


Part = Any
Parts = Iterable[Part] | Mapping[str, Part] | None


def listed(parts: Parts, make: type[Any], first: str) -> list[dict[str, Any]]:
    """Walls or constraints as sections: each is an expression, a mapping or an object of Python."""

    def one(part: Part, name: str | None) -> dict[str, Any]:
        if isinstance(part, make):
            entries = {k: v for k, v in vars(part).items() if v is not None}
        elif isinstance(part, Mapping):
            entries = dict(part)
        else:
            entries = {first: part}
        return entries if name is None else {**entries, "name": name}

    if parts is None:
        return []
    if isinstance(parts, Mapping):
        return [one(part, str(name)) for name, part in parts.items()]
    if isinstance(parts, str) or not isinstance(parts, Iterable):
        raise TypeError(f"give a list, or a mapping of names, not {type(parts).__name__}")
    return [one(part, None) for part in parts]


def text(
    *,
    coordinates: Sequence[Any],
    title: str | None,
    parameters: Mapping[str, Any] | None,
    definitions: Mapping[str, Expression] | None,
    lagrangian: Mapping[str, Expression],
    walls: Parts,
    constraints: Parts,
    forces: Mapping[Any, Expression] | None,
    prescribed: Mapping[Any, Expression] | None,
    initial: Mapping[str, Any] | None,
    outputs: Mapping[str, Expression] | None,
    run: Mapping[str, Any],
    more: Mapping[str, Any] | None,
) -> str:
    """The text of a model."""
    mappings = {"parameters": parameters, "definitions": definitions, "forces": forces, "prescribed": prescribed}
    for what, given in {**mappings, "initial": initial, "outputs": outputs, "more": more}.items():
        if given is not None and not isinstance(given, Mapping):
            kind = "a mapping or a function" if what == "forces" else "a mapping"
            raise TypeError(f"{what} is {kind}, not {type(given).__name__}")
    if isinstance(coordinates, str):
        raise TypeError(f'coordinates is a list of names: write ["{coordinates}"]')
    parameters = _with_symbols(
        {_name(k): v for k, v in (parameters or {}).items()},
        [_name(c) for c in coordinates] + [_name(d) for d in definitions or {}] + [name for part in (more or {}).values() for name in _keys(part)],
        [definitions, lagrangian, walls, constraints, forces, prescribed, initial, outputs, more],
    )
    lines = [] if title is None else [f"title = {_toml.value(title)}"]
    lines.append(f"coordinates = {_toml.value([_name(c) for c in coordinates])}")
    simple = {"parameters": parameters, "definitions": definitions, "lagrangian": lagrangian}
    by_coordinate = {"forces": forces, "prescribed": prescribed}
    for name, entries in simple.items():
        if entries:
            lines += _toml.section(name, {_name(k): v for k, v in entries.items()})
    lines += _toml.sections("wall", listed(walls, Wall, "phi"))
    lines += _toml.sections("constraint", listed(constraints, Constraint, "g"))
    for name, entries in by_coordinate.items():
        if entries:
            lines += _toml.section(name, {_name(k): v for k, v in entries.items()})
    for name, entries in {"initial": initial, "run": run, "outputs": outputs}.items():
        if entries:
            lines += _toml.section(name, entries)
    for name, part in (more or {}).items():
        if isinstance(part, Mapping):
            lines += _toml.section(name, part)
        elif isinstance(part, Sequence) and not isinstance(part, str) and all(isinstance(x, Mapping) for x in part):
            lines += _toml.sections(name, part)
        else:
            lines.insert(0, f"{_toml.key(name)} = {_toml.value(part)}")
    return "\n".join(lines) + "\n"


def _keys(part: Any) -> list[str]:
    return [str(name) for name in part] if isinstance(part, Mapping) else []


def _with_symbols(parameters: dict[str, Any], others: Sequence[str], parts: Sequence[Any]) -> dict[str, Any]:
    """Parameters, and those symbols of SymPy that nothing else names: they are 1, with a warning."""
    from ._sympy import symbols

    known = {"t", *parameters, *others}
    found = sorted(name for name in symbols(list(parts)) if name.removesuffix("'") not in known and name.isidentifier())
    if not found:
        return parameters
    listed = ", ".join(f"`{name}`" for name in found)
    have = f"the symbol {listed} has no value and is 1" if len(found) == 1 else f"the symbols {listed} have no values and are 1"
    hint = ", ".join(f'"{name}": …' for name in found)
    warnings.warn(f"{have}; give parameters={{{hint}}}", CaromWarning, stacklevel=_outside())
    return {**parameters, **dict.fromkeys(found, 1.0)}


def _outside() -> int:
    """The level of the stack at which the caller of the package is, for a warning."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "carom":
        frame, level = frame.f_back, level + 1
    return level


def _name(coordinate: Any) -> str:
    if isinstance(coordinate, str):
        return coordinate
    if hasattr(coordinate, "free_symbols"):
        from ._sympy import name_of

        return name_of(coordinate)
    raise TypeError(f"a name is a str or of SymPy, not {type(coordinate).__name__}")


