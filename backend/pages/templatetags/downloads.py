"""The menu of downloads, for whatever a page shows."""

from typing import Any

from django import template
from django.http import QueryDict

from pages.downloads import comparison_downloads, measurement_downloads
from pages.page_query import api_params, search_text

register = template.Library()
MENU = "pages/parts/downloads_menu.html"


@register.inclusion_tag(MENU)
def download_menu(**chosen: Any) -> dict[str, Any]:
    """Measurements of one host (`host=KEY`) or one run (`run=ID`)."""
    params = QueryDict(mutable=True)
    for name, value in chosen.items():
        params[name] = str(value)
    return {"downloads": measurement_downloads(params)}


@register.inclusion_tag(MENU, takes_context=True)
def list_download_menu(context: template.Context) -> dict[str, Any]:
    """Measurements of the runs that the list of runs shows."""
    params = context["request"].GET
    asked = api_params(params)
    asked.setlist("status", params.getlist("status"))
    if search_text(params):
        asked["q"] = search_text(params)
    return {"downloads": measurement_downloads(asked)}


@register.inclusion_tag(MENU, takes_context=True)
def comparison_download_menu(context: template.Context) -> dict[str, Any]:
    """The comparison that the page shows."""
    return {"downloads": comparison_downloads(context["request"].GET, context["query"])}
