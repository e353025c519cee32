"""Lists page by page: by the id of the last row seen, so that rows that arrive shift nothing."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db.models import F, Model, Q, QuerySet
from django.http import QueryDict

from pages.page_query import PageAddress

M = TypeVar("M", bound=Model)

PAGE_SIZE = 50
BEFORE, AFTER = "before", "after"


@dataclass(frozen=True)
class Order:
    """What rows are sorted by, and those of one value by their id; the value is never NULL."""

    field: str
    descending: bool

    def sorted(self, rows: QuerySet[M], *, backwards: bool) -> QuerySet[M]:
        """The rows in this order or in the opposite one."""
        names = (self.field,) if self.field == "pk" else (self.field, "pk")
        falling = self.descending != backwards
        return rows.order_by(*(F(name).desc() if falling else F(name).asc() for name in names))

    def beyond(self, value: Any, pk: int, *, backwards: bool) -> Q:
        """The condition on rows that come after the row of this value and id."""
        side = "lt" if self.descending != backwards else "gt"
        if self.field == "pk":
            return Q(**{f"pk__{side}": pk})
        return Q(**{f"{self.field}__{side}": value}) | Q(**{self.field: value, f"pk__{side}": pk})


LATEST_ADDED = Order("pk", descending=True)


@dataclass(frozen=True)
class Page(Generic[M]):
    """Rows of one page, and the addresses of its neighbours in the order of the list."""

    rows: list[M]
    newer: str | None
    older: str | None
    by_age: bool
    """Whether the list begins with the latest row: then "newer" and "older" are true."""


def _id(params: QueryDict, name: str) -> int | None:
    text = params.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def page_of(rows: QuerySet[M], params: QueryDict, order: Order = LATEST_ADDED) -> Page[M]:
    """The page that `before=ID` or `after=ID` asks for; an id that is not there means the first."""
    backwards = _id(params, AFTER) is not None
    seen = _id(params, AFTER) if backwards else _id(params, BEFORE)
    part = None if seen is None else _beyond(rows, order, seen, backwards)
    if part is None:
        backwards = False
    found = list(order.sorted(rows if part is None else part, backwards=backwards)[: PAGE_SIZE + 1])
    further, found = len(found) > PAGE_SIZE, found[:PAGE_SIZE]
    if backwards:
        found.reverse()
    before, after = (further, True) if backwards else (part is not None, further)
    address = PageAddress(params)
    return Page(
        rows=found,
        newer=_address(address, AFTER, found[0]) if found and before else None,
        older=_address(address, BEFORE, found[-1]) if found and after else None,
        by_age=order == LATEST_ADDED,
    )


def _beyond(rows: QuerySet[M], order: Order, seen: int, backwards: bool) -> QuerySet[M] | None:
    """The rows beyond the one of this id; None when the order needs its value and it is gone."""
    if order.field == "pk":
        return rows.filter(order.beyond(seen, seen, backwards=backwards))
    row = rows.filter(pk=seen).annotate(sort_value=F(order.field))
    value = row.values_list("sort_value", flat=True).first()
    return None if value is None else rows.filter(order.beyond(value, seen, backwards=backwards))


def _address(address: PageAddress, name: str, row: Model) -> str:
    other = BEFORE if name == AFTER else AFTER
    return address.changed(**{name: str(row.pk), other: None})
