"""HTTP of the read API: parse, ask `results`, shape."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse, HttpResponseBase
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from api.comparison_json import comparison_json
from api.editing import HostEditing, RunEditing, host_number
from api.http.api_view import ApiView, ByCursorOfIds, ListView
from api.serializers import (
    ComparisonSerializer,
    HostDetailSerializer,
    HostSummarySerializer,
    RunDetailSerializer,
    RunSummarySerializer,
)
from compare.comparison import compare
from compare.question import ComparisonForm
from documents.validation import run_schema
from hosts.filters import HostForm
from results.hosts.hosts import host_detail, summaries_of
from runs.api import RunUpload
from runs.filters import RunFilter
from store.models import Run


class RunList(RunUpload, ListView):
    """Runs: the list for readers, the upload for agents."""

    filterset_class = RunFilter

    @extend_schema(operation_id="runs_list", responses=RunSummarySerializer(many=True))
    def get(self, request: Request) -> Response:
        """Runs that are not hidden, newest first."""
        return self.page(request, Run.objects.listed(), RunSummarySerializer)


class RunView(RunEditing):
    """One run."""

    @extend_schema(operation_id="runs_read", responses=RunDetailSerializer)
    def get(self, request: Request, run_id: UUID) -> Response:
        """Its status, statistics and normalised values."""
        run = Run.objects.detailed().filter(run_id=run_id).first()
        if run is None:
            raise NotFound(f"There is no run {run_id}.")
        return Response(RunDetailSerializer(run).data)


class RunDocumentView(ApiView):
    """The document of a run."""

    @extend_schema(
        operation_id="runs_document",
        responses={(200, "application/json"): OpenApiTypes.OBJECT},
    )
    def get(self, request: Request, run_id: UUID) -> HttpResponse:
        """The run document exactly as received."""
        run = Run.objects.shown().select_related("document").filter(run_id=run_id).first()
        if run is None:
            raise NotFound(f"There is no run {run_id}.")
        return HttpResponse(run.document.received, content_type="application/json")


class RunTextView(ApiView):
    """The text that an imported run was read from."""

    @extend_schema(
        operation_id="runs_text", responses={(200, "application/octet-stream"): OpenApiTypes.BINARY}
    )
    def get(self, request: Request, run_id: UUID) -> HttpResponse:
        """The text exactly as received, whatever its encoding."""
        run = Run.objects.shown().select_related("imported_text").filter(run_id=run_id).first()
        if run is None or run.imported_text is None:
            raise NotFound(f"No run {run_id} was read from a text.")
        # Text of strangers: a file to keep, never a page of this site.
        disposition = f'attachment; filename="{run_id}.txt"'
        return HttpResponse(
            bytes(run.imported_text.body),
            content_type="application/octet-stream",
            headers={"Content-Disposition": disposition},
        )


class HostList(ListView):
    """Hosts."""

    pagination_class = ByCursorOfIds
    parameters = {"GET": HostForm}

    @extend_schema(operation_id="hosts_list", responses=HostSummarySerializer(many=True))
    def get(self, request: Request) -> Response:
        """Hosts with their latest environment, AES verdict, its reason and what to do about it."""
        paginator = self.pagination_class()
        hosts = self.asked.hosts
        rows = summaries_of(paginator.paginate_ids(hosts, request))
        return paginator.get_paginated_response(HostSummarySerializer(rows, many=True).data)


class HostView(HostEditing):
    """One host."""

    @extend_schema(operation_id="hosts_read", responses=HostDetailSerializer)
    def get(self, request: Request, host_id: str) -> Response:
        """Return the host with this number or key, and the latest value of each of its series."""
        detail = host_detail(host_number(host_id), tries=True)
        if detail is None:
            raise NotFound(f"The host {host_id} has no run that counts.")
        return Response(HostDetailSerializer(detail).data)


class ComparisonView(ApiView):
    """The comparison of groups of machines."""

    parameters = {"GET": ComparisonForm}

    @extend_schema(operation_id="comparison", responses=ComparisonSerializer)
    def get(self, request: Request) -> HttpResponseBase:
        """Groups of machines compared: one vote per machine, median and quartiles."""
        return HttpResponse(
            comparison_json(compare(self.asked.query)), content_type="application/json"
        )


class RunSchemaView(ApiView):
    """The contract of the upload; no secret, so it needs no token."""

    permission_classes = ()
    authentication_classes = ()

    @extend_schema(
        operation_id="run_schema",
        responses={(200, "application/schema+json"): OpenApiTypes.OBJECT},
    )
    def get(self, request: Request) -> Response:
        """The JSON Schema of a run document."""
        return Response(run_schema(), content_type="application/schema+json")


@extend_schema(exclude=True)
class NoSuchAddress(APIView):
    """Every other address below /api/: a 404 in the API's own format."""

    permission_classes = ()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse before anything else, whatever the method."""
        raise NotFound(f"There is nothing at {request.path}; see {reverse('api:docs')}.")
