from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import QuerySet
from django.http import QueryDict
from rest_framework.exceptions import NotFound

from core.api_view import ByCursor, ByCursorOfIds
from core.page_query import first_page

CURSOR = "cursor"


@dataclass(frozen=True)
class Page:
    rows: list[Any]
    newer: str | None
    older: str | None
    by_age: bool = True
    """Whether the rows are sorted by date. If true, the page links say "newer" and "older"."""


class _PageRequest(NamedTuple):
    """Imitate the parts of a DRF request that DRF's paginators read."""

    query_params: QueryDict

    def build_absolute_uri(self) -> str:
        return f"?{self.query_params.urlencode()}"


class _ByCursor(ByCursor):
    page_size_query_param = None  # type: ignore[assignment]
    offset_cutoff = None  # type: ignore[assignment]  # any number of rows may have one time


class _ByCursorOfIds(ByCursorOfIds):
    page_size_query_param = None  # type: ignore[assignment]


def page_of(rows: Any, params: QueryDict, *ordering: str, by_age: bool = True) -> Page:
    """Return the page at the cursor in `params`, or the first page if the cursor is invalid.

    `rows`: a queryset, or a list of IDs in display order.
    """
    paginator: Any = _ByCursor() if isinstance(rows, QuerySet) else _ByCursorOfIds()
    paginator.ordering = ordering or ("-id",)
    try:
        page = paginator.paginate_queryset(rows, _PageRequest(params))
    except NotFound:
        return page_of(rows, first_page(params, CURSOR), *ordering, by_age=by_age)
    return Page(page, paginator.get_previous_link(), paginator.get_next_link(), by_age)
