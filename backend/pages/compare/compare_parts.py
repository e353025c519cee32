"""The compare page in parts that are the same for everybody, rendered once for their data."""

import json
from dataclasses import asdict, dataclass
from types import SimpleNamespace
from typing import Any

from django.http import QueryDict
from django.template.loader import render_to_string
from django.utils.safestring import mark_safe

from pages.compare.compare_page import compare_context
from results.answer_cache import cached_answer
from results.selection import ComparisonQuery

TEMPLATES = {
    "form": "pages/parts/compare_form.html",
    "head": "pages/parts/compare_head.html",
    "body": "pages/parts/compare_body.html",
}
"""Part of `CompareParts` -> its template."""


@dataclass(frozen=True)
class CompareParts:
    """HTML of the form, of what stands over the tools, and of chart and table below them.

    `heading` is the view in words, `sources` where its figures come from.
    """

    form: str
    head: str
    body: str
    heading: str
    sources: str


def compare_parts(
    params: QueryDict, query: ComparisonQuery, *, nothing_stored: bool
) -> CompareParts:
    """The parts of a valid query; `UnknownProfile` when it names a profile that is not ours."""

    def make() -> bytes:
        return json.dumps(asdict(_rendered(params, query, nothing_stored))).encode()

    extra = f"{params.urlencode()} {nothing_stored}"
    parts: dict[str, str] = json.loads(cached_answer("compare-page", query, make, extra))
    # Rendered by templates, and kept where only this program writes.
    html = {name: mark_safe(parts[name]) for name in TEMPLATES}  # noqa: S308  # nosec B308 B703
    return CompareParts(**{**parts, **html})


def _rendered(params: QueryDict, query: ComparisonQuery, nothing_stored: bool) -> CompareParts:
    context: dict[str, Any] = {
        **compare_context(params, query),
        "nothing_stored": nothing_stored,
        "request": SimpleNamespace(GET=params),
    }
    html = {name: render_to_string(template, context) for name, template in TEMPLATES.items()}
    return CompareParts(
        **html,
        heading=context["heading"],
        sources=", ".join(context["sources"]),
    )
