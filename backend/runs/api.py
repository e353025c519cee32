from collections.abc import Mapping
from typing import Any, cast
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from natsort import natsort_key
from rest_framework import serializers, status
from rest_framework.generics import RetrieveDestroyAPIView
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from accounts.audit import actor_of
from accounts.models import ApiToken
from accounts.tokens import check_host
from cipherspeed.validation import checked_document, run_schema
from core.api_view import ApiView, ByCursor, ListView, read_body, sent
from core.errors import Conflict
from core.log_lines import add_to_context
from core.permissions import MayChangeRuns, MayRemoveRuns, MayUpload
from runs import editing
from runs.acceptance import RunConflict, accept_run
from runs.agent import agent_release
from runs.filters import RunFilter
from runs.models import ImportedText, Run
from runs.serializers import ChangedRunSerializer, RunDetailSerializer, RunSummarySerializer

DIFFERENT_CONTENT = "Another run with different content has this run_id."


class StoredRunSerializer(serializers.Serializer[Any]):
    """Describe a stored run: run ID, status and URL."""

    run_id = serializers.UUIDField()
    status = serializers.ChoiceField(Run.Status.values)
    url = serializers.URLField()


class ByStart(ByCursor):
    ordering: Any = ("-moment", "-id")
    offset_cutoff = None  # type: ignore[assignment]  # any number of runs may have one time


class RunList(ListView):
    """List runs. The newest run comes first."""

    filterset_class = RunFilter
    pagination_class = ByStart
    permissions = {"POST": MayUpload}
    queryset = Run.objects.listed()
    serializer_class = RunSummarySerializer

    @extend_schema(
        request={"application/json": run_schema()},
        responses={
            202: OpenApiResponse(StoredRunSerializer, "Stored and queued for processing."),
            200: OpenApiResponse(StoredRunSerializer, "Already stored."),
            409: OpenApiResponse(OpenApiTypes.OBJECT, DIFFERENT_CONTENT),
            413: OpenApiResponse(OpenApiTypes.OBJECT, "Larger than 2 MiB."),
        },
    )
    def post(self, request: Request) -> Response:
        """Store a run document (JSON, at most 2 MiB, optionally gzipped) and queue the run."""
        body = read_body(request, "application/json", most=settings.RUN_DOCUMENT_MAX_BYTES)
        document = checked_document(body, timezone.now())
        add_to_context(run_id=document["run_id"].lower())
        token = cast(ApiToken, request.auth)
        if token.host_name:
            check_host(token, document["host"])
        try:
            run, created = accept_run(body, document, source=Run.Source.AGENT, token=token)
        except RunConflict:
            raise Conflict(DIFFERENT_CONTENT) from None
        answer = stored_run(run, request)
        if newer := newer_agent(document["agent"]):
            answer["newer_agent"] = newer
        code = status.HTTP_202_ACCEPTED if created else status.HTTP_200_OK
        return Response(answer, status=code)


def newer_agent(used: Mapping[str, Any]) -> str | None:
    """Return the version of this server's agent if the run used an older agent, otherwise None.

    `used`: member `agent` of the run document.
    """
    version, own = str(used.get("version", "")), agent_release().version
    is_older = natsort_key(version) < natsort_key(own)
    return own if used.get("name") == "ciphermark-agent" and is_older else None


def stored_run(run: Run, request: Request) -> dict[str, Any]:
    run_id = str(run.run_id)
    url = reverse("api:run", args=[run_id], request=request)
    return {"run_id": run_id, "status": run.status, "url": url}


class RunView(ApiView, RetrieveDestroyAPIView[Run]):
    """Return a run with all results, or delete the run. Deletion requires a signed-in editor."""

    permissions = {"PATCH": MayChangeRuns, "DELETE": MayRemoveRuns}
    serializer_class = RunDetailSerializer
    lookup_field = "run_id"

    def get_queryset(self) -> QuerySet[Run]:
        # Editors also change hidden runs.
        is_read = self.request.method in SAFE_METHODS
        return Run.objects.detailed() if is_read else Run.objects.all()

    @extend_schema(request=ChangedRunSerializer, responses=ChangedRunSerializer)
    def patch(self, request: Request, **_: Any) -> Response:
        """Hide the run in all lists and statistics, or show the run again.

        Requires a signed-in editor.
        """
        hidden = sent(ChangedRunSerializer, request)["hidden"]
        run = editing.set_hidden(self.get_object().pk, hidden, actor_of(request))
        return Response(ChangedRunSerializer(run).data)

    def perform_destroy(self, instance: Run) -> None:
        editing.remove_run(instance.pk, actor_of(self.request))


class RunDocumentView(ApiView):
    @extend_schema(
        operation_id="runs_document",
        responses={(200, "application/json"): OpenApiTypes.OBJECT},
    )
    def get(self, request: Request, run_id: UUID) -> HttpResponse:
        """Return the run document exactly as received."""
        run = get_object_or_404(Run.objects.shown().select_related("document"), run_id=run_id)
        return HttpResponse(run.document.received, content_type="application/json")


class RunTextView(ApiView):
    @extend_schema(
        operation_id="runs_text", responses={(200, "application/octet-stream"): OpenApiTypes.BINARY}
    )
    def get(self, request: Request, run_id: UUID) -> HttpResponse:
        """Return the imported text exactly as received, in its original encoding."""
        texts = ImportedText.objects.filter(runs__hidden=False)
        imported = get_object_or_404(texts, runs__run_id=run_id)
        # The text is untrusted, so force a download.
        disposition = f'attachment; filename="{run_id}.txt"'
        return HttpResponse(
            bytes(imported.body),
            content_type="application/octet-stream",
            headers={"Content-Disposition": disposition},
        )


class RunSchemaView(ApiView):
    permission_classes = ()
    authentication_classes = ()

    @extend_schema(
        operation_id="run_schema",
        responses={(200, "application/schema+json"): OpenApiTypes.OBJECT},
    )
    def get(self, request: Request) -> Response:
        """Return the JSON Schema of a run document. Requires no authentication."""
        return Response(run_schema(), content_type="application/schema+json")
