"""Exports in the background, each its asker's own: asked for, found again, deleted."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, QueryDict
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from access.client_address import client_network
from questions.unknown_parameters import none_of, refuse_unknown
from reports.export_jobs import open_job
from reports.export_parameters import NAMES_OF_FILES, export_of
from reports.exporting import COMPARISON, KINDS, MEASUREMENTS
from reports.tasks import enqueue_export
from store.models import ApiToken, ExportJob

OWN_PARAMETERS = ("kind", "format")
MOST_CHARACTERS = 50_000
"""Of a question; the longest that addresses can carry is shorter."""

DELETES_ANY = "runs.delete_exportjob"
"""The administrators' permission to delete what others asked for."""

SESSION_KEY = "exports"
"""Ids of the exports that a visitor without an account asked for in this session."""

MOST_REMEMBERED = 50


def owner(request: Request | HttpRequest) -> dict[str, Any]:
    """Who asks: a token, a person, or nobody in particular on a public site."""
    token = getattr(request, "auth", None)
    if isinstance(token, ApiToken):
        return {"token": token, "person": None}
    return {"token": None, "person": request.user if request.user.is_authenticated else None}


def own_jobs(request: Request | HttpRequest) -> QuerySet[ExportJob]:
    """The exports that this token or person asked for; without either, this session."""
    asker = owner(request)
    jobs = ExportJob.objects.filter(**asker)
    if any(asker.values()):
        return jobs
    return jobs.filter(job_id__in=request.session.get(SESSION_KEY, []))


def new_job(request: Request | HttpRequest, params: QueryDict, site: str) -> ExportJob:
    """Store the job that the parameters ask for and have it made.

    `ValidationError` names what cannot be; `TooManyExports` when enough are under way.
    """
    kind = params.get("kind") or MEASUREMENTS
    if kind not in KINDS:
        raise ValidationError({"kind": none_of(kind, KINDS)})
    formats = ExportJob.Format.values if kind == MEASUREMENTS else [_only_format(kind)]
    written = params.get("format") or formats[0]
    if written not in formats:
        raise ValidationError({"format": none_of(written, formats)})
    question = params.copy()
    for name in (*OWN_PARAMETERS, "csrfmiddlewaretoken"):
        question.pop(name, None)
    refuse_unknown(question, NAMES_OF_FILES[kind])
    export_of(kind, question, site)  # refuses at once what the worker would refuse later
    if len(question.urlencode()) > MOST_CHARACTERS:
        raise ValidationError("The question is too long to be kept.")
    job = open_job(
        ExportJob(
            kind=kind, format=written, query=question.urlencode(), site=site, **owner(request)
        ),
        client_network(request),
        own_jobs(request),
    )
    _remember(request, job)
    enqueue_export(job)
    return job


def _remember(request: Request | HttpRequest, job: ExportJob) -> None:
    """Tie a visitor's export to the session: nothing else tells one visitor from another."""
    if job.person is None and job.token is None:
        others = [one for one in request.session.get(SESSION_KEY, []) if one != str(job.job_id)]
        request.session[SESSION_KEY] = [*others, str(job.job_id)][-MOST_REMEMBERED:]


def _only_format(kind: str) -> str:
    """Tries are a CSV; a comparison's CSV is short and comes at once."""
    return ExportJob.Format.XLSX.value if kind == COMPARISON else ExportJob.Format.CSV.value


def may_delete(request: Request | HttpRequest, job: ExportJob) -> bool:
    """True for who asked for it and for administrators."""
    person = owner(request)["person"]
    if person is not None and person.has_perm(DELETES_ANY):
        return True
    return own_jobs(request).filter(pk=job.pk).exists()
