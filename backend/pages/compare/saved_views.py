"""Saved views of the compare page: a person names, lists, opens, renames and deletes their own."""

from typing import Any, cast
from urllib.parse import parse_qsl

from django import forms
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AnonymousUser, User
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from questions.unknown_parameters import FIND
from store.models import SavedView

MOST_VIEWS = 200
"""Views that one person may have."""

IN_MENU = 10
"""Views that the compare page lists; its menu leads to the others."""

PASSING = ("page", "more")
"""Where the reader stands in a list is no part of the view."""


def view_query(params: QueryDict) -> str:
    """The query that shows the same view again: no empty parameters, no place in a list."""
    kept = QueryDict(mutable=True)
    for name, values in params.lists():
        filled = [value for value in values if value]
        if filled and name not in PASSING and not name.startswith(FIND):
            kept.setlist(name, filled)
    return kept.urlencode()


def view_menu(person: User | AnonymousUser, params: QueryDict) -> dict[str, Any] | None:
    """The menu of somebody who has signed in, with the view shown now; None for everybody else."""
    if not isinstance(person, User):
        return None
    query = view_query(params)
    views = list(SavedView.objects.filter(person=person))
    # Forms and links send parameters in different orders.
    wanted = sorted(parse_qsl(query))
    return {
        "query": query,
        "views": views[:IN_MENU],
        "total": len(views),
        "current": next((view for view in views if sorted(parse_qsl(view.query)) == wanted), None),
    }


class ViewForm(forms.Form):
    """The name of a view, which no other view of the same person has."""

    name = forms.CharField(
        max_length=100, error_messages={"required": "A view needs a name to be found by."}
    )

    def __init__(self, data: QueryDict, view: SavedView) -> None:
        super().__init__(data)
        self.view = view

    def clean_name(self) -> str:
        """Refuse a name that is taken: two views of one name cannot be told apart."""
        name: str = self.cleaned_data["name"]
        mine = SavedView.objects.filter(person=self.view.person).exclude(pk=self.view.pk)
        if mine.filter(name=name).exists():
            raise forms.ValidationError(f"You have a view called “{name}” already.")
        if self.view._state.adding and mine.count() >= MOST_VIEWS:
            raise forms.ValidationError(f"You have {MOST_VIEWS} views: delete one first.")
        return name

    def save(self) -> bool:
        """Keep the view under its new name; False when another request has just taken it."""
        self.view.name = self.cleaned_data["name"]
        try:
            with transaction.atomic():
                self.view.save()
        except IntegrityError:
            self.add_error("name", f"You have a view called “{self.view.name}” already.")
            return False
        return True


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def view_list(request: HttpRequest) -> HttpResponse:
    """The person's views; a POST saves one more and shows it."""
    if request.method != "POST":
        return _page(request)
    query = view_query(QueryDict(request.POST.get("query", "")))
    if len(query) > SavedView.MOST_CHARACTERS:
        return _page(request, fault="This view chooses too much for an address: it is not saved.")
    form = ViewForm(request.POST, SavedView(person=_person(request), query=query))
    if not (form.is_valid() and form.save()):
        return _page(request, fault=_first_error(form), unsaved=form.view)
    return redirect(f"{reverse('compare')}?{query}")


@login_required
@require_POST
def rename_view(request: HttpRequest, view_id: int) -> HttpResponse:
    """Another name for a view."""
    view = get_object_or_404(SavedView, pk=view_id, person=_person(request))
    form = ViewForm(request.POST, view)
    if not (form.is_valid() and form.save()):
        return _page(request, fault=_first_error(form))
    return redirect(f"{reverse('saved-views')}#view-{view_id}")


@login_required
@require_POST
def delete_view(request: HttpRequest, view_id: int) -> HttpResponse:
    """Forget a view; the figures behind it stay."""
    get_object_or_404(SavedView, pk=view_id, person=_person(request)).delete()
    return redirect("saved-views")


def _person(request: HttpRequest) -> User:
    # Behind `login_required` nobody is anonymous.
    return cast(User, request.user)


def _first_error(form: ViewForm) -> str:
    return str(form.errors["name"][0])


def _page(request: HttpRequest, fault: str = "", unsaved: SavedView | None = None) -> HttpResponse:
    context: dict[str, Any] = {
        "views": SavedView.objects.filter(person=_person(request)),
        "fault": fault,
        "unsaved": unsaved,
    }
    return render(request, "pages/saved_views.html", context, status=400 if fault else 200)
