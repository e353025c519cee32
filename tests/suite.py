"""Run tests and checks: `python -m tests.suite test|check|lint|types|portable`.

If a command fails, the other commands still run. The last output is a table of all commands, and
the output of the failed commands.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.programs import MissingProgram, provide

PROJECT = Path(__file__).parent.parent
FOLDER = Path(os.environ.get("CIPHERMARK_DATA_DIR") or PROJECT / ".data" / "test")
FAILURE_LINES = 150

# Tests ignore these settings of the developer's shell, so that they use no other database.
OF_THE_DEVELOPER = ("CIPHERMARK_", "DATABASE_", "REDIS_URL", "DJANGO_", "PYTHONDONTWRITEBYTECODE")

PURE = ("tests/cipherspeed", "tests/texts")
# These tests measure the cost of ssh and of parsing, and must run alone.
COSTS = ("tests/agent/test_cpu_seconds.py", "tests/texts/test_cost.py")
WITHOUT_COSTS = tuple(f"--ignore={cost}" for cost in COSTS)
# `make check` runs tests of these folders if the tests or the tested code have changed.
QUICK = ("accounts", "api", "changes", "compare", "config", "core", "hosts", "pages", "runs")
FIRST_START = "tests/launch/test_make_run.py::" + (
    "test_it_tells_where_the_site_is_and_a_closed_terminal_and_ctrl_c_end_it_with_its_data_kept"
)


@dataclass(frozen=True)
class Part:
    """Define a command. `is_shown`: print the output of the command while the command runs."""

    name: str
    command: tuple[str, ...]
    folder: Path = PROJECT
    is_shown: bool = False


_running: "list[subprocess.Popen[str]]" = []
_interrupted = threading.Event()


@dataclass(frozen=True)
class Outcome:
    name: str
    passed: bool
    seconds: float
    cpu_seconds: float
    output: str


def pytest(name: str, *words: str, is_shown: bool = False) -> Part:
    command = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--tb=short")
    return Part(name, (*command, *words), is_shown=is_shown)


def tool(name: str, *words: str) -> Part:
    return Part(name, (sys.executable, "-m", *words))


LINT = (
    tool("ruff check", "ruff", "check", "."),
    tool("ruff format", "ruff", "format", "--check", "."),
)
MYPY = tool("mypy", "mypy")
TSC = Part("tsc", ("npm", "run", "--silent", "types"), PROJECT / "frontend")
VITEST = Part("vitest", ("npm", "test", "--silent"), PROJECT / "frontend")
PURE_WITH_COVERAGE = pytest("pure packages", *PURE, *WITHOUT_COSTS, "--cov")
AGENT = pytest("agent", "tests/agent", *WITHOUT_COSTS, "-n2", "--dist=loadfile")
EVERYTHING_ELSE = pytest(
    "tests",
    "tests",
    *(f"--ignore={cost}" for cost in (*PURE, *COSTS)),
    "-n3",  # three on two cores, because tests often wait
    "--dist=loadfile",
    "--no-loadscope-reorder",  # keep the order, which begins with long tests
    is_shown=True,
)
COSTS_ALONE = pytest("costs", *COSTS)
FULL_SITE = pytest("a start and an upload", FIRST_START, "tests/end_to_end/test_upload.py")


def quick_tests() -> Part:
    listed = [
        subprocess.run(("git", *words), cwd=PROJECT, capture_output=True, text=True, check=False)
        for words in (
            ("diff", "--name-only", "main"),
            ("ls-files", "--others", "--exclude-standard"),
        )
    ]
    paths = [Path(line).parts for path in listed for line in path.stdout.splitlines()]
    changed = {path[1] for path in paths if len(path) > 2 and path[0] in ("backend", "tests")}
    folders = [f"tests/{name}" for name in QUICK if name in changed]
    words = (*PURE, *folders, *WITHOUT_COSTS)
    return pytest("quick tests", *words, "-n2", "--dist=loadfile", is_shown=True)


def steps(name: str) -> list[list[list[Part]]]:
    """Return the steps of a suite as nested lists: steps, lanes and commands.

    Steps run one after another. The lanes of a step run in parallel. The commands of a lane run one
    after another.
    """
    beside = [*LINT, MYPY, TSC, VITEST, PURE_WITH_COVERAGE]
    return {
        "test": [[[EVERYTHING_ELSE], beside], [[COSTS_ALONE]]],
        "check": [[[quick_tests(), *LINT], [MYPY]]],
        "lint": [[[*LINT]]],
        "types": [[[MYPY], [TSC]]],
        "portable": [[[AGENT], [PURE_WITH_COVERAGE, FULL_SITE]]],
    }[name]


def environment() -> dict[str, str]:
    kept = {
        variable: text
        for variable, text in os.environ.items()
        if not variable.startswith(OF_THE_DEVELOPER)
    }
    return {**kept, "CIPHERMARK_DATA_DIR": str(FOLDER), "PYTHONPATH": ""}


def run(part: Part, variables: dict[str, str]) -> Outcome:
    begun = time.monotonic()
    lines = []
    with subprocess.Popen(
        part.command,
        cwd=part.folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        _running.append(process)
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            if part.is_shown:
                sys.stdout.write(line)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    cpu = usage.ru_utime + usage.ru_stime
    passed = process.returncode == 0
    sys.stdout.write(f"=== {part.name}: {'passed' if passed else 'FAILED'}\n")
    sys.stdout.flush()
    return Outcome(part.name, passed, time.monotonic() - begun, cpu, "".join(lines))


def end_what_runs() -> None:
    _interrupted.set()
    for process in _running:
        if process.returncode is None:
            os.kill(process.pid, signal.SIGINT)  # pytest then ends the processes of the tests


def run_lane(lane: Sequence[Part], variables: dict[str, str]) -> list[Outcome]:
    return [run(part, variables) for part in lane if not _interrupted.is_set()]


def report(outcomes: Sequence[Outcome], seconds: float) -> int:
    rows = [("part", "result", "seconds", "CPU", "")]
    for outcome in outcomes:
        last = (outcome.output.strip().splitlines() or [""])[-1].strip("= ")
        result = "passed" if outcome.passed else "FAILED"
        rows.append(
            (
                outcome.name,
                result,
                f"{outcome.seconds:.0f}",
                f"{outcome.cpu_seconds:.0f}",
                last[:60],
            )
        )
    cpu = sum(outcome.cpu_seconds for outcome in outcomes)
    failed = [outcome for outcome in outcomes if not outcome.passed]
    rows.append(("all", "FAILED" if failed else "passed", f"{seconds:.0f}", f"{cpu:.0f}", ""))
    for name, result, wall, used, last in rows:
        print(f"{name:<24}{result:<8}{wall:>8}{used:>6}  {last}".rstrip())
    for outcome in failed:
        last_lines = "\n".join(outcome.output.splitlines()[-FAILURE_LINES:])
        print(f"\n=== {outcome.name} failed ===\n{last_lines}")
    return 1 if failed else 0


def main(name: str) -> int:
    begun = time.monotonic()
    variables = environment()
    try:
        variables |= provide(FOLDER, with_pages=name in ("test", "portable"))
    except MissingProgram as missing:
        print(missing, file=sys.stderr)
        return 1
    outcomes = []
    with ThreadPoolExecutor() as pool:
        for lanes in steps(name):
            running = [pool.submit(run_lane, lane, variables) for lane in lanes]
            try:
                outcomes += [outcome for lane in running for outcome in lane.result()]
            except BaseException:
                end_what_runs()
                raise
    print()
    return report(outcomes, time.monotonic() - begun)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
