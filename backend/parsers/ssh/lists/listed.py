"""What a line of a list may give: a rate, a name, a title."""

from dataclasses import dataclass
from typing import NamedTuple

from parsers.ssh.names import CipherName
from parsers.ssh.units import Unit


class ListedRate(NamedTuple):
    """A printed rate. `cipher` is None where the line has a rate only.

    `problem` is the code of the remark for a number that cannot be used, else None;
    `column` the title of its column where that tells one configuration from another.
    """

    number: str
    unit: Unit | None
    cipher: CipherName | None = None
    mac: str | None = None
    column: str | None = None
    mean: bool = False
    problem: str | None = None
    table: int = 0
    """Which table of the text it stands in: one row that is not understood spoils them all."""
    remark: str = ""
    """Words in brackets or behind a # on its line that may say of which configuration it is."""
    row_number: int | None = None
    """A number left of the name that no title explains."""


@dataclass(frozen=True)
class ListedName:
    """A line that only names a cipher: what follows is about it. `attempt`: "(try 2)" is said."""

    cipher: CipherName
    mac: str | None
    attempt: bool
    bare: bool
    remark: str = ""
    amount: int | None = None
    """Bytes that its line states."""


@dataclass(frozen=True)
class TableTitles:
    """The titles of a table, or a caption with the unit of what follows."""

    text: str


@dataclass(frozen=True)
class ListedTitle:
    """Words before a list that lost its line breaks."""

    text: str


Listed = ListedRate | ListedName | ListedTitle | TableTitles
