"""The SQL that selects what a comparison or export asks for.

Everything a user sends arrives as a query parameter of the statement; only names from the
closed lists of this module become part of its text.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from analysis.comparison import Group
from compare.question import TAG_PREFIX, ComparisonQuery
from documents.naming import UNKNOWN_KEY
from store.models.dimension import DimensionValue
from store.models.host import Host


def ids_of(name: str, keys: Iterable[str]) -> list[int]:
    """The ids of the hosts or of the dimension's values that have these keys."""
    return list(_numbers(name, keys).values())


def _numbers(name: str, keys: Iterable[str]) -> dict[str, int]:
    """Key -> id."""
    if name == "host":
        return dict(Host.objects.filter(slug__in=keys).values_list("slug", "pk"))
    known = DimensionValue.objects.filter(dimension=name, key__in=keys)
    return dict(known.values_list("key", "pk"))


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
