"""HTTP of the read API: parse, ask `results`, shape."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from api.http.api_view import ApiView, ListView
from documents.validation import run_schema
from runs.api import RunUpload
from runs.filters import RunFilter
from runs.serializers import RunSummarySerializer
from store.models import Run


class RunList(RunUpload, ListView):
    """Runs: the list for readers, the upload for agents."""

    filterset_class = RunFilter

    @extend_schema(operation_id="runs_list", responses=RunSummarySerializer(many=True))
    def get(self, request: Request) -> Response:
        """Runs that are not hidden, newest first."""
        return self.page(request, Run.objects.listed(), RunSummarySerializer)


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
