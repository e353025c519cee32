"""The site's addresses and, beside them, the bare views that it is measured against."""

from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import include, path


@dataclass
class Bare:
    """What `bare_template` renders: a template and all that it needs, made beforehand.

    `parts` are templates, each with its context, whose HTML is a part of the page.
    """

    template: str = "pages/base.html"
    context: dict[str, Any] = field(default_factory=dict)
    parts: list[tuple[str, dict[str, Any]]] = field(default_factory=list)


bare = Bare()


def ping(_request: HttpRequest) -> HttpResponse:
    """The least that a view of this site can do, behind all its middleware."""
    return HttpResponse("pong")


def bare_template(request: HttpRequest) -> HttpResponse:
    """Templates with ready contexts: no query, no computing, nothing kept."""
    for template, context in bare.parts:
        render_to_string(template, context)
    return render(request, bare.template, bare.context)


def empty_page(request: HttpRequest) -> HttpResponse:
    """The frame of every page, with nothing in it."""
    return render(request, "pages/base.html")


urlpatterns = [
    path("bench/ping/", ping),
    path("bench/template/", bare_template),
    path("bench/empty/", empty_page),
    path("", include("config.urls")),
]
