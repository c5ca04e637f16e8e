"""How models and solutions show themselves in a terminal and in a notebook."""

from __future__ import annotations

import base64
import html
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ._errors import ModelError, RunError

if TYPE_CHECKING:
    from ._model import Model
    from ._solution import Solution

#: The most rows of a table of text.
_SHOWN = 8
#: Longer equations are cut in text, and not shown as a page.
_MOST, _LONGEST = 10_000, 200_000


def describe(model: Model) -> str:
    """A model in a few lines."""
    lines = [model.title, f"  coordinates  {', '.join(model.coordinates)}"]
    if model.parameters:
        lines.append("  parameters   " + ", ".join(f"{name} = {value:g}" for name, value in model.parameters.items()))
    for what, names in (("walls", model.walls), ("constraints", model.constraints), ("outputs", model.outputs)):
        if names:
            lines.append(f"  {what:<12} {', '.join(names)}")
    return "\n".join(lines)


def summary(sol: Solution) -> str:
    """A solution in a few lines."""
    step = "controlled steps" if sol.step is None else f"step {sol.step:g}"
    lines = [sol.model.title, f"{sol.method}, {step}, {sol.steps} steps; {sol.status} at t = {sol.final.t:g}"]
    if sol.message:
        lines.append(sol.message)
    impacts = sol.impacts
    if impacts.count:
        lines.append(f"{impacts.count} impact" + ("s" if impacts.count > 1 else ""))
    for t, wall, impulse in list(zip(impacts.t, impacts.wall, impacts.impulse, strict=True))[:_SHOWN]:
        lines.append(f"  t = {t:<14.9f} λ = {impulse:<12.6g} {wall}")
    if impacts.count > _SHOWN:
        lines.append("  …")
    for name, q, v in zip(sol.model.coordinates, sol.final.q, sol.final.v, strict=True):
        lines.append(f"  {name:<10} {q:16.9f}   {name}' = {v:.9f}")
    if sol.error is not None:
        lines.append(f"estimated error {sol.error:.1e}")
    lines.append(f"largest drift of the energy {sol.drift:.3e}")
    return "\n".join(lines)


def frame(page: str, height: int) -> str:
    """A page in a sandboxed frame."""
    return (
        f'<iframe sandbox="allow-scripts" srcdoc="{html.escape(page, quote=True)}" '
        f'style="width:100%;height:{height}px;border:0"></iframe>'
    )


def picture(kind: str, data: bytes, label: str, style: str = "max-width:100%") -> str:
    """A picture inside HTML."""
    code = base64.b64encode(data).decode()
    return f'<img alt="{html.escape(label, quote=True)}" src="data:{kind};base64,{code}" style="{style}">'


def bundle_of_solution(sol: Solution) -> dict[str, str]:
    """Text, the plots as SVG, and the report with its animation."""
    bundle = {"text/plain": summary(sol)}
    try:
        with tempfile.TemporaryDirectory() as folder:
            page, plot = Path(folder) / "report.html", Path(folder) / "plot.svg"
            sol._picture("--small", "--report", str(page), "--plot", str(plot))
            report, svg = page.read_text(encoding="utf-8"), plot.read_text(encoding="utf-8")
    except (ModelError, RunError):
        # What cannot be drawn is shown as text.
        return bundle
    bundle["image/svg+xml"] = svg
    # Hosts that drop frames show the plots; where the frame works, its style hides them.
    still = picture("image/svg+xml", svg.encode(), sol.model.title)
    bundle["text/html"] = _either(frame(report, 640), still)
    return bundle


def bundle_of_model(model: Model) -> dict[str, str]:
    """Text, the drawing, and the equations."""
    bundle = {"text/plain": describe(model)}
    still = ""
    try:
        png = model._private.drawing()
        still = picture("image/png", png, model.title, "max-width:100%;max-height:320px")
        width, height = (int.from_bytes(png[at : at + 4]) for at in (16, 20))
        code = base64.b64encode(png).decode()
        bundle["image/svg+xml"] = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">'
            f'<image width="{width}" height="{height}" href="data:image/png;base64,{code}"/></svg>'
        )
    except (ModelError, RunError):
        # A model without an end time or a start has no drawing.
        pass
    equations = model.equations
    text = equations.text
    if len(text) > _MOST:
        text = text[:_MOST] + "\n…\nm.equations.text has the rest"
    plain = f"<pre>{html.escape(text)}</pre>"
    page = equations.html
    bundle["text/html"] = still + (_either(frame(page, 420), plain) if len(page) < _LONGEST else plain)
    return bundle


def _either(framed: str, plain: str) -> str:
    """A frame, and what is shown where frames are dropped: its sibling hides it only if the frame is there."""
    style = "<style>iframe + .carom-plain { display: none }</style>"
    return f'{style}<div>{framed}<div class="carom-plain">{plain}</div></div>'
