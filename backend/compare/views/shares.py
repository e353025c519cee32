from typing import Any

from django import forms
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import render
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.cache import never_cache
from django.views.generic import FormView

from accounts.audit import Actor, Subject
from accounts.tokens import digest_of, revoke
from cipherspeed.choices import METRICS, choice, heading
from cipherspeed.groups import Reference, comparison_of
from compare.comparison import compare, compare_in_view
from compare.engine import analytics
from compare.files import comparison_csv, comparison_name, csv_response
from compare.models import Share
from compare.question import PageForm
from compare.shares import check_view, create_share_link
from compare.views.chart import ChartRequest
from compare.views.compare import narrowing, result_context
from compare.views.filters import with_ciphers
from core.errors import Unanswerable
from core.paging import page_of
from core.views.confirm import ConfirmView
from core.views.generic import EditorFormMixin

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


class ShareList(EditorFormMixin, FormView):
    """List share links, and create links.

    Only the response to the POST request that creates a link contains the URL of the link.
    """

    permission_required = "compare.add_share"
    form_class = ShareForm
    template_name = "compare/shares.html"

    def get_initial(self) -> dict[str, Any]:
        view = self.request.GET.get("view", "")[:4000]
        return {"view": view, "name": _heading(view)[:100]}

    def form_valid(self, form: ShareForm) -> HttpResponse:
        fields = form.cleaned_data
        share, address = create_share_link(self.request, query=fields.pop("view"), **fields)
        context = self.get_context_data(form=ShareForm(), created=share, address=address)
        return self.render_to_response(context)

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        context = super().get_context_data(**context)
        page = page_of(Share.objects.select_related("made_by"), self.request.GET)
        return context | {
            "view_heading": _heading(str(context["form"]["view"].value() or "")),
            "expiries": EXPIRIES,
            "page_obj": page,
            "shares": [(share, _heading(share.query)) for share in page.rows],
        }


def _heading(view: str) -> str:
    form = PageForm(QueryDict(view))
    form.full_clean()
    query = form.query
    reference = query.reference_host or query.relative_to
    comparison = comparison_of(
        (),
        tool=query.tool,
        group_by=query.group_by,
        metric=query.metric,
        split_by=query.split_by,
        relative_to=Reference(reference, reference) if reference else None,
        matched=query.matched,
    )
    return heading(comparison) + (", with filters" if query.filters else "")


class RevokeShare(ConfirmView):
    permission_required = "compare.change_share"
    model = Share
    heading, button = "Revoke this link", "Revoke"
    is_destructive = True
    sentences = ("The link will stop working immediately. This cannot be undone.",)
    success_message = "Link “{object.name}” revoked."
    success_url = reverse_lazy("shares")

    @transaction.atomic
    def change(self, by: Actor) -> None:
        locked = Share.objects.select_for_update(of=("self",)).get(pk=self.object.pk)
        revoke(locked, Subject.of(locked), by)


@method_decorator(never_cache, name="dispatch")
class _SharedView(View):
    """Call `get` with the share and its parameters, or explain that the link is not valid."""

    http_method_names = ("get", "head")

    def dispatch(self, request: HttpRequest, secret: str) -> HttpResponseBase:
        share = Share.objects.filter(digest=digest_of(secret)).first()
        form = PageForm(QueryDict(share.query)) if share and share.is_valid else None
        response: HttpResponseBase
        if share is None or form is None or form.refused:
            response = render(request, "compare/share_ended.html", status=404)
        else:
            try:
                with analytics():
                    response = super().dispatch(request, share, form)
            except Unanswerable as error:
                context = {"sentence": error.sentence}
                response = render(request, "compare/share_ended.html", context, status=400)
        # The URL is secret: hide it from other sites and search engines.
        response["Referrer-Policy"] = "no-referrer"
        response["X-Robots-Tag"] = "noindex, nofollow"
        return response


class SharePage(_SharedView):
    """Show the comparison to anyone who has the link, even if the site requires login."""

    def get(self, request: HttpRequest, share: Share, form: PageForm) -> HttpResponse:
        query, shown, params = with_ciphers(form.query), form.view, QueryDict(share.query)
        viewed = compare_in_view(query, shown)
        narrowed = [("Groups with", shown.search)] if shown.search else []
        narrowed += [(title, value) for _, title, value in narrowing(params, query)]
        beside = [f"{title} {value}" for title, value in narrowed]
        chart = ChartRequest(query, viewed, shown, beside)
        context = {
            "share": share,
            "query": query,
            "display": shown,
            "metric": choice(METRICS, query.metric),
            "narrowed": narrowed,
            **result_context(chart),
            "csv_address": f"{request.path}comparison.csv",
        }
        return render(request, "compare/share.html", context)


class ShareFile(_SharedView):
    def get(self, request: HttpRequest, share: Share, form: PageForm) -> HttpResponseBase:
        query = with_ciphers(form.query)
        comparison = form.view.filtered(compare(query))
        return csv_response(comparison_csv(query, comparison), comparison_name(query))
