"""HTTP of the files: CSV streamed as the database writes it, workbooks of a bounded size."""

from collections.abc import Callable, Iterable
from tempfile import TemporaryFile
from typing import Any, TypeVar

from django.http import FileResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from api.http.api_view import ApiView
from hosts.filters import HostForm
from questions.comparison_parameters import COMPARISON_PARAMETERS
from reports.export_parameters import (
    CSV_PARAMETERS,
    ROW_PARAMETERS,
    VIEW_PARAMETERS,
    XLSX_TYPE,
    csv_dialect,
    csv_file,
    export_of,
    file_name,
    site_of,
)
from reports.exporting import (
    COMPARISON,
    MEASUREMENTS,
    comparison_lines,
    csv_chunks,
    write_xlsx,
)
from reports.host_csv import host_lines
from runs.parameters import checked, described

Get = TypeVar("Get", bound=Callable[..., Any])


def csv_response(request: Request, kind: str) -> StreamingHttpResponse:
    """Send a comparison, or measurements, as the database writes them."""
    export = export_of(kind, request.query_params, site_of(request))
    lines = comparison_lines(export) if kind == COMPARISON else csv_chunks(export)
    return csv_file(lines, file_name(export, "csv"))


def xlsx_response(request: Request, kind: str) -> HttpResponseBase:
    """A workbook, made before the answer begins: half a workbook is none."""
    export = export_of(kind, request.query_params, site_of(request), workbook=True)
    file = TemporaryFile(prefix="ciphermark-")  # noqa: SIM115 - the response reads and closes it
    try:
        write_xlsx(export, file)
    except BaseException:
        file.close()
        raise
    file.seek(0)
    name = file_name(export, "xlsx")
    return FileResponse(file, as_attachment=True, filename=name, content_type=XLSX_TYPE)


def _described(kind: str, form: str) -> Callable[[Get], Get]:
    """Describe an address that is a file."""
    return extend_schema(
        operation_id=f"{kind}_{form}",
        parameters=[
            *COMPARISON_PARAMETERS,
            *VIEW_PARAMETERS,
            *(() if kind == COMPARISON else ROW_PARAMETERS),
            *(CSV_PARAMETERS if form == "csv" else ()),
        ],
        responses=(
            {(200, "text/csv"): OpenApiTypes.STR}
            if form == "csv"
            else {(200, XLSX_TYPE): OpenApiTypes.BINARY}
        ),
    )


class _OneType(DefaultContentNegotiation):
    """A file of one type is what there is, whatever is accepted.

    Who accepts `text/csv` alone must not be refused the CSV because an error would be JSON.
    """

    def select_renderer(
        self,
        request: Request,
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,
    ) -> tuple[BaseRenderer, str]:
        """Return the first, for errors."""
        first = next(iter(renderers))
        return first, str(first.media_type)


class FileView(ApiView):
    """An address that is a file of one type."""

    content_negotiation_class = _OneType

    def handle_exception(self, exc: Exception) -> Any:
        """Show who followed a link in a browser what cannot be as a page, not as JSON."""
        response = super().handle_exception(exc)
        if response.status_code != status.HTTP_400_BAD_REQUEST or not self.by_browser:
            return response
        errors = response.data["errors"]
        return render(self.request._request, "400.html", {"errors": errors}, status=400)


class ComparisonCsv(FileView):
    """The comparison as a file."""

    @_described(COMPARISON, "csv")
    def get(self, request: Request) -> HttpResponseBase:
        """The comparison as CSV: one row for each group and cipher."""
        return csv_response(request, COMPARISON)


class ComparisonXlsx(FileView):
    """The comparison as a workbook."""

    @_described(COMPARISON, "xlsx")
    def get(self, request: Request) -> HttpResponseBase:
        """The comparison with a chart, the measurements and hosts behind them, the method."""
        return xlsx_response(request, COMPARISON)


class MeasurementsCsv(FileView):
    """Measurements as a file."""

    @_described(MEASUREMENTS, "csv")
    def get(self, request: Request) -> HttpResponseBase:
        """One row for each measurement of runs that count, the latest run first, streamed."""
        return csv_response(request, MEASUREMENTS)


class MeasurementsXlsx(FileView):
    """Measurements as a workbook."""

    @_described(MEASUREMENTS, "xlsx")
    def get(self, request: Request) -> HttpResponseBase:
        """Return at most 50,000 of them as a workbook, with their comparison, hosts and method."""
        return xlsx_response(request, MEASUREMENTS)


class HostsCsv(FileView):
    """The list of hosts as a file."""

    @extend_schema(
        operation_id="hosts_csv",
        parameters=[*described(HostForm()), *CSV_PARAMETERS],
        responses={(200, "text/csv"): OpenApiTypes.STR},
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        """One row for each host: AES verdict, its reason and advice, speed index, environment."""
        params = request.query_params
        lines = host_lines(checked(HostForm(params)).hosts, csv_dialect(params))
        return csv_file(lines, "ciphermark-hosts.csv")
