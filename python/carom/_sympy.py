"""Expressions of SymPy."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._model import Model

#: The functions of models that have another name in SymPy.
_NAMES = {"Abs": "abs", "Max": "max", "Min": "min", "Heaviside": None}
_SAME = {"sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "abs"}
_RESERVED = {"t", "pi", *_SAME}


def name_of(symbol: Any) -> str:
    """The name of a coordinate or a parameter: of a symbol, or of a function of the time."""
    import sympy

    if isinstance(symbol, sympy.Symbol):
        return str(symbol.name)
    if isinstance(symbol, sympy.core.function.AppliedUndef):
        if [str(argument) for argument in symbol.args] != ["t"]:
            raise ValueError(f"the coordinate {symbol} must be a function of t alone")
        return str(symbol.func.__name__)
    raise TypeError(f"a coordinate is a symbol or a function of t, not {symbol!r}")


def source(expression: Any) -> str:
    """The expression as a model writes it."""
    import sympy
    from sympy.printing.str import StrPrinter

    class Printer(StrPrinter):  # type: ignore[misc, unused-ignore]
        def _print_Derivative(self, e: Any) -> str:
            function, *variables = e.args
            time = [(str(symbol), int(count)) for symbol, count in variables]
            if not isinstance(function, sympy.core.function.AppliedUndef) or time != [("t", 1)]:
                raise ValueError(f"carom understands first derivatives of coordinates by t, not {e}")
            return name_of(function) + "'"

        def _print_Function(self, e: Any) -> str:
            if isinstance(e, sympy.core.function.AppliedUndef):
                return name_of(e)
            name = _NAMES.get(e.func.__name__, e.func.__name__)
            if name not in _SAME and name not in ("min", "max"):
                known = ", ".join(sorted(_SAME))
                raise ValueError(f"carom does not know the function {e.func.__name__} in {e}; it knows {known}")
            return f"{name}({', '.join(self._print(argument) for argument in e.args)})"

        _print_Abs = _print_Max = _print_Min = _print_Function

        def _print_Pow(self, e: Any, rational: bool = False) -> str:
            base, power = e.as_base_exp()
            if base is sympy.E:
                return f"exp({self._print(power)})"
            if power == sympy.Rational(1, 2):
                return f"sqrt({self._print(base)})"
            return f"({self._print(base)})^({self._print(power)})"

        def _print_Exp1(self, e: Any) -> str:
            return "exp(1)"

        def _print_Rational(self, e: Any) -> str:
            return f"({e.p}/{e.q})"

        def _print_Float(self, e: Any) -> str:
            return repr(float(e))

        def _print_Symbol(self, e: Any) -> str:
            return str(e.name)

        def _print_Piecewise(self, e: Any) -> str:
            raise ValueError(f"carom does not know {e.func.__name__}")

        emptyPrinter = _print_Piecewise

    given = sympy.sympify(expression)
    if given.has(sympy.I, sympy.zoo, sympy.nan, sympy.oo):
        raise ValueError(f"{expression} is not a real, finite expression")
    try:
        return str(Printer().doprint(given.doit() if given.has(sympy.Integral, sympy.Sum) else given))
    except ValueError:
        raise
    except Exception as error:
        raise ValueError(f"carom cannot write {expression}: {error}") from error


def symbols(parts: Any) -> set[str]:
    """The names of all symbols in the expressions of SymPy among some parts of a model, which may be nested."""
    if hasattr(parts, "free_symbols"):
        return {str(symbol.name) for symbol in parts.free_symbols if hasattr(symbol, "name")}
    if isinstance(parts, Mapping):
        return symbols(list(parts.values()))
    if dataclasses.is_dataclass(parts):
        return symbols(vars(parts))
    if isinstance(parts, Sequence) and not isinstance(parts, str):
        return {name for part in parts for name in symbols(part)}
    return set()


def from_sympy(L: Any, *, coordinates: Sequence[Any], **parts: Any) -> Model:
    """A model from a Lagrangian of SymPy: ``th = Function("theta")(t)`` is a coordinate, ``th.diff(t)`` its velocity.

    The same as ``carom.Model(L=L, …)``, which has all other arguments.
    """
    from ._model import Model

    return Model(coordinates=coordinates, L=L, **parts)


_TOKEN = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*(?:\[[^\]]*\])*'?", re.UNICODE)


def to_sympy(model: Model) -> SimpleNamespace:
    """The mechanics: ``t``, ``coordinates``, ``parameters``, ``L``, ``T``, ``V``, ``walls``, ``constraints``, ``forces``."""
    import sympy
    from sympy.parsing.sympy_parser import parse_expr

    t = sympy.Symbol("t", real=True)
    coordinates = {name: sympy.Function(name, real=True)(t) for name in model.coordinates}
    parameters = {name: sympy.Symbol(name, real=True) for name in model.parameters}
    known: dict[str, Any] = {"t": t, "pi": sympy.pi}
    for name, q in coordinates.items():
        known[name], known[name + "'"] = q, q.diff(t)
    known.update(parameters)
    functions = {name: getattr(sympy, name) for name in _SAME - {"abs"}}
    functions.update({"abs": sympy.Abs, "min": sympy.Min, "max": sympy.Max, "sign": sympy.sign, "floor": sympy.floor})

    def read(text: str) -> Any:
        names: dict[str, Any] = {}

        def replace(match: re.Match[str]) -> str:
            token = match.group()
            if token in known:
                return names.setdefault(token, f"x{len(names)}_")  # type: ignore[no-any-return]
            if token in functions:
                return token
            if re.fullmatch(r"[eE]\d*", token):
                return token
            raise ValueError(f"SymPy has nothing for `{token}` in {text}")

        # An exponent of a number is no name.
        plain = re.sub(r"(?<![\w.])(\d+\.?\d*|\.\d+)[eE]([+-]?\d+)", r"(\1*10**(\2))", text)
        written = _TOKEN.sub(replace, plain).replace("^", "**")
        values = {alias: known[token] for token, alias in names.items()}
        return parse_expr(written, local_dict={**functions, **values}, evaluate=True)

    found = model._private.expressions()
    parts = found["parts"]
    forces = {c: read(f) for c, f in zip(model.coordinates, found["forces"], strict=True) if f != "0"}
    return SimpleNamespace(
        t=t,
        coordinates=list(coordinates.values()),
        parameters={symbol: model.parameters[name] for name, symbol in parameters.items()},
        L=read(found["L"]),
        T=None if parts is None else read(parts[0]),
        V=None if parts is None else read(parts[1]),
        walls={name: read(phi) for name, phi, _ in found["walls"]},
        restitution={name: read(e) for name, _, e in found["walls"]},
        constraints={name: read(g) for name, g in found["constraints"]},
        forces=forces,
    )
