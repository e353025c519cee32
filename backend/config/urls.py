"""Every address of the site but the probes (`monitoring.probes`): API, agent, admin, pages."""

from django.contrib import admin
from django.urls import include, path

from runs.agent import agent_checksum, agent_script

urlpatterns = [
    path("agent.py", agent_script, name="agent-script"),
    path("agent.py.sha256", agent_checksum, name="agent-checksum"),
    path("api/", include("api.urls")),
    path("admin/", admin.site.urls),
    path("", include("pages.urls")),
]
