"""Files: small ones come at once, large ones are made in the background and listed here."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from rest_framework.exceptions import ValidationError

from access.export_quota import TooManyExports
from pages.access import reader_required
from pages.page_query import query_faults
from questions.unknown_parameters import refuse_unknown
from reports.export_files import KEPT
from reports.export_jobs import delete_job
from reports.export_parameters import NAMES_OF_FILES, export_of, site_of
from reports.exporting import AT_ONCE_BYTES, AT_ONCE_ROWS, made_at_once
from reports.own_exports import may_delete, new_job, own_jobs
from store.models import ExportJob

TEMPLATE = "pages/exports.html"
MOST_SHOWN = 50

FILES = (
    "comparison-csv",
    "comparison-xlsx",
    "measurements-csv",
    "measurements-xlsx",
    "samples-csv",
)
"""Of the API's addresses those that a download may lead to."""


@reader_required
@require_safe
def start_download(request: HttpRequest) -> HttpResponse:
    """To the file itself, or where it is large, to the question whether to have it made."""
    params = request.GET.copy()
    kind, form = params.pop("kind", [""])[-1], params.pop("format", [""])[-1]
    if f"{kind}-{form}" not in FILES:
        return _page(request, faults=[("kind", "There is no such file.")])
    try:
        refuse_unknown(params, NAMES_OF_FILES[kind])
        at_once = made_at_once(export_of(kind, params, site_of(request)), form)
    except ValidationError as error:
        return _page(request, faults=query_faults(error))
    if not at_once:
        return _page(request, offered={"kind": kind, "format": form, "params": request.GET})
    return redirect(f"{reverse(f'api:{kind}-{form}')}?{params.urlencode()}")


@never_cache
@reader_required
@require_http_methods(["GET", "HEAD", "POST"])
def export_list(request: HttpRequest) -> HttpResponse:
    """The reader's files; a POST has one more made."""
    if request.method != "POST":
        return _page(request)
    try:
        job = new_job(request, QueryDict(request.POST.get("question", "")), site_of(request))
    except ValidationError as error:
        return _page(request, faults=query_faults(error))
    except TooManyExports as error:
        return _page(request, faults=[("", str(error))])
    return redirect(f"{reverse('export-pages')}#export-{job.job_id}")


@reader_required
@require_POST
def delete_export(request: HttpRequest, job_id: UUID) -> HttpResponse:
    """Cancel the making of a file, or delete it."""
    job = get_object_or_404(ExportJob, job_id=job_id)
    if may_delete(request, job):
        delete_job(job)
    return redirect("export-pages")


def _page(
    request: HttpRequest,
    faults: list[tuple[str, str]] | None = None,
    offered: dict[str, Any] | None = None,
) -> HttpResponse:
    jobs = list(own_jobs(request)[:MOST_SHOWN])
    context = {
        "jobs": jobs,
        "pending": any(job.unfinished for job in jobs),
        "faults": faults or [],
        "offered": offered,
        "at_once": f"{AT_ONCE_ROWS:,}",
        "at_once_megabytes": AT_ONCE_BYTES // 10**6,
        "kept_days": KEPT.days,
    }
    return render(request, TEMPLATE, context, status=400 if faults else 200)
