"""Downloads: comparisons, measurements and single tries as CSV and as workbooks."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from tempfile import TemporaryFile
from typing import Any, TypeVar

from django.http import FileResponse, HttpResponseBase, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from api.export_jobs import job_address, made_later
from api.http.api_view import ApiView
from api.http.conditional import of_present_data
from api.http.ranged_file import FileNegotiation
from questions.comparison_parameters import COMPARISON_PARAMETERS
from questions.list_parameters import HOST_LIST, host_query
from questions.parameters import described
from reports.export_parameters import (
    CSV_PARAMETERS,
    LATER,
    PREFER,
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
    AT_ONCE_BYTES,
    AT_ONCE_ROWS,
    COMPARISON,
    MEASUREMENTS,
    SAMPLES,
    comparison_lines,
    csv_chunks,
    made_at_once,
    write_xlsx,
)
from reports.host_csv import host_lines
from results.hosts.host_list import listed_hosts
from store.replica import again_on_primary

Get = TypeVar("Get", bound=Callable[..., Any])


def csv_response(request: Request, kind: str) -> StreamingHttpResponse:
    """A comparison, or measurements or tries, sent on as the database writes them."""
    export = export_of(kind, request.query_params, site_of(request))
    lines: Iterable[str | bytes] = (
        comparison_lines(export)
        if kind == COMPARISON
        else (chunk for chunk, _ in csv_chunks(export))
    )
    if kind == SAMPLES:  # a document that cannot be read is told before the answer begins
        lines = _resumed(list(islice(lines, 2)), lines)
    return csv_file(lines, file_name(export.kind, export.query, "csv"))


def _resumed(begun: Iterable[str | bytes], rest: Iterable[str | bytes]) -> Iterator[str | bytes]:
    """All of it; closing this closes the rest."""
    yield from begun
    yield from rest


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
    export = export_of(kind, request.query_params, site_of(request), workbook=True)
    if not made_at_once(export, "xlsx"):
        raise TooManyRows(job_address(request.query_params, kind, "xlsx"))
    file = TemporaryFile(prefix="ciphermark-")  # noqa: SIM115 - the response reads and closes it

    def write() -> None:
        file.seek(0)
        file.truncate()
        for _ in write_xlsx(export, file):
            pass

    try:
        again_on_primary(write)
    except BaseException:
        file.close()
        raise
    file.seek(0)
    name = file_name(export.kind, export.query, "xlsx")
    return FileResponse(file, as_attachment=True, filename=name, content_type=XLSX_TYPE)


def _described(kind: str, form: str) -> Callable[[Get], Get]:
    """Describes an address that is a file; all but a comparison's CSV can be made later."""
    later = (kind, form) != (COMPARISON, "csv")
    of_type = (
        {(200, "text/csv"): OpenApiTypes.STR}
        if form == "csv"
        else {(200, XLSX_TYPE): OpenApiTypes.BINARY}
    )
    return extend_schema(
        operation_id=f"{kind}_{form}",
        parameters=[
            *COMPARISON_PARAMETERS,
            *VIEW_PARAMETERS,
            *(() if kind == COMPARISON else ROW_PARAMETERS),
            *(CSV_PARAMETERS if form == "csv" else ()),
            *((PREFER,) if later else ()),
        ],
        responses={**of_type, **({202: LATER} if later else {})},
    )


class FileView(ApiView):
    """An address that is a file of one type."""

    content_negotiation_class = FileNegotiation

    def answer(self, request: Request, kind: str, form: str) -> HttpResponseBase:
        """The file, or the job that makes it for who would rather not wait."""
        make = xlsx_response if form == "xlsx" else csv_response
        later = made_later(request, kind, form)
        return later or of_present_data(request, lambda _: make(request, kind))


class ComparisonCsv(FileView):
    """The comparison as a file."""

    @_described(COMPARISON, "csv")
    def get(self, request: Request) -> HttpResponseBase:
        """The comparison as CSV: one row for each group and cipher."""
        return of_present_data(request, lambda _: csv_response(request, COMPARISON))


class ComparisonXlsx(FileView):
    """The comparison as a workbook."""

    @_described(COMPARISON, "xlsx")
    def get(self, request: Request) -> HttpResponseBase:
        """The comparison with a chart, the measurements and hosts behind them, the method."""
        return self.answer(request, COMPARISON, "xlsx")


class MeasurementsCsv(FileView):
    """Measurements as a file."""

    @_described(MEASUREMENTS, "csv")
    def get(self, request: Request) -> HttpResponseBase:
        """One row for each measurement of runs that count, the latest run first, streamed."""
        return self.answer(request, MEASUREMENTS, "csv")


class MeasurementsXlsx(FileView):
    """Measurements as a workbook."""

    @_described(MEASUREMENTS, "xlsx")
    def get(self, request: Request) -> HttpResponseBase:
        """The same rows as a workbook, with their comparison, hosts and method."""
        return self.answer(request, MEASUREMENTS, "xlsx")


class SamplesCsv(FileView):
    """Single tries as a file."""

    @_described(SAMPLES, "csv")
    def get(self, request: Request) -> HttpResponseBase:
        """One row for each try of each measurement, streamed."""
        return self.answer(request, SAMPLES, "csv")


class HostsCsv(FileView):
    """The list of hosts as a file."""

    @extend_schema(
        operation_id="hosts_csv",
        parameters=[*described(HOST_LIST), *CSV_PARAMETERS],
        responses={(200, "text/csv"): OpenApiTypes.STR},
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        """One row for each host: AES verdict, its reason and advice, speed index, environment."""
        params = request.query_params
        lines = host_lines(listed_hosts(host_query(params)), csv_dialect(params))
        return csv_file(lines, "ciphermark-hosts.csv")
