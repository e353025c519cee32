"""Map the URLs of the site, except /healthz, /readyz and /metrics (see `core.middleware`)."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path, re_path
from drf_spectacular.views import SpectacularJSONAPIView

from accounts import urls as accounts
from changes import urls as changes
from compare import urls as compare
from core import urls as core
from core.views.api_docs import DocsView, NoSuchAddress
from hosts import urls as hosts
from recommend import urls as recommend
from runs import urls as runs
from runs.agent import agent_checksum, agent_script

api: list[URLPattern] = [
    *runs.api,
    *hosts.api,
    *compare.api,
    *recommend.api,
    *changes.api,
    path("openapi.json", SpectacularJSONAPIView.as_view(), name="openapi"),
]

below_api: list[URLPattern | URLResolver] = [
    path("v1/", include(api)),
    path("docs/", DocsView.as_view(url_name="api:openapi"), name="docs"),
    re_path(r"[\s\S]", NoSuchAddress.as_view(), name="no-such-address"),  # including line breaks
]

urlpatterns = [
    path("agent.py", agent_script, name="agent-script"),
    path("agent.py.sha256", agent_checksum, name="agent-checksum"),
    path("api/", include((below_api, "api"))),
    path("admin/", admin.site.urls),
    *compare.pages,
    *hosts.pages,
    *runs.pages,
    *recommend.pages,
    *changes.pages,
    *accounts.pages,
    *core.pages,
]
