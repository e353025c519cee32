"""The lines of docs/operations.md for backup and restore, word for word."""

import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.launch.docker_stand_in import LASTING, UNKNOWN
from tests.launch.documented_site import VISITOR, Site, block_after, documented_site
from tests.launch.tools import within
from tests.sample_documents import run_document


@pytest.fixture(scope="module")
def sites(production: dict[str, str]) -> Iterator[tuple[Site, Site]]:
    """Two machines, on which nothing has been started yet."""
    both = (documented_site(production, 1), documented_site(production, 2))
    yield both
    for site in both:
        site.types("docker compose stop web worker beat")


def test_the_documented_restore_brings_a_site_to_a_server_just_started(
    sites: tuple[Site, Site],
) -> None:
    old, new = sites
    start = block_after("operations.md", "## Production: `docker compose up`").splitlines()
    up, make_token = start[1], start[3]
    backup, restore = block_after("operations.md", "### Backup and restore").split("\n\n")

    old.types(up)
    assert within(180, old.is_ready)
    assert (old.folder / "static" / "staticfiles.json").is_file()
    check = [sys.executable, "-m", "launch.healthcheck", f"{old.url}/healthz"]
    assert subprocess.run(check, env=old.environment, check=False).returncode == 0
    assert old.status("/accounts/login/", VISITOR) == 200
    assert old.status("/accounts/login/", {**VISITOR, "Host": "other.example"}) == 400
    assert old.status("/accounts/login/", {"X-Forwarded-Proto": "https"}) == 400
    token = old.types(make_token).strip()
    document = run_document()
    old.asked("/api/v1/runs/", token, document)
    run = f"/api/v1/runs/{document['run_id']}/"
    assert within(60, lambda: bool(old.asked(run, token)["status"] == "ready"))
    old.types(backup)
    old.types("docker compose stop web worker beat")
    assert within(60, lambda: old.exit_codes() == dict.fromkeys(LASTING, "0\n"))

    new.types(up)
    (file,) = old.folder.glob("*.dump")
    (new.folder / file.name).write_bytes(file.read_bytes())
    new.types(restore)
    assert new.rows() == old.rows()
    assert within(180, new.is_ready)
    assert new.asked(run, token)["status"] == "ready"


def test_a_line_that_the_stand_in_does_not_know_fails(sites: tuple[Site, Site]) -> None:
    for line in ("docker compose kill web", "docker compose run web true", "docker ps"):
        refused = sites[0].attempt(line)
        assert refused.returncode == UNKNOWN
        assert f"no mapping for: {line}" in refused.stderr
