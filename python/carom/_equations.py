"""The equations of a model."""

from __future__ import annotations

from . import _carom


class Equations:
    """The equations of motion and the impact law of a model."""

    def __init__(self, model: _carom.Model) -> None:
        self._model = model

    @property
    def text(self) -> str:
        """As text in Unicode."""
        return self._model.derive("text")

    @property
    def latex(self) -> str:
        """As LaTeX, to include in a document that uses ``amsmath``."""
        return self._model.derive("latex")

    @property
    def document(self) -> str:
        """As a LaTeX document."""
        return self._model.derive("document")

    @property
    def html(self) -> str:
        """As a self-contained web page."""
        return self._model.derive("html")

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        from ._display import frame

        return frame(self.html, 420)
