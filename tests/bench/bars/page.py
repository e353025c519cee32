"""10: the compare page at the size of the fleet, against a bare view of its own template."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from django.core.cache import cache
from django.template import Context
from django.test import Client
from django.test.utils import setup_test_environment, teardown_test_environment

from tests.bench import urls
from tests.bench.figures import Figure, Pair, at_most
from tests.bench.fleet.size import Size
from tests.bench.timing import p50_ms

PAGE = "/"
TIMES = 4.0


def figures(_size: Size) -> list[Figure]:
    """Server time of the HTML, in this process through all middleware.

    The floor renders the same template with the same context, all of it ready: what no page made
    by Django's templates can undercut. The frame of a page without content is shown beside it.
    """
    cache.clear()
    urls.bare.template, urls.bare.context = _rendered(PAGE)
    page, template, empty = map(_getting, (PAGE, "/bench/template/", "/bench/empty/"))
    first = p50_ms(page, template, before=cache.clear)
    again = p50_ms(page, empty)
    return [
        at_most("10 compare page, first time", "ms", first, TIMES),
        _shown("10 compare page, again", Pair(again.value, first.floor)),
        _shown("10 compare page, again / an empty page", again),
    ]


def _shown(name: str, pair: Pair) -> Figure:
    return replace(at_most(name, "ms", pair, TIMES), bar="", ok=None)


def _rendered(path: str) -> tuple[str, dict[str, Any]]:
    """The template that a page renders, and the context that it does so with."""
    setup_test_environment()
    try:
        answer = Client().get(path)
    finally:
        teardown_test_environment()
    rendered: Context = answer.context[0]  # type: ignore[index]
    # Those of the floor's own request come from the context processors.
    own = {
        str(name): value
        for name, value in rendered.flatten().items()
        if name not in ("request", "csrf_token")
    }
    return str(answer.templates[0].name), own


def _getting(path: str) -> Callable[[], None]:
    client = Client()

    def get() -> None:
        answer = client.get(path)
        if answer.status_code != 200:
            raise AssertionError(f"{path} answers {answer.status_code}")

    return get
