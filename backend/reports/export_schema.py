"""What the endpoints of files share: their types, and their parameters in the OpenAPI document."""

from django.http import HttpRequest
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework.request import Request

from analysis.group_view import SCALES
from questions.known_parameters import names_of
from questions.schema import COMPARISON_PARAMETERS
from reports.export_parameters import STATUSES
from reports.exporting import COMPARISON, MEASUREMENTS, SAMPLES

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
    OpenApiParameter(
        "q", OpenApiTypes.STR, description="Of runs whose host's name has this, or whose id begins."
    ),
    OpenApiParameter(
        "status", OpenApiTypes.STR, enum=STATUSES, many=True, description="Of runs in this state."
    ),
]

VIEW_PARAMETERS = [
    OpenApiParameter("group", OpenApiTypes.STR, description="Groups whose name has this text."),
    OpenApiParameter("sort", OpenApiTypes.STR, description="name, best, machines, cipher:NAME."),
    OpenApiParameter("top", OpenApiTypes.STR, description="Groups in the chart: 1 to 200, or all."),
    OpenApiParameter("page", OpenApiTypes.INT, description="Which of these."),
    OpenApiParameter("scale", OpenApiTypes.STR, enum=SCALES, description="Of the chart."),
]
NAMES_OF_FILES = {
    kind: names_of([*COMPARISON_PARAMETERS, *VIEW_PARAMETERS, *CSV_PARAMETERS, *of_rows])
    for kind, of_rows in (
        (COMPARISON, ()),
        (MEASUREMENTS, ROW_PARAMETERS),
        (SAMPLES, ROW_PARAMETERS),
    )
}
"""Kind of file -> parameters that it takes."""

PREFER = OpenApiParameter(
    "Prefer",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    description="respond-async: have the file made in the background (202).",
)
LATER = OpenApiResponse(OpenApiTypes.OBJECT, "The job, where `Prefer: respond-async` asked for it.")


def site_of(request: Request | HttpRequest) -> str:
    """This site's address as the reader has it, without a slash at its end."""
    return request.build_absolute_uri("/").rstrip("/")
