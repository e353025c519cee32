"""Pages that say something rather than show measurements."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from pages.access import reader_required
from pages.metrics import METRICS
from store.reference_profiles import active_profile


@require_safe
@reader_required
def method_page(request: HttpRequest) -> HttpResponse:
    """Methodology, with the levels of the active reference profile."""
    profile = active_profile()
    context = {
        "metrics": METRICS,
        "profile": profile,
        "levels": [
            (tool, family, level)
            for tool, levels in sorted((profile.levels if profile else {}).items(), reverse=True)
            for family, level in levels.items()
        ],
    }
    return render(request, "pages/method.html", context)
