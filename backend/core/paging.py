"""Pagination of pages, by cursor like the API or by number.

Cursors are stable while rows arrive.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from django.db.models import Model, QuerySet
from django.http import QueryDict
from rest_framework.exceptions import NotFound

from cipherspeed.group_view import page_count
from core.api_view import ByCursor, ByCursorOfIds
from core.page_query import PageAddress, first_page, page_number

R = TypeVar("R")
M = TypeVar("M", bound=Model)

CURSOR = "cursor"
"""Name of the cursor parameter."""


@dataclass(frozen=True)
class Page(Generic[R]):
    rows: list[R]
    newer: str | None
    older: str | None
    by_age: bool = True
    """Whether the list is sorted by date, so that links say "newer" and "older"."""


class _Asked(NamedTuple):
    """Supply the parts of a request that the API's pagination reads."""

    query_params: QueryDict

    def build_absolute_uri(self) -> str:
        return f"?{self.query_params.urlencode()}"


class _ByCursor(ByCursor):
    page_size_query_param = None  # type: ignore[assignment]
    offset_cutoff = None  # type: ignore[assignment]  # any number of rows may have one time


class _ByCursorOfIds(ByCursorOfIds):
    page_size_query_param = None  # type: ignore[assignment]


def page_of(rows: QuerySet[M], params: QueryDict, *ordering: str) -> Page[M]:
    """Return the page of the cursor, latest row first; an invalid cursor means the first page."""
    paginator: Any = _ByCursor()
    paginator.ordering = ordering or ("-id",)
    try:
        page = paginator.paginate_queryset(rows, _Asked(params))
    except NotFound:
        return page_of(rows, first_page(params, CURSOR), *ordering)
    return Page(page, paginator.get_previous_link(), paginator.get_next_link())


def page_of_ids(ids: Sequence[int], params: QueryDict, *, by_age: bool) -> Page[int]:
    paginator: Any = _ByCursorOfIds()
    try:
        page = paginator.paginate_ids(ids, _Asked(params))
    except NotFound:
        return page_of_ids(ids, first_page(params, CURSOR), by_age=by_age)
    return Page(page, paginator.get_previous_link(), paginator.get_next_link(), by_age)


@dataclass(frozen=True)
class NumberedPage:
    """Hold the range of rows on a page, counted from 1, and URLs of other pages."""

    first: int
    last: int
    earlier: str | None
    later: str | None


def numbered_page(rows: int, size: int, params: QueryDict) -> NumberedPage:
    """Return the page by `page=NUMBER`; a page beyond the last is the last."""
    pages = page_count(rows, size)
    number = min(page_number(params), pages)
    address = PageAddress(params)
    return NumberedPage(
        first=(number - 1) * size + 1,
        last=min(number * size, rows),
        earlier=address.changed(page=str(number - 1)) if number > 1 else None,
        later=address.changed(page=str(number + 1)) if number < pages else None,
    )
