"""The API's addresses, below /api/."""

from typing import Any

from csp.decorators import csp_update
from django.urls import path, re_path, reverse
from django.utils.decorators import method_decorator
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularJSONAPIView, SpectacularSwaggerSplitView
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.views import APIView

from api import profiles
from changes import api as changes
from compare import api as compare
from compare import shares
from hosts import api as hosts
from recommend.api import CipherList, RecommendationView
from runs import api as runs
from runs import imports

app_name = "api"


# Its pictures and folds have style attributes; no text of a user is on this page.
@method_decorator(csp_update({"style-src": ["'unsafe-inline'"]}), name="dispatch")
class DocsView(SpectacularSwaggerSplitView):
    """The browsable documentation: a page, which has no template for the answer to OPTIONS."""

    http_method_names = ["get", "head"]


@extend_schema(exclude=True)
class NoSuchAddress(APIView):
    """Every other address below /api/: a 404 in the API's own format."""

    permission_classes = ()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse before anything else, whatever the method."""
        raise NotFound(f"There is nothing at {request.path}; see {reverse('api:docs')}.")


urlpatterns = [
    path("v1/runs/", runs.RunList.as_view(), name="runs"),
    path("v1/runs/<uuid:run_id>/", hosts.RunView.as_view(), name="run"),
    path("v1/runs/<uuid:run_id>/document/", runs.RunDocumentView.as_view(), name="run-document"),
    path("v1/runs/<uuid:run_id>/text/", runs.RunTextView.as_view(), name="run-text"),
    path("v1/imports/", imports.ImportList.as_view(), name="imports"),
    path("v1/hosts/", hosts.HostList.as_view(), name="hosts"),
    path("v1/hosts/<str:host_id>/", hosts.HostView.as_view(), name="host"),
    path("v1/hosts/<str:host_id>/merge/", hosts.HostMerge.as_view(), name="merge-hosts"),
    path("v1/changes/", changes.FleetChangeList.as_view(), name="changes"),
    path("v1/changes/<int:change_id>/", changes.FleetChangeView.as_view(), name="change"),
    path("v1/notes/", hosts.NoteList.as_view(), name="notes"),
    path("v1/notes/<int:note_id>/", hosts.NoteView.as_view(), name="note"),
    path("v1/shares/", shares.ShareList.as_view(), name="shares"),
    path("v1/comparison/", compare.ComparisonView.as_view(), name="comparison"),
    path("v1/exports/comparison.csv", compare.ComparisonCsv.as_view(), name="comparison-csv"),
    path("v1/exports/comparison.xlsx", compare.ComparisonXlsx.as_view(), name="comparison-xlsx"),
    path("v1/exports/measurements.csv", compare.MeasurementsCsv.as_view(), name="measurements-csv"),
    path(
        "v1/exports/measurements.xlsx", compare.MeasurementsXlsx.as_view(), name="measurements-xlsx"
    ),
    path("v1/reference-profiles/", profiles.ReferenceProfileList.as_view(), name="profiles"),
    path("v1/trends/", changes.TrendView.as_view(), name="trends"),
    path("v1/ciphers/", CipherList.as_view(), name="ciphers"),
    path("v1/recommendation/", RecommendationView.as_view(), name="recommendation"),
    path("v1/schema/run", runs.RunSchemaView.as_view(), name="run-schema"),
    path("v1/openapi.json", SpectacularJSONAPIView.as_view(), name="openapi"),
    path("docs/", DocsView.as_view(url_name="api:openapi"), name="docs"),
    re_path(r"[\s\S]", NoSuchAddress.as_view(), name="no-such-address"),  # line breaks too
]
