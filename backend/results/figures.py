"""The figures that a query asks about, as a statement for the analytics copy.

Every question over many rows begins with the same tables: `series` (the stored series asked
for, of which those of a slot have one vote), `runs` (those that pass the filters, each with its
group `g`) and `results` (theirs). What a user sent is a parameter; only names from closed lists
become part of a statement.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from compare.question import TAG_PREFIX, ComparisonQuery
from documents.naming import UNKNOWN_KEY, tags_by_key
from results.selection import ids_of
from store.models import Negotiated, Series
from store.models.dimension import DIMENSIONS


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
    known = Series.objects.filter(tool=query.tool, acceleration=query.acceleration)
    if query.tool == "openssl":
        known = known.filter(operation=query.operation, threads=query.threads)
    else:
        known = known.filter(
            method=query.method, compression=query.compression, target_kind=query.target_kind
        )
        if query.mac is None:
            known = known.filter(mac="")
    in_order = known.order_by("cipher", "block_size", "pinned", "target_name", "id")
    rows = list(in_order.values_list("id", "cipher", "block_size", "mac"))
    slots = [Slot(cipher, block_size) for _, cipher, block_size, _ in rows]
    places = {slot: place for place, slot in enumerate(dict.fromkeys(slots))}
    return SeriesTable(
        ids=tuple(row[0] for row in rows),
        slot_of=tuple(places[slot] for slot in slots),
        asked=tuple(row[3] == (query.mac or "") for row in rows),
        slots=tuple(places),
    )


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

PLACES = 2**20
"""More than a query, or an export of all series of a tool, has series."""

TURN = f"row_number() OVER (ORDER BY moment) * {PLACES}"

SOURCE_BITS = {"agent": 1, "import": 2, "published": 4}
_SOURCE_BIT = "CASE r.source WHEN 'agent' THEN 1 WHEN 'import' THEN 2 ELSE 4 END"


@dataclass
class Statement:
    """CTEs of a statement, and the parameters that all of it has."""

    ctes: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)

    def sql(self, select: str) -> str:
        """The statement that ends in this SELECT."""
        tables = ", ".join(f"{name} AS ({cte})" for name, cte in self.ctes.items())
        return f"WITH {tables} {select}"


def microseconds(moment: datetime) -> int:
    """Of Unix time, as the copy has the start of runs."""
    return (moment - EPOCH) // timedelta(microseconds=1)


def group_expression(group_by: str, parameter: str = "group_tag") -> tuple[str, dict[str, Any]]:
    """SQL of a run's (r) group, whose environment is e; its parameters, the tag's by this name."""
    if group_by.startswith(TAG_PREFIX):
        tag = group_by.removeprefix(TAG_PREFIX)
        return f"coalesce(r.tags[${parameter}], '{UNKNOWN_KEY}')", {parameter: tag}
    if group_by == "acceleration":
        return "r.verdict", {}
    if group_by == "host":
        return "r.host", {}
    if group_by not in DIMENSIONS:  # the last guard before a name becomes SQL
        raise LookupError(f"{group_by!r} is no dimension")
    return f"e.{group_by}", {}


def tag_conditions(values: tuple[str, ...]) -> tuple[dict[str, str], dict[str, Any]]:
    """Tag key -> SQL of its condition on a run (r); all their parameters.

    The n-th key is the parameter `tag_key_n`.
    """
    conditions, parameters = {}, dict[str, Any]()
    for number, (key, wanted) in enumerate(tags_by_key(values).items()):
        conditions[key] = f"list_contains($tag_{number}, r.tags[$tag_key_{number}])"
        parameters |= {f"tag_{number}": wanted, f"tag_key_{number}": key}
    return conditions, parameters


def filter_condition(name: str, values: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
    """SQL of one of `FILTERS` on runs (r) and their environments (e); its parameters."""
    if name == "tag":
        conditions, parameters = tag_conditions(values)
        return " AND ".join(conditions.values()), parameters
    if name in ("source", "verdict", "disturbed"):
        return f"list_contains($in_{name}, r.{name})", {f"in_{name}": list(values)}
    column, ids = group_expression(name)[0], ids_of(name, values)
    return f"list_contains($in_{name}::INTEGER[], {column})", {f"in_{name}": ids}


def runs_statement(query: ComparisonQuery, *, without: Iterable[str] = ()) -> Statement:
    """`runs` of the query's filters: the columns of `run`, group g and split s."""
    group, parameters = group_expression(query.group_by)
    split = "0"
    if query.split_by:
        split, more = group_expression(query.split_by, "split_tag")
        parameters |= more
    conditions = ["e.tool = $tool"]
    parameters["tool"] = query.tool
    for name, values in query.filters.items():
        if values and name not in without:
            condition, more = filter_condition(name, values)
            conditions.append(condition)
            parameters |= more
    for name, sign in (("since", ">="), ("until", "<=")):
        moment = getattr(query, name)
        if moment is not None:
            conditions.append(f"r.started {sign} ${name}")
            parameters[name] = microseconds(moment)
    sql = f"""
        SELECT r.*, {group} AS g, {split} AS s, {_SOURCE_BIT} AS source_bit
        FROM run r JOIN environment e ON e.id = r.environment
        WHERE {" AND ".join(conditions)}
    """  # noqa: S608 - closed lists
    return Statement({"runs": sql}, parameters)


def results_statement(query: ComparisonQuery, series: SeriesTable) -> Statement:
    """The same with `series` (id, slot, asked, place) and `results`, theirs in those runs.

    `results` has the columns of `result`, slot, g, host and rank, another one for each row: of two
    results of a host's slot the later one has the higher.
    """
    statement = runs_statement(query)
    statement.ctes["ranked"] = f"SELECT *, {TURN} AS turn FROM runs"  # noqa: S608 - constants
    add_series(statement, series)
    statement.ctes["results"] = f"""
        SELECT x.*, s.slot, r.g, r.host, r.turn - s.place AS rank
        FROM result x JOIN series s ON s.id = x.series JOIN ranked r ON r.id = x.run
        WHERE {agreed(query, statement)}
    """  # noqa: S608 - closed lists
    return statement


def add_series(statement: Statement, series: SeriesTable) -> None:
    """Give a statement `series`."""
    statement.ctes["series"] = """
        SELECT unnest($series::INTEGER[]) AS id, unnest($slots::INTEGER[]) AS slot,
            unnest($asked::BOOLEAN[]) AS asked,
            unnest(range(len($series))) AS place
    """
    statement.parameters |= {
        "series": list(series.ids),
        "slots": list(series.slot_of),
        "asked": list(series.asked),
    }


def agreed(query: ComparisonQuery, statement: Statement) -> str:
    """The condition that a result (x) of a series (s) has the query's MAC, asked or negotiated."""
    if query.tool != "ssh" or query.mac is None:
        return "true"
    ids = Negotiated.objects.filter(mac=query.mac).values_list("pk", flat=True)
    statement.parameters["agreed"] = list(ids)
    return "(s.asked OR list_contains($agreed::INTEGER[], x.negotiated))"
