"""Lists page by page: by the id of the last row seen, so that rows that arrive shift nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from django.db.models import Model, QuerySet
from django.http import QueryDict

from pages.page_query import PageAddress
from results.hosts.host_list import part_of

R = TypeVar("R")
M = TypeVar("M", bound=Model)

PAGE_SIZE = 50
BEFORE, AFTER = "before", "after"


@dataclass(frozen=True)
class Page(Generic[R]):
    """Rows of one page, and the addresses of its neighbours in the order of the list."""

    rows: list[R]
    newer: str | None
    older: str | None
    by_age: bool
    """Whether the list begins with the latest row: then "newer" and "older" are true."""


def _id(params: QueryDict, name: str) -> int | None:
    text = params.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def page_of(rows: QuerySet[M], params: QueryDict) -> Page[M]:
    """The page that `before=ID` or `after=ID` asks for, the latest row first."""
    before, after = _id(params, BEFORE), _id(params, AFTER)
    if after is not None:
        part = rows.filter(pk__gt=after).order_by("pk")
    else:
        part = (rows if before is None else rows.filter(pk__lt=before)).order_by("-pk")
    found = list(part[: PAGE_SIZE + 1])
    further, found = len(found) > PAGE_SIZE, found[:PAGE_SIZE]
    if after is not None:
        found.reverse()
    newer, older = (further, True) if after is not None else (before is not None, further)
    ids = [row.pk for row in found]
    return Page(found, *_neighbours(params, ids, newer, older), by_age=True)


def page_of_ids(ids: Sequence[int], params: QueryDict, *, by_age: bool) -> Page[int]:
    """The same of a list of ids in any order; an id that is not there means the first page."""
    before, after = _id(params, BEFORE), _id(params, AFTER)
    seen = before if after is None else after
    backwards = after is not None and after in ids
    part = part_of(ids, PAGE_SIZE, seen, backwards=backwards)
    links = _neighbours(params, part.ids, part.begin > 0, part.has_more)
    return Page(part.ids, *links, by_age=by_age)


def _neighbours(
    params: QueryDict, ids: Sequence[int], newer: bool, older: bool
) -> tuple[str | None, str | None]:
    """The addresses of the pages before and after the one that has these rows."""
    address = PageAddress(params)
    return (
        address.changed(**{AFTER: str(ids[0]), BEFORE: None}) if ids and newer else None,
        address.changed(**{BEFORE: str(ids[-1]), AFTER: None}) if ids and older else None,
    )
