"""The SQL that selects what a comparison or export asks for.

Everything a user sends arrives as a query parameter of the statement; only names from the
closed lists of this module become part of its text.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from analysis.comparison import Group
from compare.question import TAG_PREFIX, ComparisonQuery
from documents.naming import UNKNOWN_KEY, tags_by_key
from store.models.dimension import DIMENSIONS, OF_LIBRARIES, DimensionValue
from store.models.host import Host

DISTURBED_TEXT = "CASE WHEN r.conditions = '[]'::jsonb THEN 'no' ELSE 'yes' END"
"""SQL: that of a run (r)."""

_OF_RUN = {"source": "r.source", "verdict": "r.acceleration", "disturbed": f"({DISTURBED_TEXT})"}


@dataclass
class Where:
    """Conditions of a statement, all of which must hold, with their parameters."""

    conditions: list[str]
    parameters: list[Any]

    def add(self, condition: str, *parameters: Any) -> None:
        """Another condition with its parameters."""
        self.conditions.append(condition)
        self.parameters.extend(parameters)

    @property
    def text(self) -> str:
        """The conditions as SQL."""
        return " AND ".join(self.conditions)


OF_ROW = "s.tool"
"""In place of a tool: that of each row's series (s)."""


def dimension_value(dimension: str, tool: str, environments: str = "e") -> str:
    """SQL for the id of an environment's value of a dimension, as figures of this tool have it.

    That of ssh's library is its own where ssh is linked with another one than the openssl program.
    """
    if dimension not in DIMENSIONS:  # the last guard before a name becomes SQL
        raise LookupError(f"{dimension!r} is no dimension")
    own = f"{environments}.{dimension}_id"
    if dimension not in OF_LIBRARIES or tool == "openssl":
        return own
    of_ssh = f"coalesce({environments}.{OF_LIBRARIES[dimension]}_id, {own})"
    return of_ssh if tool == "ssh" else f"CASE {OF_ROW} WHEN 'ssh' THEN {of_ssh} ELSE {own} END"


def add_filter(where: Where, name: str, values: tuple[str, ...], *, tool: str = "") -> None:
    """The condition of a filter of runs (r) and their environments (e): any of the values.

    Of tags, any of each key's values. `tool`: whose figures are filtered (`dimension_value`);
    none where runs are, which pass by the library of either.
    """
    if name in _OF_RUN:
        where.add(f"{_OF_RUN[name]} = ANY(%s)", list(values))
    elif name == "tag":
        for key, wanted in tags_by_key(values).items():
            where.add("r.tags ->> %s = ANY(%s)", key, wanted)
    elif name == "host":
        # One host is as rare as the other: the database need not know which.
        ids = "SELECT id FROM runs_host WHERE slug = ANY(%s)"
        where.add(f"r.host_id = ANY(ARRAY({ids}))", list(values))
    else:
        # Found before, because the database plans by the values: of a rare one it takes the index.
        _add_dimension(where, name, ids_of(name, values), tool)


def _add_dimension(where: Where, name: str, ids: list[int], tool: str) -> None:
    own, of_ssh = f"{dimension_value(name, 'openssl')} = ANY(%s)", f"e.{OF_LIBRARIES.get(name)}_id"
    if name not in OF_LIBRARIES or tool == "openssl":
        where.add(own, ids)
    elif tool == "ssh":
        # Not as `dimension_value` says it: the database knows how frequent a column's values are.
        other = f"{of_ssh} IS NOT NULL AND {of_ssh} = ANY(%s)"
        where.add(f"({other} OR {of_ssh} IS NULL AND {own})", ids, ids)
    else:
        where.add(f"({of_ssh} = ANY(%s) OR {own})", ids, ids)


def ids_of(name: str, keys: Iterable[str]) -> list[int]:
    """The ids of the hosts or of the dimension's values that have these keys."""
    return list(_numbers(name, keys).values())


def _numbers(name: str, keys: Iterable[str]) -> dict[str, int]:
    """Key -> id."""
    if name == "host":
        return dict(Host.objects.filter(slug__in=keys).values_list("slug", "pk"))
    known = DimensionValue.objects.filter(dimension=name, key__in=keys)
    return dict(known.values_list("key", "pk"))


def class_conditions(query: ComparisonQuery) -> Where:
    """Conditions on series (s): all that the query asks for, but for ciphers and block size."""
    where = Where(["s.tool = %s", "s.acceleration = %s"], [query.tool, query.acceleration])
    if query.tool == "openssl":
        where.add("s.operation = %s", query.operation)
        where.add("s.threads = %s", query.threads)
        return where
    where.add("s.method = %s", query.method)
    where.add("s.compression = %s", query.compression)
    where.add("s.target_kind = %s", query.target_kind)
    if query.mac is None:
        where.add("s.mac = ''")
    return where


def group_table(group_by: str) -> str:
    """SELECT of id, key and label of groups that are rows of a table; empty: they are texts."""
    if group_by == "acceleration" or group_by.startswith(TAG_PREFIX):
        return ""
    if group_by == "host":
        return "SELECT id, slug, name FROM runs_host"
    return "SELECT id, key, label FROM runs_dimensionvalue"


def name_of_text(group_by: str, text: str) -> tuple[str, str]:
    """Key and label of a group that is a text."""
    if group_by == "acceleration":
        return text, text.title()
    return text, "Not tagged" if text == UNKNOWN_KEY else text


def group_type(group_by: str | None) -> str:
    """Return the type that the copy has a run's group in: an id, or a text."""
    return "INTEGER" if group_by is None or group_table(group_by) else "VARCHAR"


def members(query: ComparisonQuery, groups: Collection[Group]) -> list[tuple[Any, Any]]:
    """Return what the copy has these groups by: ids or texts of group and split."""
    own = _members(query.group_by, {group.key for group in groups})
    split = {"": 0}
    if query.split_by is not None:
        split = dict(_members(query.split_by, {group.split_key for group in groups}))
    return [
        (own[group.key], split[group.split_key])
        for group in groups
        if group.key in own and group.split_key in split
    ]


def _members(group_by: str, keys: Iterable[str]) -> Mapping[str, Any]:
    """Key -> id, or the key itself where groups are texts."""
    return _numbers(group_by, keys) if group_table(group_by) else {key: key for key in keys}


def member(group_by: str, key: str) -> str | None:
    """The id of one group as a text, or its text; None where there is no such group."""
    found = _members(group_by, (key,)).get(key)
    return None if found is None else str(found)
