"""Lists page by page: by the id of the last row seen, so that rows that arrive shift nothing."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from django.db.models import Model, QuerySet
from django.http import QueryDict

from pages.page_query import PageAddress

M = TypeVar("M", bound=Model)

PAGE_SIZE = 50
BEFORE, AFTER = "before", "after"


@dataclass(frozen=True)
class Page(Generic[M]):
    """Rows of one page, the latest first, and the addresses of its neighbours."""

    rows: list[M]
    newer: str | None
    older: str | None


def _id(params: QueryDict, name: str) -> int | None:
    text = params.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def page_of(rows: QuerySet[M], params: QueryDict) -> Page[M]:
    """The page that `before=ID` or `after=ID` asks for; a cursor that is no id means the first."""
    size = PAGE_SIZE
    before, after = _id(params, BEFORE), _id(params, AFTER)
    if after is not None:
        found = list(rows.filter(pk__gt=after).order_by("pk")[: size + 1])
        more_newer, more_older = len(found) > size, True
        found = found[:size][::-1]
    else:
        older_rows = rows if before is None else rows.filter(pk__lt=before)
        found = list(older_rows.order_by("-pk")[: size + 1])
        more_newer, more_older = before is not None, len(found) > size
        found = found[:size]
    address = PageAddress(params)
    return Page(
        rows=found,
        newer=_address(address, AFTER, found[0]) if found and more_newer else None,
        older=_address(address, BEFORE, found[-1]) if found and more_older else None,
    )


def _address(address: PageAddress, name: str, row: Model) -> str:
    other = BEFORE if name == AFTER else AFTER
    return address.changed(**{name: str(row.pk), other: None})
