"""Headings in turn: which figures one is above, and what of it goes on to hold."""

import re
from dataclasses import dataclass, replace

from parsers.ssh.commands.command import Command
from parsers.ssh.dd_lines import amount_alone
from parsers.ssh.headings import (
    NOTHING,
    Headed,
    Title,
    counts_tries,
    is_direction,
    is_of_other_matter,
    is_sentence,
    may_be_talk,
    names_cipher_alone,
    names_other_tool,
    names_setting,
    parts_ciphers,
    said_in,
    settings_named,
)
from parsers.ssh.lists.list_tables import is_machine_name
from parsers.ssh.lists.row_remarks import tells_configuration
from parsers.ssh.machine_facts import names_machine

TITLE_LIMIT = 120
_NAME = r"(?:(?:my|our|the|an?)\s+)?([^\W\d_][\w.-]{0,60})"
_FROM = re.compile(
    r"(?:\bfrom:|\b(?:measured|speeds?|rates?|scp|ssh|cop(?:y|ied|ying)|transfer\w*|sen[dt]\w*)\b"
    rf".*?\sfrom)\s+{_NAME}\s+to:?\s+{_NAME}(?=[\s:,;)]|$)",
    re.I,
)
_ARROW = re.compile(
    rf"(?:^|[,;:]\s)[^\w,;:]*{_NAME}\s*(?:-{{1,2}}>|=>|→)\s*{_NAME}\W*(?:[(,;].*)?$", re.I
)
_ROLES = re.compile(rf"\bclient\W{{1,3}}{_NAME}\W{{1,6}}(?:and )?server\W{{1,3}}{_NAME}", re.I)
"""Words that say between which two machines the bytes went."""
_NUMBERED = re.compile(r"\d")


@dataclass
class Titles:
    """Lines that may be headings, the last ones, and the settings that headings have said."""

    last: Title | None = None
    heading: Title | None = None
    """The last line that has the form of a heading."""
    settings: Headed = NOTHING
    amount: int | None = None
    """Bytes of the transfers below, by a heading that says no more."""
    far: str | None = None
    """The machine to which the transfers below went, by the last words that name two."""

    def see(self, line: int, text: str) -> None:
        """Keep it for the figures that may follow; what it says is looked at only then."""
        if len(text) > TITLE_LIMIT:
            return
        if text.rstrip().endswith(":") or text.lstrip()[:1] in ("#", "=", "-", "*"):
            self.heading = Title(line, text)
        self.last = Title(line, text)
        self.far = _far_machine(text) or self.far
        self.amount = amount_alone(text) or self.amount

    def forget(self) -> None:
        """What stood above was about something else."""
        self.last = self.heading = None

    @property
    def is_there(self) -> bool:
        """Whether a heading, or a line that is more than words, stands above."""
        return self.heading is not None or (self.last is not None and not self.last.is_bare)

    def taken(self) -> Title | None:
        """The heading above, given once: the last line if it names a machine or a mask."""
        last, heading = self.last, self.heading
        self.forget()
        if last and (names_machine(last.text) or names_setting(last.text)):
            return last
        may_end = last and (names_other_tool(last.text) or last.is_bare or self.settings != NOTHING)
        if may_end and heading is None:
            return last
        return heading

    def doubt_of_settings(self, title: Title) -> str:
        """The remark on figures for which a setting may hold, or may have ended at a heading."""
        if said_in(title.text) != NOTHING and may_be_talk(title.text):
            return "context_unclear"
        keeps = counts_tries(title.text) or is_direction(title.text)
        is_said = keeps or settings_named(title.text) >= self.settings.settings
        return "" if is_said else "context_unclear"

    def doubt_of(self, title: Title) -> str:
        """The remark on what stands below a heading of no machine as it usually is."""
        if is_of_other_matter(title.text):
            return "not_a_rate"
        if doubt := self.doubt_of_settings(title):
            return doubt
        is_setting = names_setting(title.text) and not (
            tells_configuration(title.text.lower()) and said_in(title.text) == NOTHING
        )
        if is_setting or any(known(title.text) for known in (names_machine, is_direction)):
            return ""
        if amount_alone(title.text):
            return ""
        return "" if is_machine_name(title.label) else "context_unclear"

    def learn(self, title: Title) -> None:
        """Take over a MAC, compression or a mask that a heading says of what follows it.

        They hold until a heading speaks of all of them: below any other no figure counts.
        """
        if settings_named(title.text) >= self.settings.settings:
            self.settings = said_in(title.text)

    def over(self, command: Command) -> Command:
        """The command with the settings that headings above it have said."""
        heads = self.settings
        if self.far:
            command = replace(command, far=self.far)
        is_said = (
            (heads.masks is None or command.masks is not None)
            and (heads.mac is None or command.mac is not None)
            and (command.compression or not heads.compression)
        )
        if is_said:
            return command
        return replace(
            command,
            masks=command.masks or heads.masks,
            compression=command.compression or heads.compression,
            mac=command.mac or heads.mac,
        )


def _far_machine(text: str) -> str | None:
    """The second of two machines that a line names."""
    found = _FROM.search(text) if "rom" in text else None
    if found is None and (">" in text or "→" in text):
        found = _ARROW.search(text)
    if found is None and "erver" in text:
        found = _ROLES.search(text)
    return found[2] if found and all(map(is_machine_name, found.groups())) else None


def keeps_place(title: str) -> bool:
    """Whether a heading is known to say nothing of the machine."""
    forms = (counts_tries, is_direction, parts_ciphers, names_cipher_alone)
    if any(known(title) for known in forms):
        return True
    return names_setting(title) and not (names_machine(title) or is_sentence(title))


def doubt_of_words(title: Title) -> str:
    """The remark on what stands below words that may say anything: that it was not measured."""
    forms = (names_machine, names_setting, is_direction, is_sentence, _NUMBERED.search)
    is_known = len(title.label.split()) < 2 or any(known(title.text) for known in forms)
    return "" if is_known else "context_unclear"
