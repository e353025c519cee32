"""One view as a chart in a frame of another site, which `CIPHERMARK_EMBED_ORIGINS` names."""

from csp.decorators import csp_replace
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe
from rest_framework.exceptions import ValidationError

from access.reading import reading_allowed
from pages.compare.view_alone import view_alone
from pages.page_query import query_faults
from store.unanswerable import Unanswerable

TEMPLATE = "pages/embed.html"


@require_safe
@xframe_options_exempt
def embed_page(request: HttpRequest) -> HttpResponseBase:
    """The chart of a view; without origins in the settings there is no such page."""
    origins = settings.CIPHERMARK_EMBED_ORIGINS
    if not origins:
        raise Http404("This site allows no other one to embed its charts.")
    return csp_replace({"frame-ancestors": origins})(_chart)(request)


def _chart(request: HttpRequest) -> HttpResponse:
    # A frame cannot lead through the sign-in page, which lets itself be framed by nobody.
    if not reading_allowed(request):
        return render(request, TEMPLATE, {"private": True}, status=403)
    try:
        return render(request, TEMPLATE, view_alone(request.GET))
    except (ValidationError, Unanswerable) as error:
        return render(request, TEMPLATE, {"faults": query_faults(error)}, status=400)
