"""Make figures of transfers through ssh: reports of dd, time, pv, scp, rsync; lists, tables."""

import re
from dataclasses import dataclass
from typing import Any

from documents.types import Tool
from texts.ciphers import ONLY_SSH, ssh_cipher
from texts.commands import Command
from texts.context import Context
from texts.events import PLAIN, Listed, Moved, Named, Rated, TableCell, TableRow, Took
from texts.numbers import Unit
from texts.tables import amount_in

MEGABYTE, MEBIBYTE = 1e6, 2.0**20
SAME_UNIT = 0.03
"""Share by which a command's arithmetic may differ from the unit that it prints."""
_SILENT = re.compile(r"2>\s?/dev/null|&>|status=none")


@dataclass
class Trial:
    """Hold what dd, time, pv and others report of one transfer."""

    line: int = 0
    cipher: str | None = None
    label: str = ""
    moved: Moved | None = None
    took: Took | None = None
    rated: Rated | None = None

    @property
    def has_report(self) -> bool:
        return bool(self.moved or self.took or self.rated)


class Transfers:
    """Keep the transfer that is being read, and the loop above it."""

    def __init__(self, context: Context, *, is_about_ssh: bool) -> None:
        self.context = context
        self.is_about_ssh = is_about_ssh
        self.trial = Trial()
        self.arithmetic: Command | None = None

    def on_named(self, named: Named) -> None:
        command, trial = self.context.command, self.trial
        if command and command.name_after and trial.has_report and not trial.cipher:
            trial.cipher, trial.label = named.cipher, named.label
            self.end()
            return
        self.end()
        self.trial = Trial(self.context.line.number, named.cipher, named.label)

    def on_moved(self, moved: Moved) -> None:
        if self.trial.moved:
            if self._is_other_end(self.trial.moved, moved):
                return
            self._next()
        self.trial.moved = moved
        self.trial.line = self.context.line.number

    def _is_other_end(self, first: Moved, second: Moved) -> bool:
        """Tell whether the dd at the other end of the same transfer reports."""
        text = self.context.command.text if self.context.command else ""
        return text.count("dd ") > 1 and not _SILENT.search(text) and first.bytes == second.bytes

    def on_took(self, took: Took) -> None:
        if self.trial.took:
            self._next()
        self.trial.took = took
        if not self.trial.moved:
            self.trial.line = self.context.line.number

    def on_rated(self, rated: Rated) -> None:
        trial = self.trial
        if rated.tool == "rsync" and (trial.rated or self.context.command_used):
            return  # the sum of what it printed for each file
        if trial.rated and not trial.rated.is_display:
            if rated.tool == "typed" and (trial.moved or trial.took or rated.is_mean):
                return
            self._next()
        if rated.tool == "typed" and not (trial.has_report or trial.cipher or self._cipher()):
            self.context.leave_out("no_cipher", "This line has a rate and names no cipher.")
            return
        self.trial.rated = rated
        if not (self.trial.moved or self.trial.took):
            self.trial.line = self.context.line.number

    def _next(self) -> None:
        """End the transfer; the next one is another try of the same cipher."""
        cipher, label = self.trial.cipher, self.trial.label
        self.end()
        self.trial = Trial(self.context.line.number, cipher, label)

    def _cipher(self) -> str | None:
        """Return the cipher that command, heading or hint names for a transfer."""
        command, hint = self.context.command, self.context.hints.cipher
        if command is None and self.context.heading_cipher:
            return self.context.heading_cipher
        named = command.cipher if command and command.tool == "ssh" else None
        return named or (ssh_cipher(hint) if hint else None)

    def _guessed_cipher(self) -> tuple[str | None, str]:
        """Return the cipher of the command above another heading."""
        earlier = self.context.earlier_command
        if self.context.command is None and earlier:
            return earlier.cipher, "command above another heading"
        return None, ""

    def end(self) -> None:
        """Make a figure of the transfer's reports."""
        trial, self.trial = self.trial, Trial()
        if not trial.has_report:
            return
        cipher, doubt = trial.cipher or self._cipher(), ""
        if cipher is None:
            cipher, doubt = self._guessed_cipher()
        if cipher is None:
            self.context.remark("no_cipher", "This transfer names no cipher.", trial.line)
            return
        rate = self._rate_of(trial)
        if rate is None:
            detail = "The number of bytes of this transfer is unknown."
            self.context.remark("no_amount", detail, trial.line)
            return
        doubt = rate.pop("doubt", "") or doubt
        fields = {"format": "dd", "label": trial.label or cipher} | rate
        self.context.emit(
            self.context.group(), "ssh", doubt, line=trial.line, cipher=cipher, **fields
        )

    def _rate_of(self, trial: Trial) -> dict[str, Any] | None:
        """Return bytes and seconds of a transfer, else its printed rate."""
        context = self.context
        if trial.moved and trial.moved.seconds > 0:
            return {"bytes": trial.moved.bytes, "seconds": trial.moved.seconds}
        command, doubt = context.command, ""
        amount = context.hints.transferred or (command.amount if command else None)
        if not amount and not command and (amount := amount_in(context.words_above)):
            doubt = "amount from the words above"
        if trial.took and trial.took.seconds > 0 and amount:
            seconds = trial.took.seconds
            return {"format": "time", "bytes": amount, "seconds": seconds, "doubt": doubt}
        if trial.rated is None:
            return None
        return {"format": "cipher-list"} | self._value(
            trial.rated.number, trial.rated.unit, trial.rated.tool
        )

    def on_listed(self, listed: Listed) -> None:
        self.end()
        context = self.context
        for cipher, label, rates in listed.pairs:
            if not self._is_ssh_name(label):
                context.leave_out("unknown_cipher", f"{label}: not clearly a cipher of ssh.")
                continue
            for number, unit in rates:
                fields = {"cipher": cipher, "format": "cipher-list", "label": label}
                fields |= self._value(number, unit)
                doubt = fields.pop("doubt")
                doubt = listed.doubt or doubt
                context.emit(context.group(), "ssh", doubt, **fields)

    def _is_ssh_name(self, label: str) -> bool:
        """Tell whether only ssh uses this name, or the text is about ssh."""
        command = self.context.command
        is_speed = command is not None and command.tool == "openssl"
        return (self.is_about_ssh and not is_speed) or bool(ONLY_SSH.fullmatch(label.lower()))

    def on_tablerow(self, row: TableRow) -> None:
        self.end()
        context = self.context
        names, heading = context.names, context.heading
        for cell in row.cells:
            if cell.machine:
                context.names, context.heading = {**names, PLAIN: cell.machine}, cell.machine
                context.part()
            self._take_cell(cell)
        context.names, context.heading = names, heading

    def _take_cell(self, cell: TableCell) -> None:
        tool: Tool = "openssl" if cell.size else "ssh"
        fields = self._value(cell.number, cell.unit) | dict(cell.settings)
        fields |= {"cipher": cell.cipher, "label": cell.label, "block_size": cell.size}
        fields["format"] = "openssl-speed" if cell.size else "cipher-list"
        doubt = fields.pop("doubt")
        self.context.emit(self.context.group(), tool, cell.doubt or doubt, **fields)

    def _value(self, number: float, unit: Unit, tool: str = "") -> dict[str, Any]:
        """Return bytes per second, what was assumed of MB, and why the rate is doubtful."""
        value, assumed, doubt = number * unit.decimal, "", ""
        command = self.context.command
        command = command if command and command.divided else self.arithmetic
        if not unit.is_assumed:
            pass
        elif tool in ("scp", "rsync"):
            value, assumed = number * unit.binary, f"MB = 1,048,576 bytes ({tool})"
        elif self.context.hints.unit:
            value = number * (unit.binary if self.context.hints.unit == "MiB" else unit.decimal)
        elif command and command.amount and command.divided:
            scale = command.amount / command.divided
            is_decimal = abs(scale / MEGABYTE - 1) < SAME_UNIT
            is_binary = abs(scale / MEBIBYTE - 1) < SAME_UNIT
            value = number * unit.binary if is_binary else value
            assumed = f"MB = {MEBIBYTE if is_binary else MEGABYTE:,.0f} bytes (command)"
            if not (is_decimal or is_binary):
                sent = f"{command.amount / MEGABYTE:,.4g} MB"
                assumed, doubt = "", f"command sends {sent}, divides {command.divided:g}"
        else:
            assumed = "MB = 1,000,000 bytes"
        return {
            "bytes_per_second": value,
            "assumed": (assumed,) if assumed else (),
            "doubt": doubt,
        }
