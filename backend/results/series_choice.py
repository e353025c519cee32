"""The stored series that a question is about, and what of them has one vote."""

from dataclasses import dataclass, replace

from results.selection import ComparisonQuery, class_conditions
from store.statements import fetch_rows


@dataclass(frozen=True)
class Slot:
    """What a host has one vote on: a cipher and, of openssl, a block size."""

    cipher: str
    block_size: int | None

    def is_in(self, query: ComparisonQuery) -> bool:
        """Whether the query asks for this cipher and, of openssl, for this block size."""
        return (not query.ciphers or self.cipher in query.ciphers) and (
            query.tool != "openssl" or query.block_size in (None, self.block_size)
        )


@dataclass(frozen=True)
class SeriesTable:
    """The stored series that a query asks for, the one that votes first where there are several.

    `slot_of` gives for each of `ids` the place of its slot in `slots`; `asked` whether the
    query's MAC is the one that was asked for.
    """

    ids: tuple[int, ...]
    slot_of: tuple[int, ...]
    asked: tuple[bool, ...]
    slots: tuple[Slot, ...]

    def choice(self, query: ComparisonQuery) -> "SeriesTable":
        """Only the series of the query's ciphers and block size, in the same slots."""
        places = [place for place, slot in enumerate(self.slot_of) if self.slots[slot].is_in(query)]
        return replace(
            self,
            ids=tuple(self.ids[place] for place in places),
            slot_of=tuple(self.slot_of[place] for place in places),
            asked=tuple(self.asked[place] for place in places),
        )


def class_series(query: ComparisonQuery) -> SeriesTable:
    """All series that the query asks for whatever their ciphers and block sizes."""
    where = class_conditions(query)
    rows = fetch_rows(
        f"SELECT s.id, s.cipher, s.block_size, s.mac FROM runs_series s WHERE {where.text}"  # noqa: S608
        " ORDER BY s.cipher, s.block_size, s.pinned, s.target_name, s.id",
        where.parameters,
    )
    slots = [Slot(cipher, block_size) for _, cipher, block_size, _ in rows]
    places = {slot: place for place, slot in enumerate(dict.fromkeys(slots))}
    return SeriesTable(
        ids=tuple(row[0] for row in rows),
        slot_of=tuple(places[slot] for slot in slots),
        asked=tuple(row[3] == (query.mac or "") for row in rows),
        slots=tuple(places),
    )


def measured_names() -> frozenset[tuple[str, str]]:
    """Tool and cipher of every stored series; there are a few thousand series at most."""
    return frozenset(fetch_rows("SELECT DISTINCT tool, cipher FROM runs_series", []))
