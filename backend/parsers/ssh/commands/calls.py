"""Calls of ssh, scp and sftp in a command line, and the one that moves bytes."""

import re
from collections.abc import Iterator

from parsers.ssh.commands.pipelines import READS

_PROGRAMS = ("ssh", "scp", "sftp", "dbclient")
_CALL = re.compile(
    r"(?<![\w.@=~:/-])(?:[\w.~-]*/[\w./~-]*)?(?P<program>ssh|scp|sftp|dbclient|tlssh)(?=\s+\S)"
)
SHELL = re.compile(
    r"^\s*(?:alias\s+\w+=|wait\s*$|for\s+\w+\s+in\b|for\s*\(|foreach\s|while\b.*\bdo\b|do\b|done\b|echo\s|printf\s|export\s"
    r"|unset\s|time\s+\S"
    r"|sudo\s|\w+=(?:\S*[^:\s])?\s*$|#!/|if\s+\[|fi$|then$|else$|sleep\s|dd\s+\w+=|cat\s+/"
    r"|head\s+-c|awk\s|grep\s|pv\s|yes\s*\|"
    r"|openssl\s|\|(?!.*\|\s*$)|\}|\{|2?>)"
)
_FED = re.compile(r"\|\s*(?:\w+=\S+\s+)*(?:time\s+|\\time\s+)?\S*$")
_LIBRARIES = re.compile(r"\b(?:LD|DYLD)_\w+=\S*|\b(?:OPENSSL_(?:CONF|MODULES)|PATH)=\S*")


def calls(body: str) -> Iterator[re.Match[str]]:
    """Each program of ssh that a line names with an argument."""
    return _CALL.finditer(body) if any(name in body for name in _PROGRAMS) else iter(())


def program_of(body: str) -> str | None:
    """The path of the first ssh and the libraries set before it; None where none is called."""
    call = next(calls(body), None)
    if call is None:
        return None
    path = call[0].removesuffix(call["program"])
    return " ".join([path, *_LIBRARIES.findall(body[: call.start()])]).strip()


def _is_call(body: str, call: re.Match[str]) -> bool:
    rest = body[call.end() : call.end() + 12].lstrip()
    return not re.match(r"-[VQG]\b|[:=(]|cipher|speed|key", rest)


def looks_typed(body: str, call: re.Match[str]) -> bool:
    """A command rather than a sentence about ssh: options, a pipe, or a shell's words."""
    rest = body[call.end() : call.end() + 60]
    return bool(
        re.match(r"\s+-[\w]", rest)
        or is_piped(body, call)
        or SHELL.match(body)
        or (not body[: call.start()].strip() and re.match(r"\s+\S+@\S+", rest))
    )


def transferring(body: str) -> tuple[re.Match[str] | None, bool]:
    """The first call of ssh that moves bytes, else the first; whether another moves some, too."""
    found = [one for one in calls(body) if _is_call(body, one)]
    if len(found) < 2:
        return next(iter(found), None), False
    ends = [*(one.start() for one in found[1:]), len(body)]
    moving = [
        one
        for one, end in zip(found, ends, strict=True)
        if is_fed(body, one, end) or READS.search(body[one.end() : end])
    ]
    return (moving or found)[0], len(moving) > 1


def is_piped(body: str, call: re.Match[str]) -> bool:
    """Whether the input of a call is a pipe."""
    return _FED.search(body[max(0, call.start() - 80) : call.start()]) is not None


def is_fed(body: str, call: re.Match[str], end: int | None = None) -> bool:
    """Whether a call, whose arguments go as far as `end`, copies a file or has an input."""
    is_copy = call["program"] in ("scp", "sftp")
    return is_copy or "<" in body[call.end() : end] or is_piped(body, call)
