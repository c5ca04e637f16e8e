"""The equations of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._model import Model


class Equations:
    """The equations of motion and the impact law of a model."""

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def text(self) -> str:
        """As text in Unicode."""
        return self._model._private.derive("text")

    @property
    def latex(self) -> str:
        """As LaTeX, to include in a document that uses ``amsmath``."""
        return self._model._private.derive("latex")

    @property
    def document(self) -> str:
        """As a LaTeX document."""
        return self._model._private.derive("document")

    @property
    def html(self) -> str:
        """As a self-contained web page."""
        return self._model._private.derive("html")

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        from ._display import frame

        return frame(self.html, 420)
