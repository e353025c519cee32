"""POST imports/: a text that a tool printed, previewed or stored."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, cast

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import Throttled, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from access.import_slots import ImportsBusy, import_slot
from api.http.api_view import ApiView
from api.http.errors import Conflict
from api.http.json_parser import TooLarge
from api.http.permissions import MayUpload
from api.http.request_body import read_text_body
from api.serializers import ImportedRunSerializer
from api.upload import stored_run
from ingest.arrival.importing import (
    CIPHER_CHARACTERS,
    FACTS,
    FORMATS,
    MOST_BYTES,
    UNITS,
    Imported,
    ImportRequest,
    NoFigures,
    RunTaken,
    Understood,
    store_import,
    understand,
)
from ingest.tasks import enqueue_accepted
from parsers.read_text import HowToRead
from parsers.received_text import NotAText, TextTooLarge
from parsers.run_documents import Corrections
from questions.parameters import Parameter, checked, choice, described, number, printable
from store.models import ApiToken

LISTED = 1_000
"""Unrecognised lines and warnings listed in one answer; their counts are always whole."""

PARAMETERS = [
    choice("format", ("auto", *FORMATS), "What printed it; default auto."),
    choice("preview", ("0", "1"), "1: say what is understood, only."),
    choice("unit", UNITS, "What MB means in a cipher list."),
    number("bytes", "Bytes of each transfer of `time`.", MOST_BYTES),
    Parameter("cipher", printable(CIPHER_CHARACTERS), "Of ssh transfers that name none."),
    *(
        Parameter(name, printable(longest), "Instead of what the text says.")
        for name, longest in FACTS.items()
    ),
]


class UnrecognisedSerializer(serializers.Serializer[Any]):
    """A line that nothing was understood of."""

    line = serializers.IntegerField()
    text = serializers.CharField()


class WarningSerializer(serializers.Serializer[Any]):
    """Something a reader should know of a line."""

    line = serializers.IntegerField()
    code = serializers.CharField()
    detail = serializers.CharField()


class UnderstoodSerializer(serializers.Serializer[Any]):
    """What was understood of a text."""

    format = serializers.ChoiceField(FORMATS, allow_null=True)
    unrecognised = UnrecognisedSerializer(many=True)
    unrecognised_count = serializers.IntegerField()
    warnings = WarningSerializer(many=True)
    warning_count = serializers.IntegerField()


class PreviewSerializer(UnderstoodSerializer):
    """The answer to a preview."""

    documents = serializers.ListField(child=serializers.JSONField())


class ImportedSerializer(UnderstoodSerializer):
    """The answer to an import: its first run as of any upload, and all of them in `runs`.

    There is no run where a fault of the server kept the text from being read: it is stored, and
    will be read after an update.
    """

    run_id = serializers.UUIDField(required=False)
    status = serializers.ChoiceField(["accepted", "ready", "rejected"], required=False)
    url = serializers.URLField(required=False)
    import_id = serializers.UUIDField()
    runs = ImportedRunSerializer(many=True)


class ImportList(ApiView):
    """Texts that tools printed."""

    permission_classes = [MayUpload]

    @extend_schema(
        operation_id="imports_create",
        parameters=described(PARAMETERS),
        request={"text/plain": OpenApiTypes.STR},
        responses={
            202: OpenApiResponse(ImportedSerializer, "Stored durably; it will be processed."),
            200: OpenApiResponse(PreviewSerializer, "preview=1; or stored before."),
            409: OpenApiResponse(OpenApiTypes.OBJECT, "A run_id is taken; names the run."),
            413: OpenApiResponse(OpenApiTypes.OBJECT, "Larger than 4 MiB or 50,000 lines."),
            429: OpenApiResponse(
                OpenApiTypes.OBJECT,
                "Too many requests, or texts being read: one of a token, two of a process. "
                "Retry-After says when to come back.",
            ),
        },
    )
    def post(self, request: Request) -> Response:
        """Read a text (plain, at most 4 MiB); with preview=1 nothing is stored."""
        asked = checked(request.query_params, PARAMETERS)
        wanted = _import_request(request, asked)
        token = cast(ApiToken, request.auth)
        try:
            with import_slot(f"token:{token.pk}"):
                if asked.get("preview") == "1":
                    return Response(_preview(understand(wanted)))
                imported = store_import(wanted, token=token)
        except ImportsBusy as error:
            raise Throttled(error.wait, str(error)) from None
        except TextTooLarge as error:
            raise TooLarge(str(error)) from None
        except NotAText as error:
            raise ValidationError({"text": str(error)}, code="not_a_text") from None
        except NoFigures as error:
            raise ValidationError({"text": str(error)}, code="no_figures") from None
        except RunTaken as error:
            raise Conflict(f"{error} Nothing was stored.") from None
        return _answer(imported, request)


def _import_request(request: Request, asked: dict[str, Any]) -> ImportRequest:
    tool = asked.get("format", "auto")
    how = HowToRead(
        None if tool == "auto" else tool,
        asked.get("unit"),
        asked.get("bytes"),
        asked.get("cipher") or None,
    )
    facts = {name: asked[name] for name in FACTS if asked.get(name)}
    return ImportRequest(read_text_body(request), how, (Corrections(**facts),) if facts else ())


def _understood(understood: Understood) -> dict[str, Any]:
    return {
        "format": understood.format,
        "unrecognised": [asdict(one) for one in understood.unrecognised[:LISTED]],
        "unrecognised_count": len(understood.unrecognised),
        "warnings": [asdict(one) for one in understood.warnings[:LISTED]],
        "warning_count": len(understood.warnings),
    }


def _preview(understood: Understood) -> Mapping[str, Any]:
    return _understood(understood) | {"documents": list(understood.documents)}


def _answer(imported: Imported, request: Request) -> Response:
    """202 for a new import, 200 for one that was stored before."""
    if imported.created:
        enqueue_accepted()
    runs = [stored_run(run, request) for run in imported.runs]
    return Response(
        {
            **(runs[0] if runs else {}),
            "import_id": str(imported.import_id),
            "runs": runs,
            **_understood(imported.understood),
        },
        status=status.HTTP_202_ACCEPTED if imported.created else status.HTTP_200_OK,
    )
