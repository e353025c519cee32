"""Exports in the background: ask for one, see how far it is, fetch the file, delete it."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect, QueryDict
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import NotFound, PermissionDenied, Throttled
from rest_framework.request import Request
from rest_framework.response import Response

from access.export_quota import TooManyExports
from api.http.api_view import ApiView, ListView
from api.http.errors import Conflict
from api.http.ranged_file import FileNegotiation, ranged_file
from questions.comparison_parameters import COMPARISON_PARAMETERS, comparison_query
from reports.export_files import link, local_path
from reports.export_jobs import delete_job
from reports.export_parameters import (
    CSV_PARAMETERS,
    CSV_TYPE,
    ROW_PARAMETERS,
    VIEW_PARAMETERS,
    XLSX_TYPE,
    file_name,
    site_of,
)
from reports.exporting import KINDS, MEASUREMENTS
from reports.own_exports import may_delete, new_job, own_jobs
from store.models import ExportJob

RETRY_AFTER_SECONDS = 30


class ExportJobSerializer(serializers.Serializer[Any]):
    """One export in the background."""

    job_id = serializers.UUIDField()
    kind = serializers.ChoiceField(choices=KINDS)
    format = serializers.ChoiceField(choices=ExportJob.Format.values)
    query = serializers.CharField()
    status = serializers.ChoiceField(choices=ExportJob.Status.values)
    failure = serializers.CharField()
    rows_total = serializers.IntegerField(allow_null=True)
    rows_done = serializers.IntegerField()
    size_bytes = serializers.IntegerField(allow_null=True)
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    expires_at = serializers.DateTimeField(allow_null=True)
    url = serializers.SerializerMethodField()
    file_url = serializers.SerializerMethodField()

    def get_url(self, job: ExportJob) -> str:
        """Where its state is told."""
        return reverse("api:export-job", args=[job.job_id])

    def get_file_url(self, job: ExportJob) -> str | None:
        """Where the file is; null until it is ready."""
        ready = job.status == ExportJob.Status.READY
        return reverse("api:export-file", args=[job.job_id]) if ready else None


def job_address(params: QueryDict, kind: str, form: str) -> str:
    """Where the file that these parameters ask for can be asked for, to be made later."""
    return f"{reverse('api:export-jobs')}?{_of_job(params, kind, form).urlencode()}"


def _of_job(params: QueryDict, kind: str, form: str) -> QueryDict:
    """The parameters of a file, as those of the job that makes it."""
    asked = params.copy()
    asked["kind"], asked["format"] = kind, form
    return asked


def made_later(request: Request, kind: str, form: str) -> Response | None:
    """The job for who prefers to be answered at once (RFC 7240); None for all others."""
    wishes = request.headers.get("Prefer", "").split(",")
    if "respond-async" not in {wish.partition(";")[0].strip().lower() for wish in wishes}:
        return None
    response = _accepted(request, _of_job(request.query_params, kind, form))
    response["Preference-Applied"] = "respond-async"
    return response


def _accepted(request: Request, params: QueryDict) -> Response:
    """202 with the new job and its address; 429 when too many are under way."""
    try:
        job = new_job(request, params, site_of(request))
    except TooManyExports as error:
        raise Throttled(RETRY_AFTER_SECONDS, str(error)) from None
    answer = ExportJobSerializer(job).data
    return Response(answer, status.HTTP_202_ACCEPTED, headers={"Location": answer["url"]})


def file_response(request: HttpRequest, job: ExportJob) -> HttpResponseBase:
    """The finished file, or the way to it in the object storage."""
    # Only what names it: whether its profile can be asked for now is no matter of a made file.
    query = comparison_query(QueryDict(job.query))
    types = {ExportJob.Format.CSV: CSV_TYPE, ExportJob.Format.XLSX: XLSX_TYPE}
    name, content_type = file_name(job.kind, query, job.format), types[ExportJob.Format(job.format)]
    path = local_path(job)
    if path is None:
        return HttpResponseRedirect(link(job, name, content_type, str(request.method)))
    return ranged_file(request, path, name, content_type)


def _job(job_id: UUID) -> ExportJob:
    job = ExportJob.objects.filter(job_id=job_id).select_related("person", "token").first()
    if job is None:
        raise NotFound(f"There is no export {job_id}; it may have expired.")
    return job


class ExportJobList(ListView):
    """Exports in the background."""

    @extend_schema(operation_id="export_jobs_list", responses=ExportJobSerializer(many=True))
    def get(self, request: Request) -> Response:
        """Those that this token, person or session asked for, the latest first."""
        return self.page(request, own_jobs(request), ExportJobSerializer)

    @extend_schema(
        operation_id="export_jobs_create",
        request=None,
        parameters=[
            OpenApiParameter(
                "kind", OpenApiTypes.STR, enum=KINDS, description=f"Default {MEASUREMENTS}."
            ),
            OpenApiParameter(
                "format",
                OpenApiTypes.STR,
                enum=ExportJob.Format.values,
                description="Default csv; of a comparison xlsx, which is its only one.",
            ),
            *COMPARISON_PARAMETERS,
            *VIEW_PARAMETERS,
            *ROW_PARAMETERS,
            *CSV_PARAMETERS,
        ],
        responses={202: ExportJobSerializer},
    )
    def post(self, request: Request) -> Response:
        """Have a file made: the parameters of an export in the address, with `kind`, `format`."""
        return _accepted(request, request.query_params)


class ExportJobView(ApiView):
    """One export in the background."""

    @extend_schema(operation_id="export_jobs_read", responses=ExportJobSerializer)
    def get(self, request: Request, job_id: UUID) -> Response:
        """Its status and progress."""
        return Response(ExportJobSerializer(_job(job_id)).data)

    @extend_schema(
        operation_id="export_jobs_delete",
        responses={204: OpenApiResponse(description="Cancelled, or its file deleted.")},
    )
    def delete(self, request: Request, job_id: UUID) -> Response:
        """Cancel it or delete its file; nothing of it is kept."""
        job = _job(job_id)
        if not may_delete(request, job):
            raise PermissionDenied("Only who asked for an export may delete it.")
        delete_job(job)
        return Response(status=status.HTTP_204_NO_CONTENT)


class ExportFile(ApiView):
    """The file of an export."""

    content_negotiation_class = FileNegotiation

    @extend_schema(
        operation_id="export_jobs_file",
        responses={
            **{
                (status, kind): OpenApiTypes.BINARY
                for status in (200, 206)
                for kind in (CSV_TYPE, XLSX_TYPE)
            },
            302: OpenApiResponse(description="To the object storage, where a site has one."),
            409: OpenApiResponse(OpenApiTypes.OBJECT, "It is not ready yet, or failed."),
        },
    )
    def get(self, request: Request, job_id: UUID) -> HttpResponseBase:
        """The finished file; `Range` resumes an interrupted download."""
        job = _job(job_id)
        if job.status != ExportJob.Status.READY:
            raise Conflict(f"The export {job_id} is {job.status}. {job.failure}".strip())
        try:
            return file_response(request._request, job)
        except FileNotFoundError:
            # A volume that was lost, or the job's end a moment ago.
            raise NotFound(f"The file of export {job_id} is gone: ask for it again.") from None
