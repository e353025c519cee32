"""Unlisted links to one comparison view: made and ended by editors, opened by whoever has one."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar, cast

from django import forms
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from rest_framework.exceptions import ValidationError

from access.audit import actor_of
from analysis.group_view import in_view
from pages.access import FORM, editors
from pages.compare.chart import ChartRequest
from pages.compare.page import heading, narrowing, result_context, shown_query
from pages.compare.table import group_page
from pages.downloads import spelled_out
from pages.editing import Confirmation, confirm
from pages.metrics import METRICS, choice
from pages.page_query import asked_view, display
from pages.paging import page_of
from questions.comparison_parameters import checked_view
from reports.export_parameters import csv_file, export_of, site_of
from reports.exporting import COMPARISON, comparison_lines
from reports.shares import find_share, make_share, revoke_share
from results.analytics.engine import questions
from results.comparison.comparison import compare
from store.models import Share

T = TypeVar("T")

EXPIRIES = {
    "7": "After a week",
    "30": "After 30 days",
    "90": "After 90 days",
    "365": "After a year",
}


class ShareForm(forms.Form):
    """What is shared, with whom, for how long."""

    name = forms.CharField(max_length=100)
    view = forms.CharField(max_length=4000, required=False)
    expires_days = forms.TypedChoiceField(choices=list(EXPIRIES.items()), coerce=int)

    def clean_view(self) -> str:
        """The query string of a view that can be shown."""
        try:
            return checked_view(self.cleaned_data["view"])
        except ValidationError as error:
            detail = error.detail
            said = detail if isinstance(detail, list) else [detail]
            raise forms.ValidationError([str(one) for one in said]) from None


@editors("runs.add_share", *FORM)
def share_list(request: HttpRequest) -> HttpResponse:
    """The links; a POST makes one and answers with its address, which nothing shows again."""
    if request.method != "POST":
        asked = {"view": request.GET.get("view", "")[:4000], "expires_days": "30"}
        return _list(request, ShareForm(initial=asked))
    form = ShareForm(request.POST)
    if not form.is_valid():
        return _list(request, form, status=400)
    fields = form.cleaned_data
    share, secret = make_share(
        fields["name"],
        fields["view"],
        fields["expires_days"],
        made_by=cast(User, request.user),
        by=actor_of(request),
    )
    address = request.build_absolute_uri(reverse("share", args=[secret]))
    return _list(request, ShareForm(initial={"expires_days": "30"}), made=share, address=address)


def _list(
    request: HttpRequest, form: ShareForm, status: int = 200, **made: Share | str
) -> HttpResponse:
    page = page_of(Share.objects.select_related("made_by"), request.GET)
    context = {"form": form, "expiries": EXPIRIES, "page": page, **made}
    return render(request, "pages/shares.html", context, status=status)


@editors("runs.change_share", *FORM)
def revoke(request: HttpRequest, share_id: int) -> HttpResponse:
    """End a link now."""
    share = get_object_or_404(Share, pk=share_id)
    asked = Confirmation(
        "Revoke this link",
        share.name,
        ("Nobody can open it from now on. This cannot be undone.",),
        "Revoke it",
        reverse("shares"),
    )
    return confirm(request, asked, partial(revoke_share, share.pk), asked.back)


def _closed(response: HttpResponseBase) -> HttpResponseBase:
    # The address is the secret: no other site, no search engine is told.
    response["Referrer-Policy"] = "no-referrer"
    response["X-Robots-Tag"] = "noindex, nofollow"
    return response


def _made_of(secret: str, make: Callable[[Share, QueryDict], T]) -> T | None:
    """What `make` makes of a share's view; None where it has ended, or can no longer be asked."""
    share = find_share(secret)
    try:
        return make(share, QueryDict(share.query)) if share else None
    except ValidationError:
        return None


@never_cache
@require_safe
def share_page(request: HttpRequest, secret: str) -> HttpResponseBase:
    """One comparison view as chart and table, and nothing else; on a private site too."""
    shown = _made_of(secret, _context)
    if shown is None:
        return _closed(render(request, "pages/share_ended.html", status=404))
    context = {**shown, "csv_address": reverse("share-csv", args=[secret]), "runs_filter": None}
    return _closed(render(request, "pages/share.html", context))


@never_cache
@require_safe
def share_file(request: HttpRequest, secret: str) -> HttpResponseBase:
    """The same figures as a file."""
    site = site_of(request)
    lines = _made_of(secret, lambda _, params: _csv(params, site))
    if lines is None:
        raise Http404("This link does not exist, or has ended.")
    return _closed(csv_file(lines, "ciphermark-comparison.csv"))


@questions()
def _csv(params: QueryDict, site: str) -> Iterator[str]:
    """The figures of a share as CSV, line by line, for the site of this address."""
    asked = spelled_out(params, shown_query(asked_view(params)[0]))
    return comparison_lines(export_of(COMPARISON, asked, site))


@questions()
def _context(share: Share, params: QueryDict) -> dict[str, Any]:
    """Return what the share's page shows of its view: no filters, no links into the site."""
    asked, shown = asked_view(params)[0], display(params)
    query = shown_query(asked)
    comparison = shown.found(compare(query))
    part = group_page(in_view(comparison, shown), shown, params)
    narrowed = [("Groups with", shown.search)] if shown.search else []
    narrowed += [(title, value) for _, title, value in narrowing(params, query)]
    chart = ChartRequest(
        query,
        comparison,
        part,
        shown,
        heading(comparison),
        [f"{title} {value}" for title, value in narrowed],
    )
    return {
        "alone": True,
        "share": share,
        "query": query,
        "display": shown,
        "metric": choice(METRICS, query.metric),
        "narrowed": narrowed,
        "part": part,
        **result_context(chart, params),
    }
