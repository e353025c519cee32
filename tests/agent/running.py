import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cipherspeed.validation import validate_run_document
from runs.agent import build_agent
from tests.agent.forked import Finished

PROJECT = Path(__file__).resolve().parents[2]
PACKAGE = PROJECT / "agent" / "ciphermark_agent"
_folder = tempfile.TemporaryDirectory(prefix="agent-under-test-")
# The agent as one file, as Ciphermark serves it at `/agent.py`
AGENT = Path(_folder.name) / "agent.py"
AGENT.write_bytes(build_agent(PACKAGE))
# Measure a fast and a slow cipher, with one try of a fraction of a second.
TINY = ("--ciphers", "aes128-ctr,3des-cbc", "--tries", "1", "--seconds", "0.2")
# Accept disturbed tries. Tests run in parallel, so the agent would repeat each try three times.
ONCE = "agent.MAX_REPEATS = 0\n"


RunAgent = Callable[..., Finished]


def agent_environment(home: Path, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    kept = {name: text for name, text in os.environ.items() if not name.startswith("CIPHERMARK_")}
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "http_proxy", "HTTP_PROXY"):
        kept.pop(name, None)
    temporary = home / "temporary"
    temporary.mkdir(exist_ok=True)
    return {**kept, "HOME": str(home), "TMPDIR": str(temporary), **(extra or {})}


def waiting_for_nothing(arguments: Sequence[str]) -> Sequence[str]:
    # Tests run in parallel, so the agent would wait for an idle CPU in vain.
    if arguments and arguments[0] == "run" and "--wait" not in arguments:
        return [*arguments, "--wait", "0"]
    return arguments


def agent_command(arguments: Sequence[str], before: str = "") -> list[str]:
    """Return the command line of the agent. `before`: Python code to execute first."""
    arguments = waiting_for_nothing(arguments)
    if not before:
        return [sys.executable, "-W", "error", str(AGENT), *arguments]
    code = (
        f"import sys; sys.path[:0] = {[str(PACKAGE.parent), str(PROJECT)]!r}\n"
        "from tests.agent import whole as agent\n"
        f"{before}\nsys.exit(agent.main(sys.argv[1:]))"
    )
    return [sys.executable, "-W", "error", "-c", code, *arguments]


# Replaces `openssl` 3 in tests for which real tries would take minutes.
FAST_OPENSSL = """\
import sys
words = sys.argv[1:]
if 'version' in words: sys.exit(print('OpenSSL 3.0.19 27 Jan 2026'))
if '-help' in words: sys.exit(print('-seconds -bytes -provider val'))
def after(name, default): return words[words.index(name) + 1] if name in words else default
name = after('-evp', '').upper()
sizes = after('-bytes', '16:64:256:1024:8192:16384').split(':')
count = 50000 if '-decrypt' in words else 100000
for size in sizes:
    print('+DT:%s:1:%s\\n+R:%d:%s:1.000000' % (name, size, count, name), file=sys.stderr)
print('+H:' + ':'.join(sizes))
print('+F:25:%s:' % name + ':'.join('%d.00' % (count * int(size)) for size in sizes))
"""


def write_program(path: Path, code: str) -> str:
    path.write_text(f"#!{sys.executable} -IS\n{code}\n")  # options that halve the startup time
    path.chmod(0o755)
    return str(path)


STAND_IN = write_program(Path(_folder.name) / "openssl", FAST_OPENSSL)


def of_openssl(program: str, ciphers: str = "rc4", tries: int = 1) -> tuple[str, ...]:
    words = ("--tools", "openssl", "--openssl", program, "--ciphers", ciphers)
    return (*words, "--tries", str(tries))


QUICK_RUN = of_openssl(STAND_IN)
TOKEN = {"CIPHERMARK_TOKEN": "cmk_secret_0123456789"}
ONE_CIPHER = ("run", *QUICK_RUN, "--progress", "none")


def finished(command: Sequence[str], env: Mapping[str, str]) -> Finished:
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, env=env
    )
    return Finished(done.returncode, done.stdout, done.stderr)


@contextmanager
def started(
    home: Path, words: Sequence[str], before: str = "", **streams: Any
) -> Iterator["subprocess.Popen[str]"]:
    command, env = agent_command(words, before), agent_environment(home)
    with subprocess.Popen(command, env=env, text=True, **streams) as child:
        try:
            yield child
        finally:
            child.kill()


def no_json(text: str) -> None:
    raise AssertionError(f"{text} is no JSON")


def sound(done: Finished) -> dict[str, Any]:
    assert done.code == 0, done.err
    document: dict[str, Any] = json.loads(done.out, parse_constant=no_json)
    assert validate_run_document(document) == []
    return document


def reasons(document: Mapping[str, Any]) -> dict[str, str]:
    return {entry["cipher"]: entry["reason"] for entry in document["skipped"]}


def spool(home: Path) -> Path:
    return home / ".local/state/ciphermark/spool"


def configure(home: Path, settings: str) -> Path:
    path = home / ".config/ciphermark/agent.ini"
    path.parent.mkdir(parents=True)
    path.write_text(f"[agent]\n{settings}\n")
    return path
