from typing import Any

from csp.decorators import csp_update
from django.urls import reverse
from django.utils.decorators import method_decorator
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.views import APIView


# Swagger UI uses style attributes; the page contains no user input.
@method_decorator(csp_update({"style-src": ["'unsafe-inline'"]}), name="dispatch")
class DocsView(SpectacularSwaggerSplitView):
    """Serve the interactive documentation of the API. Allow only GET and HEAD."""

    template_name = "core/api_docs.html"
    http_method_names = ["get", "head"]


@extend_schema(exclude=True)
class NoSuchAddress(APIView):
    """Return status 404 in the error format of the API for unknown paths below /api/."""

    permission_classes = ()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        # `super().initial()` would first check authentication and rate limits.
        raise NotFound(f"{request.path} not found; see {reverse('api:docs')}.")
