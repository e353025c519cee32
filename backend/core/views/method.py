from django.views.generic import TemplateView

from cipherspeed.baselines import NAMES
from cipherspeed.choices import METRICS
from cipherspeed.reference_profile import PROFILE
from core.access import ReaderMixin


class MethodPage(ReaderMixin, TemplateView):
    template_name = "core/method.html"
    extra_context = {
        "metrics": METRICS,
        "profile": PROFILE,
        "levels": [
            (tool, NAMES[family], level)
            for tool, of_tool in PROFILE.levels.items()
            for family, level in of_tool.items()
        ],
    }
