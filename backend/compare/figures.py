"""Generate the SQL that selects the results of a query in the analytics copy.

User input is always passed as an SQL parameter. Only names from fixed lists become part of the SQL.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from cipherspeed.choices import TAG_PREFIX
from cipherspeed.groups import Group
from cipherspeed.naming import UNKNOWN_KEY, tags_by_key
from compare.question import ComparisonQuery
from runs.models import DimensionValue, Host, Negotiated, Series
from runs.models.dimension import DIMENSIONS

OF_TOOL = {
    "ssh": ("method", "compression", "target_kind"),
    "openssl": ("operation", "threads"),
}


class Slot(NamedTuple):
    """Identify a slot: a cipher with a block size in bytes (None for ssh).

    In each group, at most one result represents a host for a slot (see `compare.votes`).
    """

    cipher: str
    block_size: int | None

    def is_in(self, query: ComparisonQuery) -> bool:
        return (not query.ciphers or self.cipher in query.ciphers) and (
            query.tool != "openssl" or query.block_size in (None, self.block_size)
        )


class SeriesTable(NamedTuple):
    """List the rows of `Series` that match a query, in order of preference.

    `rows`: primary key of the series, index in `slots`, and whether the series has the MAC of the
    query. `slots`: combinations of cipher and block size.
    """

    rows: tuple[tuple[int, int, bool], ...]
    slots: tuple[Slot, ...]

    def choice(self, query: ComparisonQuery) -> "SeriesTable":
        rows = (row for row in self.rows if self.slots[row[1]].is_in(query))
        return SeriesTable(tuple(rows), self.slots)


def class_series(query: ComparisonQuery) -> SeriesTable:
    """Return the series that match the query, with any cipher and block size.

    If the query has a MAC, include series with other MACs, because ssh can negotiate the MAC.
    """
    fields = {name: getattr(query, name) for name in ("tool", "acceleration", *OF_TOOL[query.tool])}
    if query.mac is None:
        fields["mac"] = ""
    matching = Series.objects.filter(**fields).order_by("pinned", "target_name", "pk")
    rows = list(matching.values_list("pk", "cipher", "block_size", "mac"))
    slots = sorted({Slot(cipher, size) for _, cipher, size, _ in rows})
    places = {slot: place for place, slot in enumerate(slots)}
    series = (
        (pk, places[Slot(cipher, size)], mac == (query.mac or "")) for pk, cipher, size, mac in rows
    )
    return SeriesTable(tuple(series), tuple(slots))


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

PLACES = 2**20
"""Number greater than the number of series of a query. The expression run rank * `PLACES` - series
position therefore sorts by run, and then by series."""

SOURCE_BITS = {"agent": 1, "import": 2, "published": 4}
_SOURCE_BIT = "CASE r.source WHEN 'agent' THEN 1 WHEN 'import' THEN 2 ELSE 4 END"


@dataclass
class Statement:
    ctes: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)

    def sql(self, select: str) -> str:
        tables = ", ".join(f"{name} AS ({cte})" for name, cte in self.ctes.items())
        return f"WITH {tables} {select}"


def group_expression(group_by: str, parameter: str = "group_tag") -> tuple[str, dict[str, Any]]:
    """Return an SQL expression for the group of a run, and the parameters of the expression.

    SQL aliases: `r` is the run, `e` is the environment. `parameter`: name for the SQL parameter
    that contains the tag key.
    """
    if group_by.startswith(TAG_PREFIX):
        tag = group_by.removeprefix(TAG_PREFIX)
        return f"coalesce(r.tags[${parameter}], '{UNKNOWN_KEY}')", {parameter: tag}
    if group_by == "acceleration":
        return "r.verdict", {}
    if group_by == "host":
        return "r.host", {}
    if group_by not in DIMENSIONS:  # final check before a name becomes SQL
        raise LookupError(f"{group_by!r} is no dimension")
    return f"e.{group_by}", {}


def filter_conditions(
    filters: Mapping[str, tuple[str, ...]],
) -> tuple[dict[str, str], dict[str, Any]]:
    """Return SQL conditions by filter, and the parameters of all conditions.

    SQL aliases: `r` is the run, `e` is the environment. Each tag key is a separate filter
    `tag:KEY`; the parameter `tag_key_N` contains the Nth key, beginning with `tag_key_0`.
    """
    conditions, parameters = {}, dict[str, Any]()
    for name, values in filters.items():
        if not values or name == "tag":
            continue
        if name in ("source", "verdict", "disturbed"):
            conditions[name] = f"list_contains($in_{name}, r.{name})"
            parameters[f"in_{name}"] = list(values)
        else:
            column = group_expression(name)[0]
            conditions[name] = f"list_contains($in_{name}::INTEGER[], {column})"
            parameters[f"in_{name}"] = list(_numbers(name, values).values())
    tags = tags_by_key(filters["tag"]) if filters.get("tag") else {}
    for number, (key, wanted) in enumerate(tags.items()):
        has = f"list_contains($tag_{number}, r.tags[$tag_key_{number}])"
        conditions[f"{TAG_PREFIX}{key}"] = has
        parameters |= {f"tag_{number}": wanted, f"tag_key_{number}": key}
    return conditions, parameters


def runs_statement(query: ComparisonQuery) -> Statement:
    """Return a statement with the CTE `runs`, which selects the runs that pass the filters.

    Column `g` contains the group of the run. Column `s` contains the value of `split_by`, or 0.
    """
    group, parameters = group_expression(query.group_by)
    split = "0"
    if query.split_by:
        split, more = group_expression(query.split_by, "split_tag")
        parameters |= more
    filters, more = filter_conditions(query.filters)
    conditions = ["e.tool = $tool", *filters.values()]
    parameters |= {"tool": query.tool, **more}
    for name, sign in (("since", ">="), ("until", "<=")):
        moment: datetime | None = getattr(query, name)
        if moment is not None:
            conditions.append(f"r.started {sign} ${name}")
            parameters[name] = (moment - EPOCH) // timedelta(microseconds=1)
    sql = f"""
        SELECT r.*, {group} AS g, {split} AS s, {_SOURCE_BIT} AS source_bit
        FROM run r JOIN environment e ON e.id = r.environment
        WHERE {" AND ".join(conditions)}
    """  # noqa: S608 - closed lists
    return Statement({"runs": sql}, parameters)


def add_series(statement: Statement, series: SeriesTable) -> None:
    """Add the CTE `series` to the statement.

    `place`: position in order of preference (0: preferred). `chosen`: the series has the MAC of the
    query.
    """
    statement.ctes["series"] = """
        SELECT unnest($series::INTEGER[]) AS id, unnest($slots::INTEGER[]) AS slot,
            unnest($chosen::BOOLEAN[]) AS chosen, unnest($places::INTEGER[]) AS place
    """
    for place, name in enumerate(("series", "slots", "chosen")):
        statement.parameters[name] = [row[place] for row in series.rows]
    statement.parameters["places"] = list(range(len(series.rows)))


def agreed(query: ComparisonQuery, statement: Statement) -> str:
    """Return the SQL condition that a result used the MAC of the query.

    SQL aliases: `x` is the result, `s` is the series. Add the parameter of the condition to
    `statement`.
    """
    if query.tool != "ssh" or query.mac is None:
        return "true"
    ids = Negotiated.objects.filter(mac=query.mac).values_list("pk", flat=True)
    statement.parameters["agreed"] = list(ids)
    return "(s.chosen OR list_contains($agreed::INTEGER[], x.negotiated))"


def is_text(group_by: str) -> bool:
    """Return whether the analytics copy stores the groups as text instead of as integer IDs."""
    return group_by == "acceleration" or group_by.startswith(TAG_PREFIX)


def group_type(group_by: str | None) -> str:
    return "VARCHAR" if group_by and is_text(group_by) else "INTEGER"


def _numbers(name: str, keys: Iterable[str]) -> dict[str, int]:
    if name == "host":
        return dict(Host.objects.filter(slug__in=keys).values_list("slug", "pk"))
    known = DimensionValue.objects.filter(dimension=name, key__in=keys)
    return dict(known.values_list("key", "pk"))


def _members(group_by: str, keys: Iterable[str]) -> Mapping[str, Any]:
    return {key: key for key in keys} if is_text(group_by) else _numbers(group_by, keys)


def member(group_by: str, key: str) -> str | None:
    """Return the text or ID of a group in the analytics copy, or None if the key is unknown."""
    group = _members(group_by, (key,)).get(key)
    return None if group is None else str(group)


def members(query: ComparisonQuery, groups: Collection[Group]) -> list[tuple[Any, Any]]:
    own = _members(query.group_by, {group.key for group in groups})
    split: Mapping[str, Any] = {"": 0}
    if query.split_by is not None:
        split = _members(query.split_by, {group.split_key for group in groups})
    return [
        (own[group.key], split[group.split_key])
        for group in groups
        if group.key in own and group.split_key in split
    ]
