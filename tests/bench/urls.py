"""The site's addresses and, beside them, the bare views that it is measured against."""

from django.http import HttpRequest, HttpResponse
from django.urls import include, path


def ping(_request: HttpRequest) -> HttpResponse:
    """The least that a view of this site can do, behind all its middleware."""
    return HttpResponse("pong")


urlpatterns = [
    path("bench/ping/", ping),
    path("", include("config.urls")),
]
