"""What `doctor` says to do, by how the site is run."""

from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from monitoring.checks import remedies

WAYS = {
    "make run": "make run",
    "compose": "docker compose up -d worker",
    "kubernetes": "kubectl --namespace ciphermark rollout restart deployment/ciphermark-worker",
    "systemd": "systemctl start ciphermark-worker",
}


@pytest.mark.parametrize("way", WAYS)
def test_the_worker_is_started_as_the_site_is_run(
    way: str, settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings.PRODUCTION = way != "make run"
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    if way == "kubernetes":
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    mark = tmp_path if way in ("compose", "kubernetes") else tmp_path / "none"
    monkeypatch.setattr(remedies, "CONTAINER_MARKS", (mark,))
    said = [
        remedies.start("worker"),
        remedies.start_server("Redis", "redis"),
        remedies.prepare(),
        remedies.back_up(),
    ]
    assert said[0] == WAYS[way]
    assert all(("docker" in one) == (way == "compose") for one in said)
