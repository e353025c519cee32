from collections.abc import Callable
from tempfile import TemporaryFile
from typing import Any, TypeVar

import orjson
from django.http import FileResponse, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from cipherspeed.group_view import GroupView
from cipherspeed.groups import answer
from compare.comparison import compare
from compare.engine import analytics
from compare.files import (
    chosen_measurements,
    comparison_csv,
    comparison_name,
    csv_response,
    file_name,
    measurements_csv,
)
from compare.question import ComparisonForm, GroupsForm, OrderedForm
from compare.serializers import ComparisonSerializer
from compare.votes import voting
from compare.workbook import Contents, write_workbook
from core.api_view import ApiView
from core.parameters import Choice, ParameterForm, RunId, Switch, Text, Values
from runs.models import Run

Get = TypeVar("Get", bound=Callable[..., Any])

XLSX_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
MOST_ROWS = 50_000
"""Maximum number of measurements in a workbook. The client waits until the workbook is written."""


class CsvForm(ParameterForm):
    excel = Switch(help_text="Use semicolons, decimal commas and a byte order mark.")


class ComparisonCsvForm(GroupsForm, CsvForm):
    pass


class MeasurementFileForm(ComparisonForm):
    run_id = Values(RunId(), help_text="ID of a run. Repeatable.")
    q = Text(help_text="Part of the host name or beginning of the run ID.")
    status = Values(Choice(Run.Status.values), help_text="Status of the runs.")


class MeasurementCsvForm(MeasurementFileForm, CsvForm):
    pass


class FileView(ApiView):
    """Return a file. The type of the file does not depend on the Accept header."""

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """Ignore the Accept header, so that clients that accept only CSV receive errors as JSON."""
        return super().perform_content_negotiation(request, force=True)

    def handle_exception(self, exc: Exception) -> Any:
        response = super().handle_exception(exc)
        if response.status_code != 400 or not self.by_browser:
            return response
        errors = response.data["errors"]
        return render(self.request._request, "400.html", {"errors": errors}, status=400)


def _file(name: str, media_type: str) -> Callable[[Get], Get]:
    content = OpenApiTypes.STR if media_type == "text/csv" else OpenApiTypes.BINARY
    return extend_schema(operation_id=name, responses={(200, media_type): content})


class ComparisonView(ApiView):
    parameters = {"GET": OrderedForm}

    @extend_schema(operation_id="comparison", responses=ComparisonSerializer)
    def get(self, request: Request) -> HttpResponse:
        """Compare groups of hosts by median and quartiles. Each host counts once per group."""
        comparison = compare(self.form.query)
        if sort := self.form.given.get("sort"):
            comparison = GroupView(sort).filtered(comparison)
        return HttpResponse(orjson.dumps(answer(comparison)), content_type="application/json")


class ComparisonCsv(FileView):
    parameters = {"GET": ComparisonCsvForm}

    @_file("comparison_csv", "text/csv")
    def get(self, request: Request) -> HttpResponseBase:
        """Export the comparison as CSV, with one row per group and cipher."""
        query = self.form.query
        comparison = self.form.view.filtered(compare(query))
        lines = comparison_csv(query, comparison, excel=self.form.given.get("excel", False))
        return csv_response(lines, comparison_name(query))


class ComparisonXlsx(FileView):
    parameters = {"GET": GroupsForm}

    @_file("comparison_xlsx", XLSX_TYPE)
    def get(self, request: Request) -> HttpResponseBase:
        """Export the comparison as an Excel workbook with its measurements, hosts and method."""
        query, view = self.form.query, self.form.view
        with analytics():
            comparison = view.filtered(compare(query))
            keys = voting(query, comparison.groups if view.search else None)
        contents = Contents(query, comparison, view, keys, *_parameters(request, ""))
        return _workbook(contents, comparison_name(query))


class MeasurementsCsv(FileView):
    parameters = {"GET": MeasurementCsvForm}

    @_file("measurements_csv", "text/csv")
    def get(self, request: Request) -> HttpResponseBase:
        """Export measurements as CSV, newest run first."""
        given = self.form.given
        runs, results = chosen_measurements(self.form)
        lines = measurements_csv(
            list(runs.values_list("pk", flat=True)),
            results,
            request.build_absolute_uri(reverse("compare")),
            excel=given.get("excel", False),
        )
        return csv_response(lines, file_name(given.get("tool"), "measurements"))


class MeasurementsXlsx(FileView):
    parameters = {"GET": MeasurementFileForm}

    @_file("measurements_xlsx", XLSX_TYPE)
    def get(self, request: Request) -> HttpResponseBase:
        """Export at most 50,000 measurements as an Excel workbook.

        The workbook also contains the comparison, the hosts and the method.
        """
        query, view, comparison = self.form.query, GroupView(), None
        runs, results = chosen_measurements(self.form)
        keys = results.filter(run__in=runs.values("pk")).values_list("run_id", "series_id")
        if not {"run_id", "q", "status"} & self.form.given.keys():
            comparison = view.filtered(compare(query))
        some = list(keys[: MOST_ROWS + 1])
        contents = Contents(query, comparison, view, some, *_parameters(request, "runs/"))
        return _workbook(contents, file_name("measurements"))


def _parameters(request: Request, page: str) -> tuple[list[tuple[str, str]], str, str]:
    """Return the request parameters, the URL of the site, and the URL of `page`."""
    params, site = request.query_params, request.build_absolute_uri(reverse("compare"))
    named = [(name, ", ".join(values)) for name, values in params.lists() if any(values)]
    return named, site, f"{site}{page}?{params.urlencode()}"


def _workbook(contents: Contents, name: str) -> FileResponse:
    if len(contents.keys) > MOST_ROWS:
        raise ValidationError(
            f"A workbook can hold {MOST_ROWS:,} measurements, but more match. Use CSV"
            " (exports/measurements.csv), or add filters.",
            code="too_many_rows",
        )
    file = TemporaryFile(prefix="ciphermark-")  # noqa: SIM115 - the response closes it
    write_workbook(file, contents)
    file.seek(0)
    return FileResponse(file, as_attachment=True, filename=f"{name}.xlsx", content_type=XLSX_TYPE)
