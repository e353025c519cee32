"""A command that calls ssh: cipher, settings, target and bytes of the transfer that it makes."""

import re
from dataclasses import dataclass
from typing import Literal

from parsers.ssh.commands.arguments import Arguments, arguments_of, host_of
from parsers.ssh.commands.calls import is_fed
from parsers.ssh.commands.command import Command, Problem
from parsers.ssh.commands.masks import acceleration_said
from parsers.ssh.commands.pipelines import (
    READS,
    SEPARATORS,
    WRITES,
    is_fed_plainly,
    is_job,
    is_read_plainly,
    is_received_plainly,
    loop_variables,
    prints_variable,
    rsync_options,
    runs_jobs,
    syncs_plainly,
    varying,
)
from parsers.ssh.dd_lines import amount_of, amount_said, megabyte_meant
from parsers.ssh.names import cipher_name, mac_name

_LOCAL = re.compile(
    r"(?:localhost(?:\.localdomain|[46])?|ip6-localhost|127(?:\.\d{1,3}){3}|\[?::1\]?|0)$"
)
_LIMITED = re.compile(
    r"\bs(?:cp|ftp)\b[^|;&]*\s-l\s?\d|\s--bwlimit\b|\bpv\b[^|;&]*\s(?:-\w*L|--rate-limit)"
    r"|\bmbuffer\b[^|;&]*\s-\w*[rR]|(?<![\w./-])(?:cpulimit|trickle|throttle)\s"
)
"""A command with a bandwidth limit."""
_DD = re.compile(r"\bdd\b(?=[ \"'“”\\])(?!.*(?:status=no|(?:2|&)>\s?(?!&)\S))")
"""In a part of a pipeline: a dd whose summary is shown."""
_DISK = re.compile(
    r"/(?<=[\s=<>\"']/)(?<!2>/)(?<!2> /)(?<!-i /)"
    r"(?:dev/(?!zero|null|full|u?random|std|fd/|shm/|tty)|mnt/|media/|Volumes/)"
)
"""A disk or what is mounted, which may be slower than the cipher."""
_RSYNC_HOST = re.compile(r"\s(?:[\w.-]{1,40}@)?(\[[\da-f:]{2,40}\]|[\w.-]{1,200}):(?!//)", re.I)


@dataclass(frozen=True)
class _Transfer:
    """A call of ssh on its command line, taken apart."""

    body: str
    call: re.Match[str]
    said: Arguments
    far: str
    """The command that ssh runs on the other side (empty: none)."""
    after: str
    typed: bool

    @property
    def before(self) -> str:
        """What stands before the call."""
        return self.body[: self.call.start()]

    @property
    def quote(self) -> str:
        """The quotation mark around the call: rsync -e "ssh ..." SOURCE HOST:TARGET."""
        sign = self.before[-1:]
        return sign if sign in ("'", '"') else ""

    @property
    def moves_bytes(self) -> bool:
        """Whether bytes go through the connection: without any, ssh opens a shell."""
        return bool(is_fed(self.body, self.call) or self.quote or self.far.strip())

    @property
    def host(self) -> str | None:
        """The other machine."""
        if not self.quote:
            return host_of(self.said.target)
        found = _RSYNC_HOST.search(self.body[self.call.end() :].partition(self.quote)[2])
        return found[1] if found else None

    @property
    def is_plain(self) -> bool:
        """Whether the line does no more than send bytes through one connection."""
        if runs_jobs(self.body) or _DISK.search(self.body):
            return False
        options = rsync_options(self.before)
        if options is not None:
            operands = self.body[self.call.end() :]
            if self.quote:
                operands = operands.partition(self.quote)[2]
            return syncs_plainly(options) and syncs_plainly(operands)
        if not is_fed_plainly(self.before, typed=self.typed):
            return False
        if self.call["program"] in ("scp", "sftp"):
            return True
        is_received = not self.far.strip() or is_received_plainly(self.far)
        return is_received and is_read_plainly(self.after)


def transfer_command(
    body: str, call: re.Match[str], host: str | None, *, is_several: bool, typed: bool
) -> Command:
    """What a line says that calls ssh; `host` is the machine that it is typed on."""
    arguments = body[call.end() :]
    said = arguments_of(arguments, call["program"])
    one = _Transfer(body, call, said, *_remote_command(arguments[said.end :]), typed)
    names = [name for text in said.ciphers for name in text.split(",")]
    has_variable = any("$" in name for name in names)
    stays_there = _stays_there(one.far)
    problem = _problem(one, is_several=is_several, stays_there=stays_there)
    if problem or stays_there:
        return Command(
            ssh=False,
            host=host,
            by_variable=has_variable,
            apart=True,
            far_end=True,
            problem=problem,
        )
    login = not one.moves_bytes and (typed or not names)
    if login and not names:
        return Command(ssh=False, host=host, login=True)
    target = one.host
    remote = target is not None and not _LOCAL.fullmatch(target)
    here: Literal["loopback"] | None = "loopback" if target else None
    names_after = prints_variable(body, call.end())
    return Command(
        ssh=True,
        cipher=cipher_name(names[0]) if len(names) == 1 else None,
        by_variable=has_variable or "for " in one.before,
        unclear=any("$" not in name for name in names),
        mac=mac_name(said.macs[0]) if len(said.macs) == 1 else None,
        compression=said.compression,
        target_kind="remote" if remote else here,
        # In a sentence any word may follow the cipher.
        target_name=target if remote and (typed or one.moves_bytes) else None,
        amount=amount_of(body),
        says_amount=amount_said(body.partition(" #")[2]),
        both_ends=len([part for part in body.split("|") if _DD.search(part)]) > 1,
        masks=acceleration_said(body),
        host=host,
        dd_apart=_makes_file(one.before),
        names="before" if prints_variable(one.before) else "after" if names_after else "",
        says_mb=megabyte_meant(body),
        job=is_job(body),
        login=login,
        varies=varying(body),
    )


def _problem(one: _Transfer, *, is_several: bool, stays_there: bool) -> Problem | None:
    """Why no rate below the command is a cipher's."""
    if _LIMITED.search(one.body):
        return "limited"
    if is_several or varying(one.body) & loop_variables(one.body):
        return "columns_unclear"
    if one.said.unknown or not (stays_there or one.is_plain):
        return "command_unclear"
    return None


def _remote_command(after: str) -> tuple[str, str]:
    """The command that ssh runs on the other side (empty: none), and what follows it."""
    after = after.lstrip()
    quote, inside = after[:1], after[1:]
    if quote in ("'", '"'):
        far, _, rest = inside.partition(quote)
        return far, rest
    far = re.split(r"[|;<>&]", after, maxsplit=1)[0]
    return far, after[len(far) :]


def _stays_there(remote: str) -> bool:
    """Whether the remote command both makes the bytes and puts them away."""
    return bool(READS.search(remote) and WRITES.search(remote))


def _makes_file(before: str) -> bool:
    """Whether dd, before ssh on the line, writes what it reads into a file."""
    return any(
        re.search(r"\bdd\b", part) and "if=" in part and re.search(r"\bof=(?!/dev/stdout)", part)
        for part in SEPARATORS.split(before)
    )
