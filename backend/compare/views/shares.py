"""Share links: editors create and revoke them, anyone with the link can open it."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django import forms
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.audit import Actor
from accounts.tokens import digest_of, revoke
from cipherspeed.choices import METRICS, choice, heading
from cipherspeed.groups import Reference, comparison_of
from compare.comparison import compare, compare_in_view
from compare.engine import questions
from compare.files import comparison_csv, comparison_name, csv_response
from compare.models import Share
from compare.question import PageForm
from compare.shares import check_view, create_share_link, share_subject
from compare.views.chart import ChartRequest
from compare.views.compare import narrowing, result_context
from compare.views.filters import with_ciphers
from compare.views.table import group_page
from core.access import FORM, permission_page
from core.outage import Unanswerable
from core.paging import page_of
from core.views.confirm import Confirmation, confirm

EXPIRIES = {
    "7": "After a week",
    "30": "After 30 days",
    "90": "After 90 days",
    "365": "After a year",
}


class ShareForm(forms.Form):
    name = forms.CharField(max_length=100)
    view = forms.CharField(max_length=4000, required=False, validators=[check_view])
    expires_days = forms.TypedChoiceField(choices=list(EXPIRIES.items()), coerce=int, initial=30)


@permission_page("compare.add_share", *FORM)
def share_list(request: HttpRequest) -> HttpResponse:
    """List the links; a POST creates one and shows its URL once."""
    form = ShareForm(request.POST or None, initial={"view": request.GET.get("view", "")[:4000]})
    made: dict[str, Any] = {}
    if form.is_valid():
        fields = form.cleaned_data
        share, address = create_share_link(request, query=fields.pop("view"), **fields)
        form, made = ShareForm(), {"made": share, "address": address}
    page = page_of(Share.objects.select_related("made_by"), request.GET)
    context = {
        "form": form,
        "view_heading": _heading(str(form["view"].value() or "")),
        "expiries": EXPIRIES,
        "page": page,
        "shares": [(share, _heading(share.query)) for share in page.rows],
        **made,
    }
    return render(request, "compare/shares.html", context, status=400 if form.errors else 200)


def _heading(view: str) -> str:
    form = PageForm(QueryDict(view))
    form.full_clean()
    query = form.query
    reference = query.reference_host or query.relative_to
    asked = comparison_of(
        (),
        tool=query.tool,
        group_by=query.group_by,
        metric=query.metric,
        split_by=query.split_by,
        relative_to=Reference(reference, reference) if reference else None,
        matched=query.matched,
    )
    return heading(asked) + (", with filters" if query.filters else "")


@permission_page("compare.change_share", *FORM)
def revoke_share(request: HttpRequest, share_id: int) -> HttpResponse:
    share = get_object_or_404(Share, pk=share_id)

    @transaction.atomic
    def end(by: Actor) -> None:
        locked = Share.objects.select_for_update(of=("self",)).get(pk=share_id)
        revoke(locked, share_subject(locked), by)

    confirmation = Confirmation(
        "Revoke this link",
        share.name,
        ("The link stops working now. This cannot be undone.",),
        "Revoke it",
        reverse("shares"),
        f"Revoked: the link “{share.name}”.",
    )
    return confirm(request, confirmation, end, confirmation.back)


SharedView = Callable[[HttpRequest, Share, PageForm], HttpResponseBase]


def _by_secret(view: SharedView) -> Callable[[HttpRequest, str], HttpResponseBase]:
    """Look up a valid share by its secret, or show that it has ended."""

    @never_cache
    @require_safe
    @wraps(view)
    def opened(request: HttpRequest, secret: str) -> HttpResponseBase:
        share = Share.objects.filter(digest=digest_of(secret)).first()
        form = PageForm(QueryDict(share.query)) if share and share.is_valid else None
        response: HttpResponseBase
        if share is None or form is None or form.refused:
            response = render(request, "compare/share_ended.html", status=404)
        else:
            try:
                with questions():
                    response = view(request, share, form)
            except Unanswerable as error:
                context = {"sentence": error.sentence}
                response = render(request, "compare/share_ended.html", context, status=400)
        # The URL is secret: hide it from other sites and search engines.
        response["Referrer-Policy"] = "no-referrer"
        response["X-Robots-Tag"] = "noindex, nofollow"
        return response

    return opened


@_by_secret
def share_page(request: HttpRequest, share: Share, form: PageForm) -> HttpResponseBase:
    """Show chart and table of a shared comparison, even on a private site."""
    query, shown, params = with_ciphers(form.query), form.view, QueryDict(share.query)
    viewed = compare_in_view(query, shown)
    part = group_page(viewed, shown, params)
    narrowed = [("Groups with", shown.search)] if shown.search else []
    narrowed += [(title, value) for _, title, value in narrowing(params, query)]
    beside = [f"{title} {value}" for title, value in narrowed]
    chart = ChartRequest(query, viewed.comparison, part, shown, beside)
    context = {
        "share": share,
        "query": query,
        "display": shown,
        "metric": choice(METRICS, query.metric),
        "narrowed": narrowed,
        "part": part,
        **result_context(chart),
        "csv_address": f"{request.path}comparison.csv",
    }
    return render(request, "compare/share.html", context)


@_by_secret
def share_file(request: HttpRequest, share: Share, form: PageForm) -> HttpResponseBase:
    query = with_ciphers(form.query)
    comparison = form.view.found(compare(query))
    return csv_response(comparison_csv(query, comparison), comparison_name(query))
