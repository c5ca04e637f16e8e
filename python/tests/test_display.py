"""What a notebook shows."""

import html
import re

import carom
import pytest

MOST = 400_000


@pytest.mark.parametrize("name", ["double-pendulum", "four-bar", "galton-board", "racket", "newtons-cradle", "marionette"])
def test_a_bundle_is_small_and_complete(name: str) -> None:
    model = carom.load(name)
    sol = model.run(until=min(model.until or 2.0, 2.0))
    for bundle in (sol._repr_mimebundle_(), model._repr_mimebundle_()):
        assert set(bundle) == {"text/plain", "image/svg+xml", "text/html"}, name
        assert bundle["text/plain"].startswith(model.title)
        assert bundle["image/svg+xml"].startswith("<svg")
        assert sum(map(len, bundle.values())) <= MOST, {k: len(v) for k, v in bundle.items()}
        page = bundle["text/html"]
        if "has the rest" in page:
            continue
        assert 'sandbox="allow-scripts"' in page and "<img" in page.replace(html.escape("<img"), "")
        inside = re.search(r'srcdoc="([^"]*)"', page)
        assert inside and "<html" in html.unescape(inside.group(1))[:300]


def test_a_million_nodes_are_thinned() -> None:
    sol = carom.load("pendulum").run(method="cva", step=1e-5, until=10)
    assert len(sol) == 1_000_001
    assert sum(map(len, sol._repr_mimebundle_().values())) <= MOST


def test_a_model_without_a_start_shows_its_equations() -> None:
    bundle = carom.Model(coordinates=["x"], L="x'^2/2 - x^2/2")._repr_mimebundle_()
    assert "text/html" in bundle and "image/svg+xml" not in bundle
