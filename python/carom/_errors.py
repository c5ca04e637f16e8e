"""Exceptions and warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._solution import Solution


class ModelError(ValueError):
    """A mistake in a model or in a setting.

    As text it is the picture that the command shows: the line of the model, with the mistake marked.
    """

    #: What is wrong, in one line.
    message: str
    #: The file, or ``command line`` for a setting.
    source: str | None
    #: The line of the model, from 1.
    line: int | None
    #: The column, from 1, in characters.
    column: int | None
    #: What to do about it.
    hint: str | None

    def __init__(
        self,
        picture: str,
        *,
        message: str | None = None,
        source: str | None = None,
        line: int | None = None,
        column: int | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(picture)
        self.message = picture if message is None else message
        self.source, self.line, self.column, self.hint = source, line, column, hint

    def __reduce__(self) -> tuple[Any, ...]:
        return (_model_error, (str(self), self.__dict__.copy()))


def _model_error(picture: str, facts: dict[str, Any]) -> ModelError:
    return ModelError(picture, **facts)


class RunError(RuntimeError):
    """A run that failed, if it was told to ``throw``, or one that could not begin."""

    #: The motion up to the failure; none if there is none.
    solution: Solution | None

    def __init__(self, message: str, solution: Solution | None = None) -> None:
        super().__init__(message)
        self.solution = solution

    def __reduce__(self) -> tuple[Any, ...]:
        return (RunError, (str(self), self.solution))


class CaromWarning(UserWarning):
    """What carom warns of: a tolerance that was not met, a wall that was missed, a start that is rarely meant."""
