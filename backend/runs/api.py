"""POST runs/: from a request to a stored, queued run."""

from typing import Any, cast

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from access.tokens import check_host
from api.http.api_view import ApiView
from api.http.errors import Conflict, InvalidDocument
from api.http.permissions import MayUpload
from api.http.request_body import read_json_body
from api.serializers import AcceptedSerializer
from documents.json_text import JsonError, parse_json
from documents.validation import Fault, date_faults, run_schema, validate_run_document
from ingest.agent_archive import newer_agent
from runs.acceptance import RunConflict, accept_run
from store.models import ApiToken, Run
from telemetry.log_lines import add_to_context


class RunUpload(ApiView):
    """Where agents send their runs."""

    permissions = {"POST": MayUpload}

    @extend_schema(
        operation_id="runs_upload",
        request={"application/json": run_schema()},
        responses={
            202: OpenApiResponse(AcceptedSerializer, "Stored durably; it will be processed."),
            200: OpenApiResponse(AcceptedSerializer, "Stored before; not counted twice."),
            409: OpenApiResponse(OpenApiTypes.OBJECT, "This run_id has other content."),
            413: OpenApiResponse(OpenApiTypes.OBJECT, "Larger than 2 MiB."),
        },
    )
    def post(self, request: Request) -> Response:
        """Store one run document (JSON, at most 2 MiB, gzip accepted) and queue it."""
        body = read_json_body(request)
        document = parse_document(body)
        add_to_context(run_id=document["run_id"].lower())
        token = cast(ApiToken, request.auth)
        if token.host_name:
            check_host(token, document["host"])
        try:
            run, created = accept_run(body, document, source=Run.Source.AGENT, token=token)
        except RunConflict:
            raise Conflict from None
        answer = stored_run(run, request)
        if newer := newer_agent(document["agent"]):
            answer["newer_agent"] = newer
        code = status.HTTP_202_ACCEPTED if created else status.HTTP_200_OK
        return Response(answer, status=code)


def parse_document(body: bytes) -> dict[str, Any]:
    """Return the valid run document that a body holds; name every fault of any other."""
    try:
        document: dict[str, Any] = parse_json(body)
    except JsonError as error:
        raise InvalidDocument([Fault(error.place, "parse_error", str(error))]) from None
    faults = validate_run_document(document) or date_faults(document, timezone.now())
    if faults:
        raise InvalidDocument(faults)
    return document


def stored_run(run: Run, request: Request) -> dict[str, Any]:
    """Return a run, its state and where it is, as uploads answer."""
    run_id = str(run.run_id)
    url = reverse("api:run", args=[run_id], request=request)
    return {"run_id": run_id, "status": run.status, "url": url}
