import re
import subprocess
import sys
from pathlib import Path

from tests.cases import each

PROJECT = Path(__file__).parent.parent

CHOSEN = ("requirements.in", "requirements-dev.in")


def chosen(name: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in (PROJECT / name).read_text().splitlines():
        if line.startswith("-r "):
            found |= chosen(line.removeprefix("-r "))
        elif pinned := re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?==([\w.]+)", line):
            found[normal(pinned[1])] = pinned[2]
    return found


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def made(name: str) -> dict[str, str]:
    text = (PROJECT / name).read_text().replace("\\\n", " ")
    entries = [line for line in text.splitlines() if line and not line.startswith("#")]
    found = {}
    for entry in entries:
        pinned = re.match(r"([\w.-]+)(?:\[[\w,]+\])?==([\w.]+)[ ;]", entry)
        assert pinned, f"{name}: {entry[:80]} is not pinned"
        assert re.search(r" --hash=sha256:[0-9a-f]{64}", entry), f"{name}: {entry[:80]}: no hash"
        found[normal(pinned[1])] = pinned[2]
    return found


@each("name", CHOSEN)
def test_every_requirement_is_pinned_and_has_its_reason(name: str) -> None:
    reasoned = False
    for number, line in enumerate((PROJECT / name).read_text().splitlines(), start=1):
        if not line.strip():
            reasoned = False
        elif line.startswith("#"):
            reasoned = True
        elif not line.startswith("-r "):
            place = f"{name}:{number}: {line}"
            assert re.fullmatch(r"[\w.-]+(\[[\w,]+\])?==[\w.]+", line), f"{place} is not pinned"
            assert reasoned, f"{place} has no reason above it"


@each("name", CHOSEN)
def test_what_is_installed_is_what_was_chosen_by_the_hashes_of_its_files(name: str) -> None:
    installed = made(name.replace(".in", ".txt"))
    for package, version in chosen(name).items():
        assert installed.get(package) == version, f"{package}: run `make requirements`"


def test_nothing_that_a_package_needs_is_missing() -> None:
    # Packages are installed without their dependencies, so the files must list all of them.
    checked = subprocess.run(
        [sys.executable, "-m", "pip", "check"], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout


def test_the_files_agree_and_name_no_index() -> None:
    run, dev = (made(name.replace(".in", ".txt")) for name in CHOSEN)
    assert dev | run == dev
    for name in CHOSEN:
        assert "://" not in (PROJECT / name.replace(".in", ".txt")).read_text()
