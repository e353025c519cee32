"""POST runs/: from a request to a stored, queued run."""

from typing import Any

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from access.tokens import check_host
from api.http.errors import Conflict, InvalidDocument, Unavailable
from api.http.request_body import read_json_body
from documents.json_text import JsonError, parse_json
from documents.types import HostIdentity
from documents.validation import Fault, validate_run_document
from ingest.agent_archive import newer_agent
from ingest.arrival.acceptance import RunConflict, accept_run
from ingest.arrival.clock import ServerClockBehind, checked_dates
from ingest.processing.hosts import listed_name
from ingest.tasks import enqueue_accepted
from store.models import ApiToken, Run
from telemetry.log_lines import add_to_context


def stored_run(run: Run, request: Request) -> dict[str, Any]:
    """A run, its state and where it is, as uploads answer."""
    run_id = str(run.run_id)
    url = reverse("api:run", args=[run_id], request=request)
    return {"run_id": run_id, "status": run.status, "url": url}


def upload_run(request: Request) -> Response:
    """Validate, store and queue one run document.

    202 once it is committed, 200 when it was stored before, 409 when its run_id is taken by
    other content, 400 naming every fault; 403 when the token is bound to another host; 503 for a
    date in the future when the server's own clock is behind.
    """
    body = read_json_body(request)
    try:
        document = parse_json(body)
    except JsonError as error:
        raise InvalidDocument([Fault(error.place, "parse_error", str(error))]) from None
    faults = validate_run_document(document)
    if faults:
        raise InvalidDocument(faults)
    add_to_context(run_id=document["run_id"].lower())
    token = request.auth if isinstance(request.auth, ApiToken) else None
    check_host(token, document["host"])
    try:
        faults = checked_dates(document, document["host"]["name"])
    except ServerClockBehind:
        raise Unavailable("The server's clock is behind; please try again soon.") from None
    if faults:
        raise InvalidDocument(faults)
    try:
        accepted = accept_run(body, document, source=Run.Source.AGENT, token=token)
    except RunConflict:
        raise Conflict from None
    if accepted.created:
        enqueue_accepted()
    answer = stored_run(accepted.run, request)
    if newer := newer_agent(document["agent"]):
        answer["newer_agent"] = newer
    host = document["host"]
    if host.get("named"):  # asked of the database only for whoever wants to know
        identity = HostIdentity(host["name"].strip(), host.get("machine_id"))
        answer["host"] = {"name": listed_name(identity)}
    return Response(
        answer,
        status=status.HTTP_202_ACCEPTED if accepted.created else status.HTTP_200_OK,
    )
