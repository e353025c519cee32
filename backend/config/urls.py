"""Every address of the site: API, operations, agent, admin, pages."""

from django.contrib import admin
from django.urls import include, path

from runs.api import operations
from runs.api.agent import agent_checksum, agent_script

urlpatterns = [
    path("healthz", operations.healthz, name="healthz"),
    path("readyz", operations.readyz, name="readyz"),
    path("agent.py", agent_script, name="agent-script"),
    path("agent.py.sha256", agent_checksum, name="agent-checksum"),
    path("api/", include("runs.api.urls")),
    path("admin/", admin.site.urls),
    path("", include("pages.urls")),
]
