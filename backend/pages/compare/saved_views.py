"""Saved views: which query is one, and which of them is the one shown."""

from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser, User
from django.http import QueryDict

from questions.known_parameters import FIND
from store.models import SavedView

MOST_VIEWS = 200
"""Views that one person may have."""

IN_MENU = 10
"""Views that the compare page lists; its menu leads to the others."""

PASSING = ("page", "more")
"""Where the reader stands in a list is no part of the view."""


@dataclass(frozen=True)
class ViewMenu:
    """What the compare page says of saved views: those listed, and the one it shows now."""

    query: str
    views: tuple[SavedView, ...]
    total: int
    current: SavedView | None


def view_query(params: QueryDict) -> str:
    """The query that shows the same view again: no empty parameters, no place in a list."""
    kept = QueryDict(mutable=True)
    for name, values in params.lists():
        filled = [value for value in values if value]
        if filled and name not in PASSING and not name.startswith(FIND):
            kept.setlist(name, filled)
    return kept.urlencode()


def view_menu(person: User | AnonymousUser, params: QueryDict) -> ViewMenu | None:
    """The menu of somebody who has signed in; None for everybody else."""
    if not isinstance(person, User):
        return None
    query = view_query(params)
    views = tuple(SavedView.objects.filter(person=person))
    wanted = _pairs(query)
    current = next((view for view in views if _pairs(view.query) == wanted), None)
    return ViewMenu(query, views[:IN_MENU], len(views), current)


def _pairs(query: str) -> list[tuple[str, str]]:
    """The parameters in an order of their own: forms and links send them differently."""
    return sorted(
        (name, str(value)) for name, values in QueryDict(query).lists() for value in values
    )
