"""What a new host says of itself before an editor has approved it: shown to editors alone.

At every address of the URL configuration, with a run of it in each state that a run can have.
"""

import zipfile
from io import BytesIO

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from ingest.processing.run_processing import process_run
from results.hosts.runs import waiting_hosts
from store.models import Host, Run
from tests.api.test_access_matrix import ROUTES, Site, site
from tests.conftest import ApiClient
from tests.pages.test_hostile_strings import document

__all__ = ["site"]
NAME = "strangerbox"
OWN = {"accepted": f"{NAME} new", "held": f"{NAME} old", "rejected": f"{NAME} bad"}


@pytest.fixture
def waiting(site: Site, uploader: ApiClient, settings: Settings) -> dict[str, Run]:
    """State -> a run of a host that nobody has approved."""
    settings.CIPHERMARK_APPROVE_HOSTS = True
    found = {}
    for number, (state, name) in enumerate(OWN.items()):
        run_id = uploader.upload(document(name, number)).json()["run_id"]
        found[state] = Run.objects.get(run_id=run_id)
    process_run(found["held"].pk)
    Run.objects.filter(pk=found["rejected"].pk).update(status="rejected", rejection=f"Of {NAME}.")
    host = Host.objects.get(approved=False)
    assert list(waiting_hosts()) == [host]
    Host.objects.filter(pk=host.pk).update(slug="guessed")  # an answer may repeat what was asked
    return found


def body_of(client: Client, path: str) -> str:
    response = client.get(path)
    body = b"".join(getattr(response, "streaming_content", None) or [response.content])
    if body.startswith(b"PK"):
        with zipfile.ZipFile(BytesIO(body)) as book:
            body = b"".join(book.read(name) for name in book.namelist())
    return body.decode(errors="replace").lower()


def of_a_run(site: Site, run: Run) -> list[str]:
    """Every address that tells of this run."""
    one = Site({**site.values, "run_id": run.run_id}, site.clients)
    other = Site({**site.values, "other_id": run.run_id}, site.clients)
    return [
        *(one.path(route) for route in ROUTES if "run_id>" in route.pattern),
        *(other.path(route) for route in ROUTES if route.name == "run-page-diff"),
        f"/api/v1/runs/?run_id={run.run_id}",
        f"/runs/?status={run.status}",
        f"/api/v1/exports/measurements.csv?run={run.run_id}",
        f"/api/v1/exports/samples.csv?status={run.status}",
    ]


def of_the_host(site: Site) -> list[str]:
    """Every other address, about the host where it is about one."""
    host = Host.objects.get(approved=False)
    one = Site({**site.values, "host_id": host.pk}, site.clients)
    pages = (route for route in ROUTES if not route.name.startswith("admin:"))
    return [
        *(one.path(route) for route in pages if "run_id>" not in route.pattern),
        f"/api/v1/trends/?host={host.slug}&tool=ssh&cipher=aes128-ctr",
        f"/api/v1/recommendation/?client={host.slug}&server=nas",
        "/?group_by=host",
        "/?group_by=tag:rack",
        "/recommend/?for=group",
        "/runs/?q=box",
        "/hosts/?q=box",
    ]


def test_no_reader_sees_a_host_that_waits_and_editors_do(
    site: Site, waiting: dict[str, Run], settings: Settings
) -> None:
    """Of a public site, where more people are readers."""
    settings.CIPHERMARK_PUBLIC = True
    paths = [path for run in waiting.values() for path in of_a_run(site, run)]
    told = [
        f"{actor}: {path}"
        for path in (*paths, *of_the_host(site))
        for actor in ("anonymous", "read token" if path.startswith("/api/") else "viewer")
        if NAME in body_of(site.clients[actor], path)
    ]
    assert not told, "\n".join(told)
    editor = site.clients["editor"]
    assert NAME in body_of(editor, "/runs/")
    assert NAME in body_of(editor, "/api/v1/runs/")
    assert NAME in body_of(editor, "/hosts/waiting/")
    for state in ("accepted", "rejected"):
        assert NAME in body_of(editor, f"/runs/{waiting[state].run_id}/")
        assert NAME in body_of(editor, f"/api/v1/runs/{waiting[state].run_id}/document/")
