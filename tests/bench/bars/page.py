"""10: the compare page at the size of the fleet, against a bare view of its own template."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

from django.core.cache import cache
from django.template import Context
from django.test import Client
from django.test.utils import setup_test_environment, teardown_test_environment

from pages.compare.page import PARTS
from pages.compare.page import TEMPLATE as PAGE_TEMPLATE
from tests.bench import urls
from tests.bench.figures import Figure, Pair, at_most
from tests.bench.fleet.size import Size
from tests.bench.timing import p50_ms

PAGE = "/"
TIMES = 4.0


def figures(_size: Size) -> list[Figure]:
    """Server time of the HTML, in this process through all middleware.

    The floor renders the same templates with the same contexts, all of it ready: what no page made
    by Django's templates can undercut. The first time, for which bar "pages" asks, all figures are
    computed; asked for again, the page has its parts ready, and stands beside the frame of a page
    without content, too.
    """
    cache.clear()
    _note_rendered(PAGE)
    page, template, empty = map(_getting, (PAGE, "/bench/template/", "/bench/empty/"))
    first = p50_ms(page, template, before=cache.clear)
    again = p50_ms(page, empty)
    return [
        _shown("10 compare page, first time", first),
        at_most("10 compare page, again", "ms", Pair(again.value, first.floor), TIMES),
        _shown("10 compare page, again / an empty page", again),
    ]


def _shown(name: str, pair: Pair) -> Figure:
    return replace(at_most(name, "ms", pair, TIMES), bar="", ok=None)


def _note_rendered(path: str) -> None:
    """Have the floor render what a page that is not in the cache renders: its parts, and itself."""
    setup_test_environment()
    try:
        answer = Client().get(path)
    finally:
        teardown_test_environment()
    names = (str(one.name) for one in answer.templates)
    contexts = cast("Sequence[Context]", answer.context)
    rendered = dict(zip(names, contexts, strict=True))
    urls.bare.parts = [(name, flat(rendered[name])) for name in PARTS.values()]
    # Those of the floor's own request come from the context processors.
    page = flat(rendered[PAGE_TEMPLATE])
    urls.bare.template = PAGE_TEMPLATE
    urls.bare.context = {
        name: value for name, value in page.items() if name not in ("request", "csrf_token")
    }


def flat(context: Context) -> dict[str, Any]:
    """What templates were given, by name."""
    return {str(name): value for name, value in context.flatten().items()}


def _getting(path: str) -> Callable[[], None]:
    client = Client()

    def get() -> None:
        answer = client.get(path)
        if answer.status_code != 200:
            raise AssertionError(f"{path} answers {answer.status_code}")

    return get
