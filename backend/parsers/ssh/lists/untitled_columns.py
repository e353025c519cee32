"""Words above or below rows of several rates: they may be titles, and the rates no tries."""

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from parsers.ssh.headings import counts_tries
from parsers.ssh.lines import Aside, Event
from parsers.ssh.lists.cipher_loops import ListReader
from parsers.ssh.lists.list_tables import header_of, says_tries
from parsers.ssh.lists.listed import ListedName, ListedRate
from parsers.ssh.machine_facts import names_machine
from parsers.ssh.transfer_reports import Report

_PARTED = re.compile(r"[/|,;&\t]|\s{2}")
_CELL = re.compile(r"[^\s|,;/&]+")
_LEGEND = re.compile(r"\w{1,30}\s?[:=]\s?[^:=]{1,60}[,;/|]\s?\w{1,30}\s?[:=]\s?\S")
"""Below a table: "left: LAN, right: WLAN"."""
_LONGEST = 200
"""Characters of a line that may be titles or a legend."""
_MOST_LINES = 20


@dataclass
class Above:
    """The lines above a list that were not understood."""

    table: int = 0
    """The last table without titles, 0 if none stands right above."""
    _unknown: deque[str] = field(default_factory=lambda: deque(maxlen=_MOST_LINES))
    """The last of them, looked at only where a list follows."""
    _in_words: bool = False
    """Whether the line before was not understood."""

    def _may_be_titles(self) -> bool:
        """Whether they have several words, below any line that says that tries follow."""
        words = 0
        for text in reversed(self._unknown):
            if _tells_no_columns(text):
                break
            words += len(_CELL.findall(text))
            if words > 1:
                return True
        return False

    def doubt(self, events: Sequence[Event], lists: ListReader) -> None:
        """Rows of several rates right below words may be of what the words say."""
        tables = [one.table for one in events if isinstance(one, ListedRate) and one.table < 0]
        if not tables:
            return
        self.table = tables[0]
        if self._may_be_titles():
            lists.doubted.add(self.table)

    def titles_lines(self, lists: ListReader) -> bool:
        """Whether several lines below a name may be the cells of its row."""
        is_table = lists.header is not None and len(lists.header.columns) > 1
        return is_table or self._may_be_titles()

    def see(self, text: str, events: Sequence[Event] | None, lists: ListReader) -> None:
        """A line, with what it meant; None for nothing."""
        if events is not None:
            self._in_words = False
            if not all(isinstance(one, (ListedRate, ListedName, Report, Aside)) for one in events):
                self._unknown.clear()
                self.table = 0
            return
        if self.table and len(text) <= _LONGEST and _LEGEND.search(text):
            lists.doubted.add(self.table)
        if not self._in_words:
            self._unknown.clear()
        self._unknown.append(text)
        self._in_words, self.table = True, 0


def _titles_tries(text: str) -> bool:
    """Whether a line has the titles of columns of which each is a try."""
    header = header_of(text) if "1" in text and len(text) <= _LONGEST else None
    return header is not None and {one.kind for one in header.columns} == {"try"}


def _tells_no_columns(text: str) -> bool:
    """Whether a line is about tries, or names one machine for all that follows."""
    if counts_tries(text) or says_tries(text) or _titles_tries(text):
        return True
    return names_machine(text) and _PARTED.search(text.strip()) is None
