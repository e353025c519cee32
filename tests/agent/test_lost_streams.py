import fcntl
import json
import os
import signal
import termios
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cipherspeed.validation import validate_run_document
from tests.agent.canned_server import ACCEPTED, Serve
from tests.agent.forked import Finished
from tests.agent.running import (
    FAST_OPENSSL,
    QUICK_RUN,
    TOKEN,
    agent_command,
    agent_environment,
    finished,
    of_openssl,
    spool,
    started,
    write_program,
)
from tests.launch.tools import within

Words = Sequence[str]
RUN = ("run", *QUICK_RUN)


@pytest.fixture
def endless_words(tmp_path: Path) -> list[str]:
    stop = (
        "import glob, os, sys, time\n"
        f"tried = {str(tmp_path)!r} + '/tried'\n"
        "if '-evp' in sys.argv:\n"
        "    open(tried + str(os.getpid()), 'w').close()\n"
        "    if len(glob.glob(tried + '*')) == 3: time.sleep(100)\n"
    )
    return ["run", *of_openssl(write_program(tmp_path / "openssl", stop + FAST_OPENSSL), tries=3)]


def by_shell(home: Path, line: str, words: Words) -> Finished:
    """Run a shell command line. `"$@"` in the line is replaced with the command of the agent."""
    command = ["bash", "-c", line, "bash", *agent_command(words)]
    return finished(command, agent_environment(home, TOKEN))


def is_whole(path: Path) -> bool:
    document = json.loads(path.read_text())
    return validate_run_document(document) == [] and bool(document["measurements"])


def only_kept(home: Path) -> Path:
    (kept,) = spool(home).glob("run-*.json")
    return kept


def tried_thrice(home: Path) -> bool:
    return len(list(home.glob("tried*"))) >= 3


def hang_up(home: Path, words: Words, at_hang_up: Any = signal.SIG_DFL) -> int:
    master, slave = os.openpty()

    def own_terminal() -> None:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGHUP, at_hang_up)

    with started(
        home, words, stdin=slave, stdout=slave, stderr=slave, preexec_fn=own_terminal
    ) as child:
        os.close(slave)
        assert within(60, lambda: tried_thrice(home))
        os.close(master)
        return child.wait(timeout=30)


@pytest.mark.parametrize(("progress", "output"), (("auto", False), ("none", True)))
def test_a_terminal_that_hangs_up_loses_no_figure(
    tmp_path: Path, endless_words: list[str], progress: str, output: bool
) -> None:
    path = tmp_path / "o.json"
    words = [*endless_words, "--progress", progress, *(("--output", str(path)) if output else ())]
    assert hang_up(tmp_path, words) == 1
    kept = path if output else only_kept(tmp_path)
    assert is_whole(kept)
    assert "interrupted" in kept.read_text()


@pytest.mark.parametrize("output", (False, True))
def test_under_nohup_a_run_goes_on_to_its_end(tmp_path: Path, output: bool) -> None:
    tried = (
        "import os, sys, time\n"
        f"open({str(tmp_path)!r} + '/tried' + str(os.getpid()), 'w').close()\n"
        "time.sleep(0.2)\n"
    )
    path = tmp_path / "o.json"
    words = ["run", *of_openssl(write_program(tmp_path / "fake", tried + FAST_OPENSSL), tries=3)]
    words += ["--output", str(path)] if output else []
    assert hang_up(tmp_path, words, signal.SIG_IGN) == (0 if output else 1)
    kept = path if output else only_kept(tmp_path)
    assert is_whole(kept)
    assert "interrupted" not in kept.read_text()


def test_a_broken_pipe_for_messages_loses_neither_file_nor_upload(
    tmp_path: Path, serve: Serve
) -> None:
    server, path = serve(ACCEPTED), tmp_path / "bp.json"
    words = [*RUN, "--server", server.url, "--output", str(path)]
    done = by_shell(tmp_path, '"$@" 2>&1 | true; exit ${PIPESTATUS[0]}', words)
    assert done.code == 0, done.err
    assert is_whole(path)
    assert len(server.requests) == 1
    assert list(spool(tmp_path).iterdir()) == []


@pytest.mark.parametrize("sink", ("| true", ">/dev/full", ">&-"))
@pytest.mark.parametrize("output", ((), ("--output", "-"), ("--output", "/dev/stdout")))
def test_a_standard_output_that_takes_no_document_keeps_it(
    tmp_path: Path, sink: str, output: Words
) -> None:
    line = f'"$@" {sink}; exit ${{PIPESTATUS[0]}}'
    done = by_shell(tmp_path, line, [*RUN, *output])
    assert done.code == 1, done.err
    kept = only_kept(tmp_path)
    assert is_whole(kept)
    assert "cannot write standard output: " in done.err
    assert f"run saved in {kept}\n" in done.err
    assert "Traceback" not in done.err
    assert "Exception" not in done.err
