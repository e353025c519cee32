from collections.abc import Mapping
from typing import Any, cast

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import ApiToken
from core.api_view import ApiView, read_body
from core.errors import Conflict
from core.json_parser import TooLarge
from core.parameters import Choice, Line, Number, ParameterForm
from core.permissions import MayUpload
from runs.api import StoredRunSerializer, stored_run
from runs.importing import (
    CIPHER_CHARACTERS,
    FACTS,
    FORMATS,
    MOST_BYTES,
    UNITS,
    ImportRequest,
    NoFigures,
    RunTaken,
    Understood,
    store_import,
    understand,
)
from runs.received import MAX_BYTES, NotAText, TextTooLarge
from texts.documents import Corrections, is_selected
from texts.types import Hints

TEXT_TYPES = ("text/plain", "text/markdown", "text/csv", "application/octet-stream")
LISTED = 1_000
"""Maximum length of each list in a response. Counts in the response include all entries."""


class ImportForm(ParameterForm):
    format = Choice(("auto", *FORMATS), help_text="Program that printed the text. Default: auto.")
    preview = Choice(("0", "1"), help_text="1 returns the parsed results without storing them.")
    accept = Choice(("certain", "all"), help_text="Results to import. Default: certain.")
    unit = Choice(
        UNITS, help_text="Meaning of MB in lists. Default: as in the command, else 10^6 bytes."
    )
    bytes = Number(
        max_value=MOST_BYTES,
        help_text="Bytes per transfer, for `time` output that does not state it.",
    )
    cipher = Line(max_length=CIPHER_CHARACTERS, help_text="For ssh transfers without a cipher.")
    host = Line(max_length=FACTS["host"], help_text="Host name, if not stated.")
    cpu = Line(max_length=FACTS["cpu"], help_text="CPU model, if not stated.")
    os = Line(max_length=FACTS["os"], help_text="Operating system, if not stated.")
    openssl = Line(max_length=FACTS["openssl"], help_text="OpenSSL version, if not stated.")


class UncertainSerializer(serializers.Serializer[Any]):
    line = serializers.IntegerField()
    cipher = serializers.CharField()
    bytes_per_second = serializers.FloatField(source="rate")
    reason = serializers.CharField(source="uncertain", help_text="Reason for skipping the result.")


class UnrecognisedSerializer(serializers.Serializer[Any]):
    line = serializers.IntegerField()
    text = serializers.CharField()


class WarningSerializer(serializers.Serializer[Any]):
    line = serializers.IntegerField()
    code = serializers.CharField()
    detail = serializers.CharField()


class UnderstoodSerializer(serializers.Serializer[Any]):
    format = serializers.ChoiceField(FORMATS, allow_null=True)
    uncertain = UncertainSerializer(many=True)
    uncertain_count = serializers.IntegerField()
    unrecognised = UnrecognisedSerializer(many=True)
    unrecognised_count = serializers.IntegerField()
    warnings = WarningSerializer(many=True)
    warning_count = serializers.IntegerField()


class PreviewSerializer(UnderstoodSerializer):
    documents = serializers.ListField(child=serializers.JSONField())


class ImportedSerializer(StoredRunSerializer, UnderstoodSerializer):
    """Describe an import: all runs in `runs`, and the first run in `run_id`, `status` and `url`."""

    import_id = serializers.UUIDField()
    runs = StoredRunSerializer(many=True)


class ImportList(ApiView):
    parameters = {"POST": ImportForm}
    permission_classes = [MayUpload]

    @extend_schema(
        operation_id="imports_create",
        request={"text/plain": OpenApiTypes.STR},
        responses={
            202: OpenApiResponse(ImportedSerializer, "Stored and queued for processing."),
            200: OpenApiResponse(PreviewSerializer, "A preview, or already stored results."),
            409: OpenApiResponse(OpenApiTypes.OBJECT, "Another upload already uses this run_id."),
            413: OpenApiResponse(OpenApiTypes.OBJECT, "Larger than 2 MiB or 50,000 lines."),
        },
    )
    def post(self, request: Request) -> Response:
        """Parse plain text (at most 2 MiB) and store the results. With preview=1, store nothing.

        The response lists uncertain results and unrecognised lines. Uncertain results are stored
        only with accept=all.
        """
        query = self.form.given
        wanted = _import_request(request, query)
        try:
            if query.get("preview") == "1":
                return Response(_preview(wanted))
            return _stored(wanted, request)
        except TextTooLarge as error:
            raise TooLarge(str(error)) from None
        except NotAText as error:
            raise ValidationError({"text": str(error)}, code="not_a_text") from None
        except NoFigures as error:
            raise ValidationError({"text": str(error)}, code="no_figures") from None
        except RunTaken as error:
            raise Conflict(f"{error} Nothing was stored.") from None


def _import_request(request: Request, query: Mapping[str, Any]) -> ImportRequest:
    tool = query.get("format", "auto")
    hints = Hints(
        None if tool == "auto" else tool,
        query.get("unit"),
        query.get("bytes"),
        query.get("cipher") or None,
    )
    facts = {name: query[name] for name in FACTS if query.get(name)}
    return ImportRequest(
        read_body(request, *TEXT_TYPES, most=MAX_BYTES),
        hints,
        query.get("accept", "certain"),
        {"": Corrections(**facts)} if facts else {},
    )


def _preview(wanted: ImportRequest) -> Mapping[str, Any]:
    understood = understand(wanted)
    return _understood(understood, wanted) | {"documents": list(understood.made.documents)}


def _stored(wanted: ImportRequest, request: Request) -> Response:
    imported = store_import(wanted, token=cast(ApiToken, request.auth))
    runs = [stored_run(run, request) for run in imported.runs]
    return Response(
        {
            **runs[0],
            "import_id": str(imported.import_id),
            "runs": runs,
            **_understood(imported.understood, wanted),
        },
        status=status.HTTP_202_ACCEPTED if imported.created else status.HTTP_200_OK,
    )


def _understood(understood: Understood, wanted: ImportRequest) -> dict[str, Any]:
    reading = understood.reading
    skipped = [figure for figure in reading.figures() if not is_selected(figure, wanted.selection)]
    fields = {
        "format": reading.format,
        "uncertain": skipped[:LISTED],
        "uncertain_count": len(skipped),
        "unrecognised": reading.unrecognised[:LISTED],
        "unrecognised_count": len(reading.unrecognised),
        "warnings": understood.remarks[:LISTED],
        "warning_count": len(understood.remarks),
    }
    return dict(UnderstoodSerializer(fields).data)
