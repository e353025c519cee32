import datetime
import json
import os
import re
import shlex
import sys
import time
from typing import Any, Callable, Dict, Optional, Sequence, TextIO, Tuple

SCHEMA = "ciphermark/run/1"
Json = Dict[str, Any]
MIB = 1024 * 1024
FOREIGN_LIMIT = 0.10  # CPU cores; a try is disturbed if other programs use more
TOOL_SECONDS = 20.0
TEXT_LIMIT = 2000  # characters of a text in the run document
COUNT_LIMIT = 1000000  # largest CPU number in the run document
BYTES_LIMIT = 2**60  # bytes of a try
EXIT_OK, EXIT_NOT_UPLOADED, EXIT_USAGE, EXIT_NOTHING = 0, 1, 2, 3


class UsageError(Exception):
    code = EXIT_USAGE


class TryFailed(Exception):
    pass


class Interrupted(KeyboardInterrupt):
    """Report that a signal has interrupted the agent. The argument is the signal number."""


def state_folder(*names: str) -> str:
    home = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return os.path.join(home, "ciphermark", *names)


def cut(text: Optional[str]) -> Optional[str]:
    return (text or "").strip()[:TEXT_LIMIT] or None


def whole(text: Optional[str], most: int = COUNT_LIMIT) -> Optional[int]:
    word = (text or "").strip()
    if not re.match(r"(?:[0-9]{1,20}|0x[0-9a-fA-F]{1,16})$", word):
        return None
    number = int(word, 16 if word.startswith("0x") else 10)
    return number if number <= most else None


def real(text: str) -> Optional[float]:
    """Parse a non-negative decimal number. Return None for other text, such as inf or 1e9."""
    return float(text) if re.match(r"[0-9]{1,20}(?:\.[0-9]{0,20})?$", text.strip()) else None


def one_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if not line.startswith("debug")]
    return next((line[:500] for line in reversed(lines) if line), "no message")


def explain(text: str, known: Sequence[Tuple[str, str]], otherwise: str) -> str:
    return next((reason for message, reason in known if message in text), otherwise)


def reason_of(error: Any) -> str:
    return getattr(error, "strerror", None) or str(error)


def rate(sample: Json) -> float:
    return float(sample["bytes"] / sample["seconds"])


def utc_now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def dumps(document: Json, indent: Optional[int] = 1) -> str:
    """Serialize to JSON. Replace NaN and Infinity with null."""
    finite = json.loads(json.dumps(document), parse_constant=lambda _: None)
    return json.dumps(finite, indent=indent) + "\n"


def parse_object(text: str) -> Json:
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return parsed if isinstance(parsed, dict) else {}


def say(text: str, stream: Optional[TextIO]) -> Optional[OSError]:
    """Write text to a stream without buffering. Return a write error instead of raising it."""
    if stream is None:
        return OSError(0, "stream is closed")
    left = text.encode(stream.encoding or "ascii", "replace")
    try:
        while left:
            left = left[os.write(stream.fileno(), left) :]
    except OSError as error:
        return error
    return None


def show(text: str) -> int:
    error = say(text + "\n", sys.stdout)
    if error is None or isinstance(error, BrokenPipeError):
        return EXIT_OK
    complain("cannot write standard output: %s" % error.strerror)
    return EXIT_NOT_UPLOADED


def complain(text: str) -> None:
    say("ciphermark_agent: %s\n" % printable(text), sys.stderr)


def printable(text: str) -> str:
    return "".join(char if char.isprintable() or char == "\n" else "?" for char in text)


verbosely = False  # -v


def verbose(text: str) -> None:
    if verbosely:
        say(printable(text) + "\n", sys.stderr)


def unforeseen(error: Exception) -> str:
    return ("unexpected %s: %s" % (type(error).__name__, error))[:300]


def reading(read: Callable[[], Any], default: Any) -> Any:
    try:
        return read()
    except Exception as error:  # noqa: BLE001 - no reading may cost the measurements
        verbose(unforeseen(error))
        return default


def own_file() -> str:
    folder, name = os.path.split(sys.argv[0])
    path = folder if name == "__main__.py" else sys.argv[0]
    return path if os.path.exists(path) else "agent.py"


def shell_words(command: Sequence[str], env: Optional[Dict[str, str]] = None) -> str:
    words = ["%s=%s" % (name, shlex.quote(text)) for name, text in sorted((env or {}).items())]
    return " ".join(words + [shlex.quote(word) for word in command])


class Progress:
    """Report the current step and the remaining time on standard error.

    `mode`: live (one line that changes), plain (a line every 10 s), json, none, or auto (live on a
    terminal, otherwise plain).
    """

    def __init__(self, mode: str) -> None:
        self.mode = ("live" if os.isatty(2) else "plain") if mode == "auto" else mode
        self.total = self.done = 0
        self.planned = self.planned_done = self.current = 0.0  # seconds
        self.left = float("inf")  # seconds, as last reported
        self.label = ""
        self.started = self.next_line = 0.0  # by the monotonic clock

    def plan(self, steps: int, seconds: float) -> None:
        self.total += steps
        self.planned += seconds

    def step(self, label: str, seconds: float) -> None:
        now = time.monotonic()
        self.started = self.started or now
        self.done += bool(self.label)
        self.planned_done += self.current
        self.label, self.current = printable(label), seconds
        # Scale the planned seconds by the pace so far. Early steps predict later ones badly, so the
        # estimate never rises.
        pace = (now - self.started) / self.planned_done if self.planned_done > 5.0 else 1.0
        self.left = min(self.left, max(0.0, (self.planned - self.planned_done) * pace))
        text = "%d of %d: %s, about %d s left" % (self.done, self.total, self.label, self.left)
        if self.mode == "live":
            say("\r\x1b[K%.100s" % text, sys.stderr)
        elif self.mode == "plain" and now >= self.next_line:
            self.next_line = now + 10.0
            say(text + "\n", sys.stderr)
        self.write_json()

    def finish(self) -> None:
        if self.label:
            self.done, self.label = self.total, "done"
            self.write_json()
            if self.mode == "live":
                say("\r\x1b[K", sys.stderr)

    def note(self, text: str) -> None:
        if self.mode in ("live", "plain"):
            prefix = "\r\x1b[K" if self.mode == "live" else ""
            say(prefix + printable(text) + "\n", sys.stderr)
        self.write_json(note=text)

    def write_json(self, **extra: str) -> None:
        if self.mode == "json":
            line = {"done": self.done, "total": self.total, "label": self.label, **extra}
            say(json.dumps(line) + "\n", sys.stderr)
