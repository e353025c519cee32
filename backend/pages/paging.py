"""Lists page by page: by the id of the last row seen, so that rows that arrive shift nothing.

Or by the number of the page, where none arrive while somebody reads.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, TypeVar

from django.db.models import Model, Q, QuerySet
from django.db.models.expressions import Combinable
from django.http import QueryDict

from analysis.group_view import page_count
from pages.page_query import PageAddress, page_number
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
    found, newer, older = _cut(part, seen=before is not None, backwards=after is not None)
    return Page(found, *_neighbours(params, [row.pk for row in found], newer, older), by_age=True)


def page_of_times(rows: QuerySet[M], time: Combinable, params: QueryDict) -> Page[M]:
    """The same by a time of the rows; of one moment the row that was stored last comes first.

    `before` and `after` hold both, `MICROSECONDS-ID`, so that nothing is lost when the row goes.
    """
    before, after = _moment(params, BEFORE), _moment(params, AFTER)
    timed: Any = rows.annotate(moment=time)  # django-stubs make another type of it
    seen, end = (before, "lt") if after is None else (after, "gt")
    if seen is not None:
        at, pk = seen
        # The first condition is the one that an index finds its place by.
        timed = timed.filter(**{f"moment__{end}e": at})
        timed = timed.filter(Q(**{f"moment__{end}": at}) | Q(**{f"pk__{end}": pk}))
    part = timed.order_by("-moment", "-pk") if after is None else timed.order_by("moment", "pk")
    found, newer, older = _cut(part, seen=before is not None, backwards=after is not None)
    places = [f"{(row.moment - _EPOCH) // _MICROSECOND}-{row.pk}" for row in found]
    return Page(found, *_neighbours(params, places, newer, older), by_age=True)


_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)


def _moment(params: QueryDict, name: str) -> tuple[datetime, int] | None:
    found = re.fullmatch(r"(-?[0-9]{1,17})-([0-9]{1,18})", params.get(name, ""))
    if found is None:
        return None
    try:
        return _EPOCH + int(found[1]) * _MICROSECOND, int(found[2])
    except OverflowError:
        return None


def _cut(part: QuerySet[M], *, seen: bool, backwards: bool) -> tuple[list[M], bool, bool]:
    """The rows of the page, the latest first, and whether there are newer and older ones."""
    found = list(part[: PAGE_SIZE + 1])
    further, found = len(found) > PAGE_SIZE, found[:PAGE_SIZE]
    if not backwards:
        return found, seen, further
    found.reverse()
    return found, further, True


def page_of_ids(ids: Sequence[int], params: QueryDict, *, by_age: bool) -> Page[int]:
    """The same of a list of ids in any order; an id that is not there means the first page."""
    before, after = _id(params, BEFORE), _id(params, AFTER)
    seen = before if after is None else after
    backwards = after is not None and after in ids
    part = part_of(ids, PAGE_SIZE, seen, backwards=backwards)
    links = _neighbours(params, part.ids, part.begin > 0, part.has_more)
    return Page(part.ids, *links, by_age=by_age)


def _neighbours(
    params: QueryDict, ids: Sequence[int | str], newer: bool, older: bool
) -> tuple[str | None, str | None]:
    """The addresses of the pages before and after the one that has these rows."""
    address = PageAddress(params)
    return (
        address.changed(**{AFTER: str(ids[0]), BEFORE: None}) if ids and newer else None,
        address.changed(**{BEFORE: str(ids[-1]), AFTER: None}) if ids and older else None,
    )


@dataclass(frozen=True)
class NumberedPage:
    """Which rows are on a page, `first` and `last` counted from 1; addresses of its neighbours."""

    first: int
    last: int
    earlier: str | None
    later: str | None


def numbered_page(rows: int, size: int, params: QueryDict) -> NumberedPage:
    """The page that `page=NUMBER` asks for; one beyond the last is the last."""
    pages = page_count(rows, size)
    number = min(page_number(params), pages)
    address = PageAddress(params)
    return NumberedPage(
        first=(number - 1) * size + 1,
        last=min(number * size, rows),
        earlier=address.changed(page=str(number - 1)) if number > 1 else None,
        later=address.changed(page=str(number + 1)) if number < pages else None,
    )
