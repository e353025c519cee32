"""`make test`: every check, even after a failed one, and one table at the end."""

import os
import platform
import signal
import subprocess
import threading
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from config.embedded import stop_unused
from launch import (
    frontend,
    interpreters,
    node,
    orphan_processes,
    paths,
    preconditions,
    processes,
    system_programs,
)
from launch.console import say

SSHD = "CIPHERMARK_TEST_SSHD"

OWN_VARIABLES = (
    *("CIPHERMARK_", "DATABASE_", "REDIS_URL", "DJANGO_"),
    "PYTHONDONTWRITEBYTECODE",
)
"""Settings of the developer's shell: the tests bring their own, and touch no other database. The
last would have each of the hundred processes compile every module again."""


MEASURED_TESTS = (
    "tests/analysis",
    "tests/documents",
    "tests/texts",
    "tests/api/test_exports.py",
    "tests/api/test_measurement_exports.py",
    "tests/api/test_workbooks.py",
    "tests/pages/test_palette.py",
)
"""What the pure packages are tested by: their coverage is counted there alone, for counting nearly
doubles the time that Python takes."""


SITES = ("tests/chaos", "tests/end_to_end")
STARTS = ("tests/launch", "tests/bench")
WHOLE_PROGRAMS = (*SITES, *STARTS)
"""What starts the site, or parts of it, as processes of their own, and waits for them: two parts
that wait at the same time."""

CPU_SECONDS = "tests/agent/test_cpu_seconds.py"
PARSING_COST = "tests/texts/test_cost.py"
MEASUREMENTS = (CPU_SECONDS, PARSING_COST)
"""What ssh and parsing cost: nothing else may run meanwhile."""

FUZZING = "tests/fuzz/test_texts.py"
"""A hundred random texts, the same each time: `make fuzz` reads new ones for ten minutes."""

SSH_TESTS = (
    "tests/agent/test_channels.py",
    "tests/agent/test_depth.py",
    "tests/agent/test_target.py",
)
"""What real ssh and openssl do when asked this or that: `tests/agent/test_run.py` and
`test_ending.py` measure with them on each Python."""

PYTHON_DEPENDENT_TESTS = {
    "pure packages": (
        *MEASURED_TESTS,
        "tests/test_patterns.py",
        FUZZING,
        f"--ignore={PARSING_COST}",  # beside other tests it would measure those
    ),
    "agent": (
        "tests/agent",
        f"--ignore={CPU_SECONDS}",  # no Python changes what ssh costs
        "--ignore=tests/agent/test_pythons.py",  # starts the agent in each Python itself
        *(f"--ignore={one}" for one in SSH_TESTS),
    ),
    "site": (
        "tests/end_to_end/test_upload.py",
        "tests/launch/test_make_run.py::test_it_tells_where_the_site_is_and_a_closed_terminal_and_"
        "ctrl_c_end_it_with_its_data_kept",
    ),
}
"""What can fail on one Python and pass on another: run on the oldest and the newest of the machine.
The site is started, and an upload goes the whole way."""

API_AND_PAGES = ("tests/api", "tests/pages")
"""Half of what needs a database: with servers of their own they run beside the other half."""

LANES_BESIDE = 3
"""How many of the checks `beside` run at one time: four lanes keep two cores busy."""


@dataclass(frozen=True)
class Check:
    """One part of the suite. `report` is pytest's, in JUnit's XML."""

    name: str
    command: tuple[str | Path, ...]
    folder: Path = paths.PROJECT
    report: Path | None = None
    beside: Path | None = None
    """Runs beside the checks that have none, as soon as a lane is free; its output's log."""
    alone: bool = False
    """Runs once all others have ended."""


@dataclass(frozen=True)
class Outcome:
    """How a check ended."""

    name: str
    passed: bool
    seconds: float
    note: str
    failures: tuple[str, ...] = ()
    """A paragraph for each test that failed."""


def run_all() -> int:
    """Set up what is missing, then run everything; 0 only when all of it passed."""
    with _own_folder("test"):
        try:
            return _run_everything()
        finally:
            stop_unused(_second_folder())  # what was interrupted and killed has ended nothing


def run_compatibility() -> int:
    """What depends on the Python, on the oldest and the newest of the machine."""
    with _own_folder("compat"):
        pythons = interpreters.extremes()
        told = interpreters.in_words(pythons)
        say(told)
        try:
            return run_checks(list(map(_compatibility, pythons)), _with_sshd(), told)
        finally:
            for folder in map(_compatibility_folder, pythons):
                if folder.exists():  # one that was interrupted and killed has ended nothing
                    _end_everything(folder)


def run_on_this_python() -> int:
    """What depends on the Python, on the one that runs this."""
    with _own_folder("compat"):
        pure, *waiting = PYTHON_DEPENDENT_TESTS
        checks = [_beside(name, *PYTHON_DEPENDENT_TESTS[name]) for name in waiting]
        checks.append(_pytest(pure, *PYTHON_DEPENDENT_TESTS[pure]))
        told = f"Python {platform.python_version()}"
        return run_checks(checks, _with_sshd(), told)


@contextmanager
def _own_folder(target: str) -> Iterator[None]:
    """The data folder is ours alone, and nothing that was started in it goes on."""
    lock = preconditions.FolderLock.take(paths.data_dir(), target)
    lock.describe(f"process {os.getpid()}")
    try:
        yield
    finally:
        _end_everything(paths.data_dir())


def _end_everything(folder: Path) -> None:
    orphan_processes.end_marked_processes(folder)
    stop_unused(folder)


def _run_everything() -> int:
    environment = _set_up()
    return run_checks(_everything(environment), environment)


def _everything(environment: Mapping[str, str]) -> list[Check]:
    # What needs neither database nor display takes the lane that is free first.
    slow = [replace(one, beside=_log(one.name)) for one in (*_audits(), *_types())]
    beside = [*_tests_beside(), *slow]
    checks = (beside, _lint(), _python_tests(), _frontend_checks(environment), _measurements())
    return [one for some in checks for one in some]


def run_lint() -> int:
    """ruff, rules and format, and the audit for secrets."""
    return run_checks([*_lint(), *_audits()], clean_environment())


PURE_TESTS = ("tests/analysis", "tests/documents")
TEXT_TESTS = "tests/texts"

NEVER_QUICK = frozenset(
    {"agent", "bench", "browser", "chaos", "end_to_end", "fuzz", "launch", "soak"}
)
"""Folders of tests that take minutes: `make test` runs them."""


def run_check() -> int:
    """Within a minute: lint, types, the tests of pure packages and of the rooms that changed."""
    with _own_folder("check"):
        rooms = [f"tests/{room}" for room in changed_rooms()]
        tests = [*PURE_TESTS, *(one for one in rooms if one not in (*PURE_TESTS, TEXT_TESTS))]
        beside = [
            _beside("texts", TEXT_TESTS, *_without([PARSING_COST])),
            *(replace(one, beside=_log(one.name)) for one in _types()),
        ]
        shown = _pytest("pure packages and changed rooms", *tests)
        return run_checks([*beside, *_lint(), shown], _with_sshd())


def _with_sshd() -> dict[str, str]:
    sshd = os.environ.get(SSHD) or str(system_programs.provide_sshd())
    return {**clean_environment(), SSHD: sshd}


def changed_rooms() -> list[str]:
    """Rooms of `backend/` and `tests/` with changes that main does not have, committed or not."""
    git = ("git", "-C", str(paths.PROJECT))
    listed = [
        subprocess.run((*git, *words), capture_output=True, text=True, check=False).stdout
        for words in (
            ("diff", "--name-only", "main...HEAD"),
            ("diff", "--name-only", "HEAD"),
            ("ls-files", "--others", "--exclude-standard"),
        )
    ]
    parts = [Path(line).parts for text in listed for line in text.splitlines()]
    rooms = {path[1] for path in parts if len(path) > 2 and path[0] in ("backend", "tests")}
    return sorted(
        room
        for room in rooms - NEVER_QUICK
        if any((paths.PROJECT / "tests" / room).glob("test_*.py"))
    )


def run_types() -> int:
    """mypy and tsc."""
    runtime = node.provide()
    frontend.install(runtime)
    environment = {**clean_environment(), "PATH": runtime.environment()["PATH"]}
    return run_checks([*_types(), *_frontend_checks(environment)[:1]], environment)


def clean_environment() -> dict[str, str]:
    kept = {name: text for name, text in os.environ.items() if not name.startswith(OWN_VARIABLES)}
    folders = {"CIPHERMARK_DATA_DIR": paths.data_dir(), "CIPHERMARK_VENV": paths.venv()}
    return {**kept, **{name: str(folder) for name, folder in folders.items()}}


def _set_up() -> dict[str, str]:
    """Everything the tests need, or a `Problem` that says how to get it."""
    say("Looking for what the tests need ...")
    chromium, *others = system_programs.provide_all()
    sshd = system_programs.provide_sshd()
    servers = (system_programs.NGINX, system_programs.PGBOUNCER)
    others += map(system_programs.provide_server, servers)
    runtime = node.provide()
    frontend.install(runtime)
    frontend.build(runtime)
    folders = [runtime.environment()["PATH"], *sorted({str(one.parent) for one in others})]
    return {
        **clean_environment(),
        "PATH": os.pathsep.join(folders),
        "CHROMIUM_PATH": str(chromium),
        SSHD: str(sshd),
    }


def _tool(name: str, *arguments: str) -> tuple[str | Path, ...]:
    return (paths.venv_python(), "-m", name, *arguments)


def _lint() -> list[Check]:
    not_ours = ("--extend-exclude", ".data")  # outside git, .gitignore does not say it
    return [
        Check("ruff check", _tool("ruff", "check", *not_ours, ".")),
        Check("ruff format", _tool("ruff", "format", "--check", *not_ours, ".")),
    ]


def _audits() -> list[Check]:
    return [Check("secrets", _tool("tests.audit", "secrets"))]


def _types() -> list[Check]:
    return [Check("mypy", _tool("mypy"))]


def _tests_beside() -> list[Check]:
    """Those that wait much (for pages, for programs, for ssh), and half of the others.

    The longest begin.
    """
    return [
        _beside("whole sites", *SITES),
        _beside("starts of programs", *STARTS),
        _api_and_pages(),
        _beside("browser tests", "tests/browser"),
        _beside("agent tests", "tests/agent", *_without(MEASUREMENTS)),
        _beside("parser fuzzing", "-s", FUZZING),
    ]


def _second_folder() -> Path:
    """Data of the tests that run beside others which need a database too."""
    return paths.data_dir() / "api-and-pages"


def _api_and_pages() -> Check:
    check = _beside("API and pages", *API_AND_PAGES, *_without(MEASURED_TESTS))
    own_servers = ("env", f"CIPHERMARK_DATA_DIR={_second_folder()}")
    return replace(check, command=(*own_servers, *check.command))


def _compatibility_folder(python: interpreters.Interpreter) -> Path:
    return paths.PROJECT / ".data" / f"compat-{python}"


def _compatibility(python: interpreters.Interpreter) -> Check:
    """In that Python: an environment of its own, then the tests in parts; a table in its log."""
    name = f"Python {python}"
    # `make compat PYTHON=...` without a make, which would keep Ctrl-C to itself.
    bootstrap = paths.BACKEND / "launch" / "bootstrap.py"
    command = ("env", f"PYTHON={python.path}", python.path, bootstrap, "compat")
    return Check(name, command, beside=_log(name))


def _measurements() -> list[Check]:
    return [replace(_pytest("measurements", *MEASUREMENTS), alone=True)]


def _without(tests: Sequence[str]) -> list[str]:
    return [f"--ignore={one}" for one in tests]


def _python_tests() -> list[Check]:
    beside = ("tests/agent", "tests/browser", FUZZING, *API_AND_PAGES, *WHOLE_PROGRAMS)
    elsewhere = (*beside, *MEASURED_TESTS)
    # One after the other: they share a database.
    return [
        _pytest("pure packages", *MEASURED_TESTS, *_without(MEASUREMENTS), "--cov"),
        _pytest("Python tests", "tests", *_without(elsewhere)),
    ]


def _beside(name: str, *arguments: str) -> Check:
    return replace(_pytest(name, *arguments), beside=_log(name))


def _log(name: str) -> Path:
    return paths.data_dir() / "reports" / f"{name.replace(' ', '-')}.log"


def _pytest(name: str, *arguments: str) -> Check:
    report = paths.data_dir() / "reports" / _report_name(name)
    command = _tool("pytest", f"--junitxml={report}", *arguments)
    return Check(name, command, report=report)


def _report_name(name: str) -> str:
    return f"{name.replace(' ', '-').lower()}.xml"


def _frontend_checks(environment: Mapping[str, str]) -> list[Check]:
    npm = Path(environment["PATH"].split(os.pathsep)[0]) / "npm"
    return [
        Check("frontend types", (npm, "run", "types"), paths.FRONTEND),
        Check("frontend tests", (npm, "test"), paths.FRONTEND),
    ]


def run_checks(checks: Sequence[Check], environment: Mapping[str, str], told: str = "") -> int:
    """Run them in order, those `beside` meanwhile, those `alone` last; 0 when all have passed.

    `told` is repeated above the table.
    """
    stop = threading.Event()
    with ThreadPoolExecutor(max_workers=LANES_BESIDE) as pool:
        try:
            running = [
                pool.submit(_outcome, check, environment, stop)
                if check.beside
                else _outcome(check, environment, stop)
                for check in checks
                if not check.alone
            ]
            outcomes = [one.result() if isinstance(one, Future) else one for one in running]
            outcomes += [_outcome(check, environment, stop) for check in checks if check.alone]
        finally:
            stop.set()
    for check in checks:
        if check.beside:
            say(f"\n=== {check.name} ===\n{check.beside.read_text(errors='replace')}")
    say(f"\n{told}\n{_table(outcomes)}" if told else f"\n{_table(outcomes)}")
    for outcome in outcomes:
        for failure in outcome.failures:
            say(f"\n{outcome.name}: {failure}")
    failed = sum(not outcome.passed for outcome in outcomes)
    say(f"\n{len(outcomes) - failed} passed, {failed} failed")
    return 1 if failed else 0


def _outcome(check: Check, environment: Mapping[str, str], stop: threading.Event) -> Outcome:
    say(f"\n=== {check.name} ==={' (beside the others; shown at the end)' if check.beside else ''}")
    if check.report is not None:
        check.report.unlink(missing_ok=True)
    begun = time.monotonic()
    status = _ended(check, environment, stop)
    seconds = time.monotonic() - begun
    passed, note = _judged(status, check.report)
    return Outcome(check.name, passed, seconds, note, () if passed else _failures(check.report))


class _Stopped(Exception):
    """The others were interrupted."""


def _ended(check: Check, environment: Mapping[str, str], stop: threading.Event) -> int:
    def watch() -> None:
        if check.beside and stop.is_set():
            raise _Stopped

    return processes.run(
        check.name,
        check.command,
        log=check.beside,
        environment=environment,
        folder=check.folder,
        watch=watch,
        asked_by=signal.SIGINT,  # pytest then ends what its tests have started
    )


def _judged(status: int, report: Path | None) -> tuple[bool, str]:
    """A skipped test is no passed test: whatever it waited for is to be installed."""
    if status != 0:
        return False, f"exit code {status}"
    if report is None:
        return True, ""
    suites = ElementTree.parse(report).getroot().iter("testsuite")  # noqa: S314 (pytest's own)
    counts = [(int(suite.get("tests", 0)), int(suite.get("skipped", 0))) for suite in suites]
    tests, skipped = (sum(column) for column in zip(*counts, strict=True))
    if skipped:
        return False, f"{skipped} of {tests} tests skipped"
    return True, f"{tests} tests"


FAILURES_SHOWN = 10
FAILURE_LINES = 12


def _failures(report: Path | None) -> tuple[str, ...]:
    """The tests that failed, each with the end of what pytest says of it.

    Repeated below the table, since a log of this length is often cut in the middle.
    """
    if report is None or not report.exists():
        return ()
    tests = ElementTree.parse(report).getroot().iter("testcase")  # noqa: S314 (pytest's own)
    found = [
        (f"{test.get('classname')}::{test.get('name')}", reason.text or "")
        for test in tests
        for reason in (*test.iter("failure"), *test.iter("error"))
    ]
    more = [f"{len(found) - FAILURES_SHOWN} more"] if len(found) > FAILURES_SHOWN else []
    shown = [
        "\n  ".join([name, *text.rstrip().splitlines()[-FAILURE_LINES:]])
        for name, text in found[:FAILURES_SHOWN]
    ]
    return (*shown, *more)


def _table(outcomes: Sequence[Outcome]) -> str:
    rows = [("part", "result", "seconds", "")]
    rows += [
        (each.name, "passed" if each.passed else "FAILED", f"{each.seconds:.1f}", each.note)
        for each in outcomes
    ]
    width = max(len(row[0]) for row in rows)
    return "\n".join(
        f"{name:<{width}}  {result:<6}  {seconds:>7}  {note}".rstrip()
        for name, result, seconds, note in rows
    )
