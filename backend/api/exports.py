"""Downloads: comparisons, measurements and single tries as CSV and as workbooks."""

from collections.abc import Callable
from tempfile import TemporaryFile

from django.http import FileResponse, HttpResponseBase, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from api.export_jobs import job_address, made_later
from api.http.api_view import ApiView
from api.http.conditional import of_present_data
from api.http.negotiation import OfFiles
from questions.schema import COMPARISON_PARAMETERS
from reports.export_parameters import export_of, file_name
from reports.export_schema import (
    CSV_PARAMETERS,
    CSV_TYPE,
    LATER,
    PREFER,
    ROW_PARAMETERS,
    VIEW_PARAMETERS,
    XLSX_TYPE,
    site_of,
)
from reports.exporting import (
    AT_ONCE_BYTES,
    AT_ONCE_ROWS,
    COMPARISON,
    MEASUREMENTS,
    SAMPLES,
    Export,
    comparison_lines,
    csv_chunks,
    made_at_once,
    write_xlsx,
)


def asked_export(request: Request, kind: str, *, workbook: bool = False) -> Export:
    """The export that a request asks for."""
    return export_of(kind, request.query_params, site_of(request), workbook=workbook)


def _download(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}


def csv_response(request: Request, kind: str) -> StreamingHttpResponse:
    """Measurements or tries, sent on as the database writes them."""
    export = asked_export(request, kind)
    chunks = (chunk for chunk, _ in csv_chunks(export))
    headers = _download(file_name(export.kind, export.query, "csv"))
    return StreamingHttpResponse(chunks, content_type=CSV_TYPE, headers=headers)


def comparison_csv_response(request: Request) -> StreamingHttpResponse:
    """A comparison as CSV."""
    export = asked_export(request, COMPARISON)
    headers = _download(file_name(export.kind, export.query, "csv"))
    return StreamingHttpResponse(comparison_lines(export), content_type=CSV_TYPE, headers=headers)


class TooManyRows(ValidationError):
    """A workbook that nobody should wait for; `address` is where it can be asked for."""

    def __init__(self, address: str) -> None:
        super().__init__(
            f"A workbook of more than {AT_ONCE_ROWS:,} measurements, or with more than"
            f" {AT_ONCE_BYTES // 10**6} MB of text in them, is made in the background:"
            f" POST to {address}, or send this request with the header `Prefer: respond-async`.",
            code="too_many_rows",
        )


def xlsx_response(request: Request, kind: str) -> HttpResponseBase:
    """A workbook, made before the answer begins: half a workbook is none."""
    export = asked_export(request, kind, workbook=True)
    if not made_at_once(export, "xlsx"):
        raise TooManyRows(job_address(request.query_params, kind, "xlsx"))
    file = TemporaryFile(prefix="ciphermark-")  # noqa: SIM115 - the response reads and closes it
    try:
        for _ in write_xlsx(export, file):
            pass
    except BaseException:
        file.close()
        raise
    file.seek(0)
    name = file_name(export.kind, export.query, "xlsx")
    return FileResponse(file, as_attachment=True, filename=name, content_type=XLSX_TYPE)


def file_or_job(
    request: Request, kind: str, form: str, make: Callable[[Request, str], HttpResponseBase]
) -> HttpResponseBase:
    """The file that `make` makes, or the job that makes it for who would rather not wait."""
    later = made_later(request, kind, form)
    return later or of_present_data(request, lambda _: make(request, kind))


class FileView(ApiView):
    """An address that is a file of one type."""

    content_negotiation_class = OfFiles


class ComparisonCsv(FileView):
    """The comparison as a file."""

    @extend_schema(
        operation_id="comparison_csv",
        parameters=[*COMPARISON_PARAMETERS, *VIEW_PARAMETERS, *CSV_PARAMETERS],
        responses={(200, "text/csv"): OpenApiTypes.STR},
    )
    def get(self, request: Request) -> HttpResponseBase:
        """The comparison as CSV: one row for each group and cipher."""
        return of_present_data(request, lambda _: comparison_csv_response(request))


class ComparisonXlsx(FileView):
    """The comparison as a workbook."""

    @extend_schema(
        operation_id="comparison_xlsx",
        parameters=[*COMPARISON_PARAMETERS, *VIEW_PARAMETERS, PREFER],
        responses={(200, XLSX_TYPE): OpenApiTypes.BINARY, 202: LATER},
    )
    def get(self, request: Request) -> HttpResponseBase:
        """The comparison with a chart, the measurements and hosts behind them, the method."""
        return file_or_job(request, COMPARISON, "xlsx", xlsx_response)


class MeasurementsCsv(FileView):
    """Measurements as a file."""

    @extend_schema(
        operation_id="measurements_csv",
        parameters=[
            *COMPARISON_PARAMETERS,
            *VIEW_PARAMETERS,
            *ROW_PARAMETERS,
            *CSV_PARAMETERS,
            PREFER,
        ],
        responses={(200, "text/csv"): OpenApiTypes.STR, 202: LATER},
    )
    def get(self, request: Request) -> HttpResponseBase:
        """One row for each measurement of runs that count, the latest run first, streamed."""
        return file_or_job(request, MEASUREMENTS, "csv", csv_response)


class MeasurementsXlsx(FileView):
    """Measurements as a workbook."""

    @extend_schema(
        operation_id="measurements_xlsx",
        parameters=[*COMPARISON_PARAMETERS, *VIEW_PARAMETERS, *ROW_PARAMETERS, PREFER],
        responses={(200, XLSX_TYPE): OpenApiTypes.BINARY, 202: LATER},
    )
    def get(self, request: Request) -> HttpResponseBase:
        """The same rows as a workbook, with their comparison, hosts and method."""
        return file_or_job(request, MEASUREMENTS, "xlsx", xlsx_response)


class SamplesCsv(FileView):
    """Single tries as a file."""

    @extend_schema(
        operation_id="samples_csv",
        parameters=[
            *COMPARISON_PARAMETERS,
            *VIEW_PARAMETERS,
            *ROW_PARAMETERS,
            *CSV_PARAMETERS,
            PREFER,
        ],
        responses={(200, "text/csv"): OpenApiTypes.STR, 202: LATER},
    )
    def get(self, request: Request) -> HttpResponseBase:
        """One row for each try of each measurement, streamed."""
        return file_or_job(request, SAMPLES, "csv", csv_response)
