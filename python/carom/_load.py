"""Models from files, texts and robots."""

from __future__ import annotations

import os

from . import _carom
from ._keywords import suggesting
from ._model import Model


def load(name: str | os.PathLike[str]) -> Model:
    """Reads a model from a file, or the shipped model of that name; ``carom.examples()`` lists them."""
    if not isinstance(name, (str, os.PathLike)):
        raise TypeError(f"a model has a name or a path, not {type(name).__name__}")
    return Model._of(_carom.Model.load(name))


def loads(text: str, *, name: str = "model") -> Model:
    """Reads a model from its text. ``name`` is what messages call it."""
    if not isinstance(text, str):
        raise TypeError(f"the text of a model is a str, not {type(text).__name__}")
    return Model._of(_carom.Model(name, text, []))


def examples() -> dict[str, str]:
    """The shipped models: name and description."""
    return dict(_carom.examples())


@suggesting
def from_urdf(path: str | os.PathLike[str], *, floating: bool = False) -> Model:
    """The model of a robot that a URDF file describes; ``floating`` lets its root move."""
    text, _, _, _ = _carom.call(["import", os.fspath(path), *(["--floating"] if floating else [])])
    return Model._of(_carom.Model(os.fspath(path), text, []))
