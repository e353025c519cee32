"""What one shell command of a text says of the transfers that follow it."""

from dataclasses import dataclass
from typing import Literal

from documents.types import Acceleration
from parsers.ssh.names import CipherName
from parsers.ssh.units import Megabyte

Problem = Literal["limited", "columns_unclear", "command_unclear"]


@dataclass(frozen=True)
class Command:
    """What one command line says of the transfers that follow it.

    `cipher` is None where it names none (`by_variable`: a loop, or `default`: ssh's own choice).
    `ssh` is false for a command that sends nothing through SSH.
    """

    ssh: bool
    cipher: CipherName | None = None
    by_variable: bool = False
    mac: str | None = None
    compression: bool = False
    target_kind: Literal["loopback", "remote"] | None = None
    """None where it does not say."""
    target_name: str | None = None
    far: str | None = None
    """The other machine by words above it."""
    amount: int | None = None
    says_amount: int | None = None
    """Bytes that a remark beside it or the heading above states."""
    both_ends: bool = False
    """Whether dd runs at both ends: two summaries for one transfer."""
    masks: Acceleration | None = None
    """Whether it turns hardware AES off, where it speaks of that."""
    typed: bool = False
    """Whether it stands behind a prompt: it was run, once."""
    traced: bool = False
    """Whether a shell with `set -x` printed it: each part of a pipeline by itself."""
    host: str | None = None
    lists_ciphers: bool = False
    apart: bool = False
    """Whether it moves bytes by itself, and none of them through SSH."""
    far_end: bool = False
    """Whether it does so on the far side of a connection."""
    dd_apart: bool = False
    """Whether dd on the same line makes a file: its summary is not the transfer's."""
    names: Literal["", "before", "after"] = ""
    """Where a script prints the cipher's name, as far as it says; "before" without ssh."""
    says_mb: Megabyte | None = None
    """What the printed "MB/s" must mean, from a division of a number by a time."""
    problem: Problem | None = None
    """Why no rate below it is a cipher's: somebody set how fast it may be, or it is several, or
    something in the command is not known.
    """
    job: bool = False
    """Whether it was left to run in the background."""
    waits: bool = False
    """Whether it waits for what runs there, or only speaks to it."""
    changes_ssh: bool = False
    """Whether it gives ssh another meaning from here on."""
    unclear: bool = False
    """Whether it names a cipher that is not known, or several."""
    wording: str = ""
    """All of it but the cipher: figures of commands that differ in it are no tries."""
    prompt: str = ""
    """User, machine and sign of the prompt that it was typed at."""
    keeps: bool = False
    """Whether it is known to change nothing: what is measured below it is as it was above."""
    sets_mask: bool = False
    """Whether it sets the mask for the commands that follow, or removes it."""
    times_loop: bool = False
    """Whether `time` measures all transfers of a loop at once."""
    times_other: bool = False
    """Whether `time` measures something else than this one transfer, or more."""
    pv_ends: bool = False
    """Whether pv shows the transfer at both ends."""
    login: bool = False
    """Whether it opens a shell on another machine."""
    program: str | None = None
    """What says which ssh it calls, or with which libraries: "" for the usual one."""
    elsewhere: bool = False
    """Whether it has something run on another machine, or shows what was measured anywhere."""
    several: bool = False
    """Whether it may show lists of several machines or settings, one below the other."""
    loops: frozenset[str] = frozenset()
    """Variables of loops that begin in it."""
    varies: frozenset[str] = frozenset()
    """Variables that may change more than the cipher."""

    @property
    def by_hand(self) -> bool:
        """Whether somebody typed it just so: a traced one is what a shell made of that."""
        return self.typed and not self.traced
