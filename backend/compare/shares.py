"""Unlisted links to one comparison view: made and ended by editors, opened by whoever has one."""

import secrets
from datetime import timedelta
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from access.audit import Actor, Subject, actor_of, record
from access.tokens import digest_of, revoke
from analysis.group_view import in_view
from api.http.api_view import ApiView, sent
from api.http.permissions import MayShare
from compare.comparison import compare
from compare.engine import questions
from compare.files import comparison_csv, comparison_name, csv_response
from compare.question import ComparisonForm, PageForm
from pages.access import FORM, editors
from pages.compare.chart import ChartRequest
from pages.compare.filters import with_ciphers
from pages.compare.page import heading, narrowing, result_context
from pages.compare.table import group_page
from pages.editing import Confirmation, confirm
from pages.metrics import METRICS, choice
from pages.paging import page_of
from runs.parameters import misspelt
from store.models import Share

LONGEST_DAYS = 365
"""A link that never ends would be forgotten."""

EXPIRIES = {
    "7": "After a week",
    "30": "After 30 days",
    "90": "After 90 days",
    "365": "After a year",
}


def check_view(query: str) -> None:
    """Raise `ValidationError` for the query string of a view that cannot be shown.

    What else the compare page and mails put into its address is let through.
    """
    form = ComparisonForm(QueryDict(query.removeprefix("?")))
    meant = misspelt(form.data, form.fields)
    faults = form.faults() + [(name, f"did you mean {near}?") for name, near in meant.items()]
    if faults:
        raise ValidationError([f"{name}: {sentence}" for name, sentence in faults])


def _subject(share: Share) -> Subject:
    return Subject("share", share.pk, share.name)


@transaction.atomic
def make_share(
    name: str, query: str, expires_days: int, *, made_by: Any, by: Actor
) -> tuple[Share, str]:
    """Store a share of a checked view; return it and its secret, which nothing can show again."""
    secret = secrets.token_urlsafe(32)
    share = Share.objects.create(
        name=name,
        query=query.removeprefix("?"),
        digest=digest_of(secret),
        made_by=made_by,
        expires_at=timezone.now() + timedelta(days=expires_days),
    )
    made = {"query": share.query, "expires_at": share.expires_at}
    record(by, "share.create", _subject(share), after=made)
    return share, secret


def _made(request: Request | HttpRequest, **asked: Any) -> tuple[Share, str]:
    """Return a share just made, and its address."""
    share, secret = make_share(**asked, made_by=request.user, by=actor_of(request))
    return share, request.build_absolute_uri(reverse("share", args=[secret]))


class ShareSerializer(serializers.ModelSerializer[Share]):
    """What is shared, with whom, for how long; the address is shown this once."""

    query = serializers.CharField(
        max_length=4000,
        allow_blank=True,
        write_only=True,
        validators=[check_view],
        help_text="A comparison's query string: tool=ssh&...",
    )
    expires_days = serializers.IntegerField(
        min_value=1, max_value=LONGEST_DAYS, default=30, write_only=True
    )
    url = serializers.URLField(read_only=True)

    class Meta:
        model = Share
        fields = ("id", "name", "query", "expires_days", "url", "expires_at")
        read_only_fields = ("expires_at",)


class ShareList(ApiView):
    """Unlisted links."""

    permission_classes = (MayShare,)

    @extend_schema(
        operation_id="shares_make", request=ShareSerializer, responses={201: ShareSerializer}
    )
    def post(self, request: Request) -> Response:
        """Make a link to one comparison view, readable by whoever has it until it expires."""
        share, url = _made(request, **sent(ShareSerializer, request))
        return Response(
            {**ShareSerializer(share).data, "url": url},
            status=status.HTTP_201_CREATED,
            headers={"Cache-Control": "no-store"},
        )


class ShareForm(forms.Form):
    """What is shared, with whom, for how long."""

    name = forms.CharField(max_length=100)
    view = forms.CharField(max_length=4000, required=False, validators=[check_view])
    expires_days = forms.TypedChoiceField(choices=list(EXPIRIES.items()), coerce=int, initial=30)


@editors("runs.add_share", *FORM)
def share_list(request: HttpRequest) -> HttpResponse:
    """The links; a POST makes one and answers with its address, which nothing shows again."""
    form = ShareForm(request.POST or None, initial={"view": request.GET.get("view", "")[:4000]})
    made: dict[str, Any] = {}
    if form.is_valid():
        asked = form.cleaned_data
        share, address = _made(request, query=asked.pop("view"), **asked)
        form, made = ShareForm(), {"made": share, "address": address}
    page = page_of(Share.objects.select_related("made_by"), request.GET)
    context = {"form": form, "expiries": EXPIRIES, "page": page, **made}
    return render(request, "pages/shares.html", context, status=400 if form.errors else 200)


@editors("runs.change_share", *FORM)
def revoke_share(request: HttpRequest, share_id: int) -> HttpResponse:
    """End a link now."""
    share = get_object_or_404(Share, pk=share_id)

    @transaction.atomic
    def end(by: Actor) -> None:
        locked = Share.objects.select_for_update(of=("self",)).get(pk=share_id)
        revoke(locked, _subject(locked), by)

    asked = Confirmation(
        "Revoke this link",
        share.name,
        ("Nobody can open it from now on. This cannot be undone.",),
        "Revoke it",
        reverse("shares"),
    )
    return confirm(request, asked, end, asked.back)


def _closed(response: HttpResponseBase) -> HttpResponseBase:
    # The address is the secret: no other site, no search engine is told.
    response["Referrer-Policy"] = "no-referrer"
    response["X-Robots-Tag"] = "noindex, nofollow"
    return response


def _opened(secret: str) -> tuple[Share, QueryDict, PageForm] | None:
    """Return the share of this secret; None where it has ended, or can no longer be asked."""
    share = Share.objects.filter(digest=digest_of(secret)).first()
    if share is None or not share.is_valid:
        return None
    params = QueryDict(share.query)
    form = PageForm(params)
    return None if form.refused else (share, params, form)


@never_cache
@require_safe
def share_page(request: HttpRequest, secret: str) -> HttpResponseBase:
    """One comparison view as chart and table, and nothing else; on a private site too."""
    opened = _opened(secret)
    if opened is None:
        return _closed(render(request, "pages/share_ended.html", status=404))
    csv_address = reverse("share-csv", args=[secret])
    context = {**_context(*opened), "csv_address": csv_address, "runs_filter": None}
    return _closed(render(request, "pages/share.html", context))


@never_cache
@require_safe
@questions()
def share_file(request: HttpRequest, secret: str) -> HttpResponseBase:
    """The same figures as a file."""
    opened = _opened(secret)
    if opened is None:
        raise Http404("This link does not exist, or has ended.")
    form = opened[-1]
    query = with_ciphers(form.query)
    comparison = form.view.found(compare(query))
    return _closed(csv_response(comparison_csv(query, comparison), comparison_name(query)))


@questions()
def _context(share: Share, params: QueryDict, form: PageForm) -> dict[str, Any]:
    """Return what the share's page shows of its view: no filters, no links into the site."""
    query, shown = with_ciphers(form.query), form.view
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
