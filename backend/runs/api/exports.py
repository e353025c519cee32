"""Downloads: comparisons, measurements and single tries as CSV and as workbooks."""

from tempfile import TemporaryFile

from django.http import FileResponse, HttpResponseBase, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.views import APIView

from runs.api.conditional import of_present_data
from runs.api.export_parameters import export_of, file_name
from runs.api.schema import COMPARISON_PARAMETERS
from runs.exporting import (
    COMPARISON,
    MEASUREMENTS,
    SAMPLES,
    Export,
    comparison_lines,
    csv_chunks,
    write_xlsx,
)

AT_ONCE_ROWS = 100_000
"""A workbook of more rows is made in the background: it takes longer than people wait."""

CSV_TYPE = "text/csv; charset=utf-8"
XLSX_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

CSV_PARAMETERS = [
    OpenApiParameter("bom", OpenApiTypes.BOOL, description="Begin with Excel's mark of UTF-8."),
    OpenApiParameter(
        "excel", OpenApiTypes.BOOL, description="The mark, semicolons and decimal commas."
    ),
]
ROW_PARAMETERS = [
    OpenApiParameter("columns", OpenApiTypes.STR, description="Names by commas; default: all."),
    OpenApiParameter("run", OpenApiTypes.UUID, many=True, description="Of these runs alone."),
    OpenApiParameter(
        "latest", OpenApiTypes.BOOL, description="Only what votes in comparisons; default: all."
    ),
]


def site_of(request: Request) -> str:
    """This site's address as the reader has it, without a slash at its end."""
    return request.build_absolute_uri("/").rstrip("/")


def asked_export(request: Request, kind: str, *, workbook: bool = False) -> Export:
    """The export that a request asks for."""
    return export_of(kind, request.query_params, site_of(request), workbook=workbook)


def _download(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}


def csv_response(export: Export) -> StreamingHttpResponse:
    """Measurements or tries, sent on as the database writes them."""
    chunks = (chunk for chunk, _ in csv_chunks(export))
    headers = _download(file_name(export, "csv"))
    return StreamingHttpResponse(chunks, content_type=CSV_TYPE, headers=headers)


def comparison_csv_response(export: Export) -> StreamingHttpResponse:
    """A comparison as CSV."""
    headers = _download(file_name(export, "csv"))
    return StreamingHttpResponse(comparison_lines(export), content_type=CSV_TYPE, headers=headers)


def xlsx_response(export: Export) -> HttpResponseBase:
    """A workbook, made before the answer begins: half a workbook is none."""
    if export.count(AT_ONCE_ROWS) > AT_ONCE_ROWS:
        raise ValidationError(
            f"A workbook of more than {AT_ONCE_ROWS:,} measurements is made in the background:"
            " POST the same question to /api/v1/exports/jobs/.",
            code="too_many_rows",
        )
    # Closed by the response, which reads from it.
    file = TemporaryFile(prefix="ciphermark-")  # noqa: SIM115
    for _ in write_xlsx(export, file):
        pass
    file.seek(0)
    name = file_name(export, "xlsx")
    return FileResponse(file, as_attachment=True, filename=name, content_type=XLSX_TYPE)


class ComparisonCsv(APIView):
    """The comparison as a file."""

    @extend_schema(
        operation_id="comparison_csv",
        parameters=[*COMPARISON_PARAMETERS, *CSV_PARAMETERS],
        responses={(200, "text/csv"): OpenApiTypes.STR},
    )
    def get(self, request: Request) -> HttpResponseBase:
        """The same numbers as CSV: one row for each group and cipher."""
        return of_present_data(
            request, lambda _: comparison_csv_response(asked_export(request, COMPARISON))
        )


class ComparisonXlsx(APIView):
    """The comparison as a workbook."""

    @extend_schema(
        operation_id="comparison_xlsx",
        parameters=COMPARISON_PARAMETERS,
        responses={(200, XLSX_TYPE): OpenApiTypes.BINARY},
    )
    def get(self, request: Request) -> HttpResponseBase:
        """The same numbers with a chart, the measurements and machines behind them, the method."""
        return of_present_data(
            request, lambda _: xlsx_response(asked_export(request, COMPARISON, workbook=True))
        )


class MeasurementsCsv(APIView):
    """Measurements as a file."""

    @extend_schema(
        operation_id="measurements_csv",
        parameters=[*COMPARISON_PARAMETERS, *ROW_PARAMETERS, *CSV_PARAMETERS],
        responses={(200, "text/csv"): OpenApiTypes.STR},
    )
    def get(self, request: Request) -> HttpResponseBase:
        """One row for each measurement of runs that count, the latest run first, streamed."""
        return of_present_data(request, lambda _: csv_response(asked_export(request, MEASUREMENTS)))


class MeasurementsXlsx(APIView):
    """Measurements as a workbook."""

    @extend_schema(
        operation_id="measurements_xlsx",
        parameters=[*COMPARISON_PARAMETERS, *ROW_PARAMETERS],
        responses={(200, XLSX_TYPE): OpenApiTypes.BINARY},
    )
    def get(self, request: Request) -> HttpResponseBase:
        """The same rows as a workbook, with their comparison, machines and method."""
        return of_present_data(
            request, lambda _: xlsx_response(asked_export(request, MEASUREMENTS, workbook=True))
        )


class SamplesCsv(APIView):
    """Single tries as a file."""

    @extend_schema(
        operation_id="samples_csv",
        parameters=[*COMPARISON_PARAMETERS, *ROW_PARAMETERS, *CSV_PARAMETERS],
        responses={(200, "text/csv"): OpenApiTypes.STR},
    )
    def get(self, request: Request) -> HttpResponseBase:
        """One row for each try of each measurement, streamed."""
        return of_present_data(request, lambda _: csv_response(asked_export(request, SAMPLES)))
