import re
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from cipherspeed.types import Tool
from texts.ciphers import ONLY_SSH, openssl_cipher, ssh_cipher
from texts.commands import Command
from texts.context import Context
from texts.events import Elapsed, Failed, Listed, Moved, Named, Rated, TableCell, TableRow
from texts.lines import Line
from texts.numbers import Unit
from texts.words import block_size_in

MEGABYTE, MEBIBYTE = 1e6, 2.0**20
SAME_UNIT = 0.03
_SOURCE = re.compile(r"\s*(?:dd|cat|head|pv|yes)\s(?!.*\bssh\b)")  # zsh times each program


@dataclass
class Trial:
    line: Line
    cipher: str | None = None
    mac: str | None = None
    caveat: str = ""
    of_source: bool = False
    copies: int = 0
    moved: Moved | None = None
    elapsed: Elapsed | None = None
    rated: Rated | None = None

    @property
    def has_report(self) -> bool:
        return bool(self.moved or self.elapsed or self.rated)


class Transfers:
    def __init__(self, context: Context, *, is_about_ssh: bool) -> None:
        self.context = context
        self.is_about_ssh = is_about_ssh
        self.trial = Trial(context.line)
        self.arithmetic: Command | None = None
        self.loop: tuple[str, ...] = ()
        self.done = 0  # transfers in the loop

    def on_named(self, named: Named) -> None:
        command, trial = self.context.command, self.trial
        is_next = trial.line.number == self.context.line.number - 1
        is_below = is_next and not (trial.moved or trial.elapsed) and self._cipher()[1] != ""
        if trial.has_report and (is_below or (command and command.name_after and not trial.cipher)):
            trial.cipher = named.cipher
            trial.caveat = trial.caveat or ("cipher from the line below" if is_below else "")
            self.end()
            return
        self.end()
        self.trial = Trial(self.context.line, named.cipher, named.mac)
        self.context.stated_cipher = named.cipher or self.context.stated_cipher

    def on_failed(self, _failed: Failed) -> None:
        if self.trial.moved:
            self._next()
        self.trial.caveat = "transfer failed"

    def on_moved(self, moved: Moved) -> None:
        trial, command = self.trial, self.context.command
        if trial.moved and command and "status=progress" in command.text:
            if trial.moved.bytes > moved.bytes:
                self._next()
        elif trial.moved and command and trial.copies < command.copies:  # of both ends
            if abs(moved.bytes / max(trial.moved.bytes, 1) - 1) > SAME_UNIT:
                self._next()
            elif moved.seconds < trial.moved.seconds:
                trial.copies += 1
                return
        elif trial.moved:
            self._next()
        self.trial.copies += 1
        self.trial.moved = moved
        self.trial.line = self.context.line

    def on_elapsed(self, elapsed: Elapsed) -> None:
        is_over = self.trial.elapsed and not self.trial.of_source
        if is_over or (self.trial.rated and not self._cipher()[0]):
            self._next()
        self.trial.of_source = bool(_SOURCE.match(self.context.line.text))
        self.trial.elapsed = elapsed
        if not self.trial.moved:
            self.trial.line = self.context.line

    def on_rated(self, rated: Rated) -> None:
        trial = self.trial
        is_counted = trial.rated or (self.context.command_used and not trial.cipher)
        if rated.tool == "rsync" and is_counted:
            return  # the sum of the amounts printed for each file
        if trial.rated and not trial.rated.is_display:
            if rated.tool == "typed" and (trial.moved or trial.elapsed or rated.is_mean):
                return
            self._next()
        self.trial.rated = rated
        if not (self.trial.moved or self.trial.elapsed):
            self.trial.line = self.context.line

    def _next(self) -> None:
        cipher = self.trial.cipher
        self.end()
        self.trial = Trial(self.context.line, cipher)

    def _cipher(self) -> tuple[str | None, str]:
        """Return the cipher of the transfer, with a caveat if it appears only in the text above."""
        context, command = self.context, self.context.command
        named = self.trial.cipher or (None if command else context.heading_cipher)
        if command and command.tool == "ssh":
            named = named or command.cipher
        named = named or ssh_cipher(context.hints.cipher or "")
        if not named and command and command.varies and self.done < len(self.loop):
            return self.loop[self.done], "cipher by the order of the loop"
        return (named, "") if named else (context.stated_cipher, "cipher from text above")

    def end(self) -> None:
        trial, (cipher, caveat) = self.trial, self._cipher()
        self.trial = Trial(self.context.line)
        if not trial.has_report:
            return
        self.done += 1
        if cipher is None:
            self.context.leave_out("no_cipher", "Rate without a cipher.", trial.line)
            return
        rate = self._rate_of(trial)
        if rate is None:
            self.context.leave_out("no_amount", "Transfer without a byte count.", trial.line)
            return
        unnamed = "" if self.is_about_ssh or self.context.hints.cipher else "ssh not mentioned"
        caveat = rate.pop("caveat", "") or caveat or unnamed
        fields = rate | {"line": trial.line.number, "cipher": cipher, "mac": trial.mac}
        self.context.emit(self.context.group(), "ssh", trial.caveat or caveat, **fields)

    def _rate_of(self, trial: Trial) -> dict[str, Any] | None:
        context = self.context
        if trial.moved and trial.moved.seconds > 0:
            return {"format": "dd", "bytes": trial.moved.bytes, "seconds": trial.moved.seconds}
        command, rated, caveat = context.command, trial.rated, ""
        fields: dict[str, Any] = {"format": "time"}
        amount = context.hints.transferred or (command.amount if command else None)
        amount = amount or (rated.amount if rated else None) or context.size_of_file
        if not amount and (amount := context.amount_above):
            fields["assumed"] = (f"{amount:,} bytes (text above)",)
            caveat = "" if context.amount_is_sent else "byte count from text above"
        is_printed = rated and rated.tool == "scp" and not rated.is_display  # without the login
        if trial.elapsed and trial.elapsed.seconds > 0 and amount and not is_printed:
            return fields | {"bytes": amount, "seconds": trial.elapsed.seconds, "caveat": caveat}
        if rated is None:
            return None
        value = self._value(rated.number, rated.unit, rated.tool)
        return value | {"caveat": rated.caveat or value["caveat"]}

    def on_listed(self, listed: Listed) -> None:
        self.end()
        self.context.remark_beside = listed.remark
        with self.context.named(listed.machine):
            for label, rates in listed.pairs:
                series = self._series_of(label or self._cipher()[0] or "", listed)
                for number, unit in rates if series else ():
                    fields = self._value(number, unit) | series
                    fields["caveat"] = listed.caveat or fields["caveat"]
                    self.context.emit(self.context.group(), **fields)
        self.context.remark_beside = ""

    def _series_of(self, label: str, listed: Listed) -> dict[str, Any]:
        context, command = self.context, self.context.command
        words = f"{self.context.line.text} {context.heading}".lower().replace("openssl_", "")
        speed = "openssl" in words or (command is not None and command.tool == "openssl")
        speed = speed and not any(ONLY_SSH.fullmatch(name.lower()) for name, _ in listed.pairs)
        cipher = ssh_cipher(label)
        if cipher and (ONLY_SSH.fullmatch(label.lower()) or (self.is_about_ssh and not speed)):
            own = {"mac": listed.mac} if listed.mac else {}
            return {"tool": "ssh", "cipher": cipher} | own
        size, name = block_size_in(context.line.text) or context.stated_size, openssl_cipher(label)
        if not (speed and size and name):
            context.leave_out("unknown_cipher", f"{label}: no ssh cipher, or no block size.")
            return {}
        return {"tool": "openssl", "cipher": name, "block_size": size}

    def on_tablerow(self, row: TableRow) -> None:
        self.end()
        for machine, cells in groupby(row.cells, lambda cell: cell.machine):
            with self.context.named(machine):
                for cell in cells:
                    self._add_cell(cell)

    def _add_cell(self, cell: TableCell) -> None:
        tool: Tool = "openssl" if cell.size else "ssh"
        unnamed = "" if cell.size or self.is_about_ssh else "ssh not mentioned"
        cipher = cell.cipher or self._cipher()[0]
        if cipher is None:
            self.context.leave_out("no_cipher", "Rate without a cipher.")
            return
        unnamed = unnamed if cell.cipher else "cipher from text above"
        fields = self._value(cell.number, cell.unit) | dict(cell.settings)
        fields |= {"cipher": cipher, "block_size": cell.size}
        caveat = fields.pop("caveat")
        self.context.emit(self.context.group(), tool, cell.caveat or caveat or unnamed, **fields)

    def _value(self, number: float, unit: Unit, tool: str = "") -> dict[str, Any]:
        is_binary, assumed, caveat = self._megabyte(tool) if unit.is_assumed else (False, "", "")
        value = number * (unit.binary if is_binary else unit.decimal)
        shown = (assumed,) if assumed else ()
        return {"bytes_per_second": value, "assumed": shown, "caveat": caveat}

    def _megabyte(self, tool: str) -> tuple[bool, str, str]:
        """Return whether MB means 2^20 bytes, from the command's arithmetic if known."""
        if tool == "scp":
            return True, "MB = 1,048,576 bytes (scp)", ""
        if self.context.hints.unit:
            return self.context.hints.unit == "MiB", "", ""
        command = self.context.command
        command = command if command and command.divided else self.arithmetic
        if not (command and command.amount and command.divided):
            return False, "MB = 1,000,000 bytes", ""
        scale = command.amount / command.divided
        for size in (MEGABYTE, MEBIBYTE):
            if abs(scale / size - 1) < SAME_UNIT:
                return size == MEBIBYTE, f"MB = {size:,.0f} bytes (from the command)", ""
        sent = f"{command.amount / MEGABYTE:,.4g} MB"
        return False, "", f"command sends {sent} but computes the rate from {command.divided:g} MB"
