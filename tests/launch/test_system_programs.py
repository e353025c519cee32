"""What `make test` needs of the system: found off PATH too, installed, or one command to type."""

from pathlib import Path

import pytest

from launch import system_programs
from launch.console import Problem
from launch.system_programs import CHROMIUM, SSH
from tests.launch.tools import MakeProgram


@pytest.fixture
def machine(programs: MakeProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeProgram:
    """A machine with nothing installed, whose user is root; puts a script on its PATH."""
    monkeypatch.setattr(system_programs, "USUAL_FOLDERS", (str(tmp_path / "usual"),))
    monkeypatch.setattr(system_programs, "MAC_CHROME", str(tmp_path / "no" / "Chrome"))
    monkeypatch.setenv("CIPHERMARK_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    return programs


def test_a_program_in_a_usual_folder_is_found_off_path(
    machine: MakeProgram, tmp_path: Path
) -> None:
    (tmp_path / "usual").mkdir()
    usual = machine("chromium", "exit 0").rename(tmp_path / "usual" / "chromium")
    assert system_programs.provide_chromium() == usual


def test_a_package_that_brings_the_program_is_installed(machine: MakeProgram) -> None:
    folder = machine("apt-get", "").parent
    machine("apt-get", f"cp {folder}/sleep {folder}/ssh")
    assert system_programs.provide(SSH) == folder / "ssh"


@pytest.mark.parametrize(
    ("tools", "command"),
    (
        (("apt-get",), "`sudo apt-get install --reinstall chromium`"),
        (("apt-get", "snap"), "`sudo snap install chromium`"),
        (("brew",), "`brew install --cask google-chrome`"),
        ((), "`make test CHROMIUM=/path/to/chromium`"),
    ),
)
def test_a_browser_that_cannot_be_had_is_one_sentence_with_one_command(
    machine: MakeProgram, tools: tuple[str, ...], command: str
) -> None:
    for tool in tools:
        machine(tool, "exit 0")  # it succeeds, and brings nothing
    with pytest.raises(Problem) as raised:
        system_programs.provide_all()
    assert str(raised.value).startswith("The tests need chromium or chromium-browser")
    assert str(raised.value).count("`") == 2
    assert command in str(raised.value)
    assert CHROMIUM.names[0] == "chromium"


def test_nginx_is_a_private_copy_that_nothing_starts(
    machine: MakeProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("launch.paths.TOOLS", tmp_path / "tools")
    with pytest.raises(Problem, match="The tests need nginx, and there is none: `install nginx`"):
        system_programs.provide_server(system_programs.NGINX)
    packages = tmp_path / "tools" / "nginx" / "packages"
    machine("apt-get", f"echo > {packages}/nginx.deb")
    machine("dpkg-deb", "mkdir -p $3/usr/sbin && echo > $3/usr/sbin/nginx")
    private = tmp_path / "tools" / "nginx" / "nginx"
    assert system_programs.provide_server(system_programs.NGINX) == private
    assert "root/usr/sbin/nginx" in private.read_text()
    assert not list((tmp_path / "tools").rglob("*.deb"))
    installed = machine("nginx", "")
    private.unlink()
    assert system_programs.provide_server(system_programs.NGINX) == installed


def test_what_the_tests_need_is_looked_for_before_the_environment_is_filled(
    machine: MakeProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from launch import __main__ as launch_main
    from launch import paths, preconditions, virtual_environment

    steps: list[str] = []
    monkeypatch.setattr(preconditions, "check_folders", lambda: None)
    monkeypatch.setattr(paths, "PROJECT", tmp_path)
    monkeypatch.setattr(preconditions, "check_files", lambda: None)
    monkeypatch.setattr(virtual_environment, "prepare", steps.append)
    (tmp_path / ".data" / "test").mkdir(parents=True)
    assert launch_main.main(["test"]) == 1
    assert steps == []
