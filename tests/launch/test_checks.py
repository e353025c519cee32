"""`make test`'s own work: every part runs, one table, a plain last line, an honest exit code."""

import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from launch import checks, long_tests
from launch.checks import Check
from launch.console import Problem
from launch.interpreters import Interpreter
from tests.launch.tools import PROJECT, MakeProgram


def check(name: str, program: str) -> Check:
    return Check(name, (sys.executable, "-c", program))


PLAIN = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""A pytest that starts at once."""


def summary(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_a_failed_part_does_not_stop_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "ran"
    parts = [
        check("first", "import sys; sys.exit(3)"),
        check("second", f"open({str(trace)!r}, 'w')"),
    ]
    assert checks.run_checks(parts, {}) == 1
    assert trace.exists()
    lines = summary(capsys)
    assert lines[-1] == "1 passed, 1 failed"
    assert any(line.startswith("first") and "FAILED" in line and "3" in line for line in lines)
    assert any(line.startswith("second") and "passed" in line for line in lines)


def test_what_failed_is_named_again_below_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pytest.ini").touch()
    (tmp_path / "test_some.py").write_text("def test_sum():\n    assert 1 + 1 == 3\n")
    report = tmp_path / "report.xml"
    command = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--junitxml={report}")
    part = Check("sums", (*command, "test_some.py"), folder=tmp_path, report=report)
    assert checks.run_checks([part], PLAIN) == 1
    lines = summary(capsys)
    below = lines[next(i for i, line in enumerate(lines) if line.startswith("part ")) :]
    assert "sums: test_some::test_sum" in below
    assert any("assert (1 + 1) == 3" in line for line in below)


def test_a_part_beside_the_others_is_shown_and_judged_at_the_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    go_on = tmp_path / "go on"
    waits = (
        f"import pathlib, time\nwhile not pathlib.Path({str(go_on)!r}).exists(): time.sleep(.05)"
    )
    beside = replace(check("beside", f"{waits}\nprint('I was here')"), beside=tmp_path / "log")
    then = check("then", f"open({str(go_on)!r}, 'w')")
    assert checks.run_checks([beside, then], {}) == 0
    lines = summary(capsys)
    assert "I was here" in lines
    assert lines.index("I was here") > lines.index("=== then ===")
    assert lines[-1] == "2 passed, 0 failed"


def test_a_part_that_measures_runs_once_all_others_have_ended(tmp_path: Path) -> None:
    done = tmp_path / "done"
    slow = f"import time; time.sleep(1); open({str(done)!r}, 'w')"
    beside = replace(check("beside", slow), beside=tmp_path / "log")
    alone = replace(check("alone", f"open({str(done)!r})"), alone=True)
    assert checks.run_checks([alone, beside, check("then", "")], {}) == 0


def test_a_part_beside_the_others_ends_with_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = tmp_path / "started"
    waits = f"import time; open({str(trace)!r}, 'w'); time.sleep(600)"
    beside = replace(check("beside", waits), beside=tmp_path / "log")

    def interrupted(*_: object) -> None:
        while not trace.exists():
            time.sleep(0.05)
        raise KeyboardInterrupt

    broken = replace(check("broken", ""), report=tmp_path / "report.xml")
    began = time.monotonic()
    monkeypatch.setattr(checks, "_judged", interrupted)
    with pytest.raises(KeyboardInterrupt):
        checks.run_checks([beside, broken], {})
    assert time.monotonic() - began < 300


def test_each_test_belongs_to_one_part_of_everything() -> None:
    parts = [one for one in checks._everything({"PATH": ""}) if one.report]
    found = Counter(file for part in parts for file in files_of(part))
    assert found == Counter((PROJECT / "tests").rglob("test_*.py"))


def files_of(part: Check) -> set[Path]:
    """The files whose tests a part runs."""
    words = [str(word) for word in part.command]
    ignored = [PROJECT / word.partition("=")[2] for word in words if word.startswith("--ignore=")]
    asked = [PROJECT / word for word in words if word == "tests" or word.startswith("tests/")]
    files = {file for one in asked for file in ([one] if one.is_file() else one.rglob("test_*.py"))}
    return {file for file in files if not any(file.is_relative_to(folder) for folder in ignored)}


def test_other_pythons_repeat_what_depends_on_them_in_environments_of_their_own() -> None:
    python = Interpreter((3, 11, 2), Path("/somewhere/python3.11"))
    lane = checks._compatibility(python)
    assert lane.name == "Python 3.11.2"
    bootstrap = PROJECT / "backend" / "launch" / "bootstrap.py"
    assert lane.command == ("env", f"PYTHON={python.path}", python.path, bootstrap, "compat")
    assert lane.beside
    names = [name for part in checks.PYTHON_DEPENDENT_TESTS.values() for name in part]
    repeated = " ".join(names)
    for part in ("analysis", "documents", "texts", "agent", "end_to_end", "launch"):
        assert f"tests/{part}" in repeated
    for name in names:
        assert (PROJECT / name.removeprefix("--ignore=").split("::")[0]).exists(), name


def test_the_pythons_are_said_above_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    checks.run_checks([check("only", "")], {}, "Python 3.13.0 alone")
    lines = summary(capsys)
    assert lines[lines.index("Python 3.13.0 alone") + 1].startswith("part ")


def test_the_exit_code_is_0_only_when_all_passed(capsys: pytest.CaptureFixture[str]) -> None:
    assert checks.run_checks([check("only", "")], {}) == 0
    assert summary(capsys)[-1] == "1 passed, 0 failed"


@pytest.mark.parametrize(
    ("tests", "passes", "note"),
    (
        ("def test_one(): pass", True, "1 tests"),
        ("import pytest\n@pytest.mark.skip\ndef test_one(): pass", False, "1 of 1 tests skipped"),
        ("def test_one(): assert False", False, "exit code 1"),
        ("", False, "exit code 5"),  # pytest's own for "no tests were found"
    ),
)
def test_a_skipped_or_missing_test_is_not_a_passed_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], tests: str, passes: bool, note: str
) -> None:
    (tmp_path / "pytest.ini").touch()
    (tmp_path / "test_it.py").write_text(tests)
    report = tmp_path / "report.xml"
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    part = Check("part", (*command, f"--junitxml={report}", "."), tmp_path, report)
    assert checks.run_checks([part], PLAIN) == (0 if passes else 1)
    assert any(note in line for line in summary(capsys))


def test_the_settings_of_the_shell_do_not_reach_the_tests(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://precious")
    monkeypatch.setenv("CIPHERMARK_ENV", "production")
    monkeypatch.setenv("CIPHERMARK_DATA_DIR", str(tmp_path))
    environment = checks.clean_environment()
    assert "DATABASE_URL" not in environment
    assert "CIPHERMARK_ENV" not in environment
    assert environment["CIPHERMARK_DATA_DIR"] == str(tmp_path)


def make(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["make", *words], cwd=PROJECT, capture_output=True, text=True, check=False
    )


def test_make_alone_lists_the_targets() -> None:
    listed = make()
    assert listed.returncode == 0
    for target in ("run", "test", "lint", "types", "clean"):
        assert f"make {target} " in listed.stdout


@pytest.mark.parametrize(
    ("failing", "code", "last"),
    (
        ("", 0, ["make compat"]),
        ("test", 1, ["=== make test failed ===", "part  result", "make test"]),
        ("compat", 1, ["=== make compat failed ===", "part  result", "make compat"]),
    ),
)
def test_ci_runs_all_parts_and_ends_with_what_failed(
    programs: MakeProgram, failing: str, code: int, last: list[str]
) -> None:
    for name in ("bash", "grep", "mktemp", "rm", "sed", "tail", "tee"):
        programs(name, f'exec {shutil.which(name, path=os.defpath)} "$@"')
    programs("make", f'echo first; echo "part  result"; echo "make $1"; [ "$1" != "{failing}" ]')
    done = subprocess.run([PROJECT / ".ci" / "run"], capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith("make ")][:2] == ["make test", "make compat"]
    assert lines[-len(last) :] == last


def test_an_absent_lighthouse_is_said_with_what_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIGHTHOUSE", "/nowhere/lighthouse")
    monkeypatch.setattr(long_tests, "LIGHTHOUSE_FOLDER", Path("/nowhere"))
    with pytest.raises(Problem, match="not installed: npm install --prefix /nowhere lighthouse@"):
        long_tests.find_lighthouse()


def test_a_quick_check_runs_the_tests_of_the_rooms_that_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In commits that main does not have, in the working tree, and in files new to git."""

    def git(*words: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", "-C", tmp_path, *who, *words], check=True)

    def write(*names: str) -> None:
        for name in names:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(f"# {name}\n")

    git("init", "-q", "-b", "main")
    write(*(f"tests/{room}/test_it.py" for room in ("api", "pages", "store", "launch", "same")))
    write("backend/pages/urls.py", "backend/same/it.py", "backend/untested/it.py")
    git("add", ".")
    git("commit", "-qm", "begin")
    git("checkout", "-qb", "work")
    (tmp_path / "tests/api/test_it.py").write_text("committed\n")
    git("commit", "-qam", "work")
    (tmp_path / "backend/pages/urls.py").write_text("edited\n")
    write("backend/store/new.py", "backend/launch/new.py", "backend/untested/new.py")
    monkeypatch.setattr("launch.paths.PROJECT", tmp_path)
    assert checks.changed_rooms() == ["api", "pages", "store"]
