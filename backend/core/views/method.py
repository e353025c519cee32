"""The page `/method/`."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from cipherspeed.baselines import NAMES
from cipherspeed.choices import METRICS
from cipherspeed.reference_profile import PROFILE
from core.access import reader_page


@reader_page
def method_page(request: HttpRequest) -> HttpResponse:
    levels = [
        (tool, NAMES[family], level)
        for tool, of_tool in PROFILE.levels.items()
        for family, level in of_tool.items()
    ]
    context = {"metrics": METRICS, "profile": PROFILE, "levels": levels}
    return render(request, "core/method.html", context)
