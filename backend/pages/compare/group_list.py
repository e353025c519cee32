"""The groups of a comparison that are in view: searched, in order, a page of them."""

from dataclasses import dataclass, replace

from django.http import QueryDict

from analysis.comparison import Comparison
from analysis.group_view import MOST_GROUPS, InView, page_count
from pages.page_query import TOPS, Display, PageAddress


@dataclass(frozen=True)
class GroupPage:
    """One page of groups and the ways to the others; `first` and `last` count from 1."""

    comparison: Comparison
    """The comparison with the groups of this page alone."""
    total: int
    """Groups before the search."""
    found: int
    first: int
    last: int
    more: tuple[tuple[str, str], ...]
    """Names and addresses of longer pages."""
    earlier: str | None
    later: str | None


def group_page(viewed: InView, display: Display, params: QueryDict) -> GroupPage:
    """The page of groups that `display` asks for; one beyond the last is the last."""
    size = display.top or MOST_GROUPS
    pages = page_count(viewed.found, size)
    number = min(display.page, pages)
    start = (number - 1) * size
    address = PageAddress(params)
    return GroupPage(
        comparison=replace(viewed.comparison, groups=viewed.groups),
        total=viewed.total,
        found=viewed.found,
        first=start + 1,
        last=start + len(viewed.groups),
        more=_more(address, viewed.found, size),
        earlier=address.changed(page=str(number - 1)) if number > 1 else None,
        later=address.changed(page=str(number + 1)) if number < pages else None,
    )


def _more(address: PageAddress, found: int, shown: int) -> tuple[tuple[str, str], ...]:
    steps = [top for top in TOPS if top != "all" and shown < int(top) < found]
    ways = [(f"Show {top}", address.changed(top=top, page=None)) for top in steps[:1]]
    if shown < min(found, MOST_GROUPS):
        words = f"Show all {found}" if found <= MOST_GROUPS else f"Show {MOST_GROUPS}"
        ways.append((words, address.changed(top="all", page=None)))
    return tuple(ways)
