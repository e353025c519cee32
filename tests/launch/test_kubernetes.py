"""deploy/kubernetes against the schemas of Kubernetes, and against docker-compose.yml.

No cluster is here: `test_documented_lines.py` runs compose's command lines, which are these.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from tests.launch.tools import PROJECT
from tests.production_shape import command_of, dockerfile, services

FOLDER = PROJECT / "deploy" / "kubernetes"
VERSIONS = ("1.30", "1.34", "1.37")
"""The oldest that is still sold, and the newest."""


def objects() -> list[dict[str, Any]]:
    """All that `kubectl apply --kustomize` makes, with the backup, as it stands in the files."""
    return [one for folder in (FOLDER, FOLDER / "backup") for one in _objects_of(folder)]


def _objects_of(folder: Path) -> Iterator[dict[str, Any]]:
    listed = yaml.safe_load((folder / "kustomization.yaml").read_text())["resources"]
    assert sorted(listed) == sorted(
        path.name for path in folder.glob("*.yaml") if path.name != "kustomization.yaml"
    )
    for name in listed:
        yield from yaml.safe_load_all((folder / name).read_text())


def pods() -> dict[str, dict[str, Any]]:
    """The pods of deployments and jobs, by what the services of compose are called."""
    made = [one for one in objects() if one["kind"] in ("Deployment", "Job", "CronJob")]
    return {
        one["metadata"]["name"].removeprefix("ciphermark-"): (
            one["spec"].get("jobTemplate", one)["spec"]["template"]
        )
        for one in made
    }


def containers(pod: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from pod["spec"].get("initContainers", ())
    yield from pod["spec"]["containers"]


@pytest.mark.parametrize("version", VERSIONS)
def test_every_object_is_one_of_kubernetes(version: str) -> None:
    for one in objects():
        kubernetes_validate.validate(one, version, strict=True)


def test_a_misspelt_field_would_be_noticed() -> None:
    (web,) = (
        one
        for one in objects()
        if one["metadata"]["name"] == "ciphermark-web" and one["kind"] == "Deployment"
    )
    web["spec"]["replica"] = web["spec"].pop("replicas")
    with pytest.raises(kubernetes_validate.ValidationError, match="replica"):
        kubernetes_validate.validate(web, VERSIONS[-1], strict=True)


def test_it_is_what_compose_starts_but_for_the_servers() -> None:
    ours = {name for name, one in services().items() if "build" in one}
    ours -= {"web2", "worker2"}
    assert set(pods()) == ours


def test_commands_are_those_of_compose(tmp_path: Any) -> None:
    for name, pod in pods().items():
        (container,) = pod["spec"]["containers"]
        command = container.get("command")
        if name == "web":
            assert command is None  # the image's own
        elif name == "migrate":
            said, theirs = command[-1].split(" && "), services()[name]["command"][-1].split(" && ")
            assert said == [one for one in theirs if "collectstatic" not in one]
        elif name == "backup":
            theirs = services()[name]["command"][-1].replace("${CIPHERMARK_BACKUPS_KEEP:-14}", "14")
            assert all(one in theirs for one in command[-1].split(" && "))
        else:
            assert command == services()[name]["command"]
    ready = [one["command"] for one in containers(pods()["web"]) if "command" in one]
    assert ["python", "manage.py", "collectstatic", "--no-input"] in ready
    assert command_of("web", tmp_path)[0] == "gunicorn"


def test_nothing_may_do_what_it_need_not() -> None:
    (number,) = re.findall(r"useradd --system --uid (\d+)", dockerfile())
    for pod in pods().values():
        rules = pod["spec"]["securityContext"]
        assert (rules["runAsUser"], rules["runAsNonRoot"]) == (int(number), True)
        assert pod["spec"]["automountServiceAccountToken"] is False
        # Variables of services, such as CIPHERMARK_WEB_PORT, would be taken for settings.
        assert pod["spec"]["enableServiceLinks"] is False
        for container in containers(pod):
            confined = container["securityContext"]
            assert confined["readOnlyRootFilesystem"]
            assert not confined["allowPrivilegeEscalation"]
            assert confined["capabilities"] == {"drop": ["ALL"]}
            assert {"requests", "limits"} <= container["resources"].keys()


def test_whatever_is_written_has_a_volume() -> None:
    for pod in pods().values():
        volumes = {one["name"] for one in pod["spec"]["volumes"]}
        for container in containers(pod):
            mounted = {one["mountPath"]: one["name"] for one in container["volumeMounts"]}
            assert set(mounted.values()) <= volumes
            assert {"/tmp", "/var/lib/ciphermark"} <= mounted.keys()
            for setting in container.get("env", ()):
                assert setting["value"] in mounted


def test_the_backup_is_offered_and_has_a_lasting_folder() -> None:
    assert "#   - backup" in (FOLDER / "kustomization.yaml").read_text()
    (volume,) = (one for one in pods()["backup"]["spec"]["volumes"] if one["name"] == "backups")
    claims = {one["metadata"]["name"] for one in objects() if "Claim" in one["kind"]}
    assert volume["persistentVolumeClaim"]["claimName"] in claims


def test_settings_are_settings_and_none_is_a_secret() -> None:
    (settings,) = (one["data"] for one in objects() if one["kind"] == "ConfigMap")
    example = (PROJECT / ".env.example").read_text()
    names = set(re.findall(r"^#?([A-Z_]+)=", example, re.MULTILINE))
    assert settings.keys() <= names
    assert not any(re.search("SECRET|KEY|PASSWORD|DATABASE|REDIS", name) for name in settings)
    for pod in pods().values():
        for container in containers(pod):
            assert [next(iter(one)) for one in container["envFrom"]] == [
                "configMapRef",
                "secretRef",
            ]


def test_nobody_is_restarted_or_left_out_because_a_server_is_away() -> None:
    (web,) = pods()["web"]["spec"]["containers"]
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert web[probe]["httpGet"]["path"] == "/healthz"
    for name in ("worker", "beat"):  # which answer by way of Redis alone
        assert "livenessProbe" not in pods()[name]["spec"]["containers"][0]


def test_names_and_labels_find_each_other() -> None:
    labels = {one["metadata"]["labels"]["app.kubernetes.io/name"] for one in pods().values()}
    for one in objects():
        selector = one["spec"].get("selector", {}) if "spec" in one else {}
        wanted = selector.get("matchLabels", selector).get("app.kubernetes.io/name")
        assert wanted is None or wanted in labels
    budgets = {one["metadata"]["name"] for one in objects() if one["kind"] == "PodDisruptionBudget"}
    assert budgets == {"ciphermark-web", "ciphermark-worker"}
