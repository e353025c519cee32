"""`make release-check`."""

import shutil
import subprocess
from pathlib import Path

from tests.release import (
    MIGRATIONS,
    NAMED_AGAIN,
    PROJECT,
    RECORDED,
    VERSION,
    disagreements,
    unfinished,
)


def copy_of_the_places(folder: Path) -> Path:
    for file in (VERSION[0], *(name for name, _ in NAMED_AGAIN)):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / file, folder / file)
    return folder


def test_all_places_name_one_version() -> None:
    assert disagreements(PROJECT) == []


def test_a_place_that_was_forgotten_is_named(tmp_path: Path) -> None:
    copy = copy_of_the_places(tmp_path)
    path = copy / VERSION[0]
    path.write_text('__version__ = "9.8.7"\n')
    assert [fault.partition(" says ")[0] for fault in disagreements(copy)] == [
        name for name, _ in NAMED_AGAIN
    ]


def test_what_is_left_before_a_tag_is_named(tmp_path: Path) -> None:
    copy = copy_of_the_places(tmp_path)
    (copy / VERSION[0]).write_text('__version__ = "1.2.3"\n')
    (copy / MIGRATIONS).mkdir(parents=True)
    (copy / MIGRATIONS / "0031_later.py").touch()
    (copy / RECORDED).mkdir(parents=True)
    recorded = copy / RECORDED / "1.2.3.json"
    recorded.write_text('{"migration": "0030_earlier"}')
    changes = copy / "CHANGELOG.md"
    changes.write_text("# Changes\n\n## Unreleased\n")

    def git(*arguments: str) -> None:
        author = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", "-C", copy, *author, *arguments], check=True, capture_output=True)

    git("init")
    heading, recording, commit = unfinished(copy)
    assert heading.startswith("CHANGELOG.md begins with")
    assert commit.endswith("not committed")
    assert recording.endswith("has no site of 1.2.3 as it is now: make record-site")
    recorded.write_text('{"migration": "0031_later"}')
    changes.write_text("# Changes\n\n## 1.2.3 (2026-12-01)\n")
    git("add", ".")
    git("commit", "--message", "all")
    assert unfinished(copy) == []
    git("tag", "v1.2.3")
    assert unfinished(copy) == ["the tag v1.2.3 exists already: raise the version"]
