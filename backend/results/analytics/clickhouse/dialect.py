"""Questions in DuckDB's SQL, as ClickHouse has them.

Each question is written once. sqlglot translates; what it leaves as it is, or what means something
else to ClickHouse, is here.
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from sqlglot import exp, parse_one
from sqlglot.dialects.clickhouse import ClickHouse
from sqlglot.generators.clickhouse import ClickHouseGenerator

SETTINGS = {
    "join_use_nulls": 1,
    "group_by_use_nulls": 1,
    "prefer_column_name_to_alias": 1,
    "joined_subquery_requires_alias": 0,
    "allow_suspicious_low_cardinality_types": 1,
    "precise_float_parsing": 1,
    "enable_materialized_cte": 1,
    # Whichever replica is asked has all that any of them has acknowledged.
    "select_sequential_consistency": 1,
}
"""With which ClickHouse means the same as DuckDB: what a join does not find is NULL, and so on."""

MAPS = frozenset({"tags"})
"""Columns in whose brackets is a key, and not a place."""

_RENAMED = {
    "list_position": "indexOf",
    "list_extract": "arrayElementOrNull",
    "map_values": "mapValues",
}

Kinds = frozenset[tuple[str, str, int]]
"""Each parameter of a statement, its type in ClickHouse, and into how many parts it is cut."""

PART = 1_000
"""So much of a list is one parameter: ClickHouse takes 128 KiB in a field of a request."""

Source = Callable[[str], str | None]
"""Name of a table -> ClickHouse's SELECT that stands for it, None where it stands for itself."""


def kinds_of(parameters: Mapping[str, Any]) -> Kinds:
    """The type of each parameter; NULL and an empty list have none and are written out."""
    return frozenset((name, _kind(value), len(_parts(value))) for name, value in parameters.items())


def in_parts(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that a translated statement has: of long lists each part by itself."""
    found: dict[str, Any] = {}
    for name, value in parameters.items():
        parts = _parts(value)
        found |= {f"{name}_part{place}": part for place, part in enumerate(parts)} or {name: value}
    return found


def _parts(value: Any) -> list[Any]:
    """Of a long list; of anything else none."""
    if not isinstance(value, list | tuple) or len(value) <= PART:
        return []
    return [value[begin : begin + PART] for begin in range(0, len(value), PART)]


def _kind(value: Any) -> str:
    if isinstance(value, list | tuple):
        kinds = {_kind(one) for one in value if one is not None}
        if not value:
            return "[]"
        of_one = max(kinds, key=_WIDTH.index, default="Int64")
        return f"Array(Nullable({of_one}))" if None in value else f"Array({of_one})"
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "Bool"
    if isinstance(value, int):
        return "UInt64" if value >= 2**63 else "Int64"
    return "Float64" if isinstance(value, float) else "String"


_WIDTH = ("Bool", "Int64", "UInt64", "Float64", "String")
"""The type of a list is the last of these that something in it has."""


def _placed(name: str, kind: str, parts: int) -> exp.Expr:
    if kind == "NULL":
        return exp.Null()
    if kind == "[]":
        return exp.Array()
    if not parts:
        return exp.Placeholder(this=name, kind=kind)
    named = (exp.Placeholder(this=f"{name}_part{place}", kind=kind) for place in range(parts))
    return exp.func("arrayConcat", *named)


def translated(statement: str, kinds: Kinds, source: Source) -> str:
    """The statement for ClickHouse. It takes milliseconds."""
    tree = parse_one(statement, read="duckdb")
    types = {name: (kind, parts) for name, kind, parts in kinds}
    for node in list(tree.find_all(exp.Placeholder)):
        node.replace(_placed(node.name, *types[node.name]))
    for select in list(tree.find_all(exp.Select)):
        _unnest_in_step(select)
    for cte in tree.find_all(exp.CTE):
        cte.set("materialized", True)  # or it is worked out anew wherever it is named
    for table in list(tree.find_all(exp.Table)):
        rows = source(table.name)
        if rows is not None:
            inner = exp.Subquery(this=parse_one(rows, read="clickhouse"))
            inner.set("joins", table.args.get("joins"))
            inner.set("alias", exp.TableAlias(this=exp.to_identifier(table.alias_or_name)))
            table.replace(inner)
    return tree.sql(dialect=_Translated)


def _unnest_in_step(select: exp.Select) -> None:
    """Lists unnested beside each other: DuckDB goes through them in step, `arrayJoin` crosses."""
    lists = [one for one in select.expressions if isinstance(one.unalias(), exp.Explode)]
    if len(lists) < 2:
        return
    zipped = exp.func("arrayZip", *(one.unalias().this.copy() for one in lists))
    for place, one in enumerate(lists, start=1):
        element = exp.func("tupleElement", exp.Explode(this=zipped.copy()), exp.convert(place))
        one.replace(exp.alias_(element, one.alias))


class _Generator(ClickHouseGenerator):
    """How each thing is written that is not the same in both."""

    TRANSFORMS: ClassVar = {
        **ClickHouseGenerator.TRANSFORMS,
        exp.ArraySort: lambda self, one: self.func("arraySort", one.this),
        exp.BitwiseAnd: lambda self, one: self.func("bitAnd", one.this, one.expression),
        exp.GenerateSeries: lambda self, one: self.func(
            "range", one.args["start"], one.args["end"]
        ),
        exp.IntDiv: lambda self, one: self.func("intDiv", one.this, one.expression),
        exp.Length: lambda self, one: self.func("length", one.this),
        exp.LogicalAnd: lambda self, one: self.func("min", one.this),
        exp.MapKeys: lambda self, one: self.func("mapKeys", one.this),
    }

    def anonymous_sql(self, expression: exp.Anonymous) -> str:
        """Functions that sqlglot does not know."""
        name = _RENAMED.get(expression.name, expression.name)
        return self.func(name, *expression.expressions, normalize=False)

    def arrayagg_sql(self, expression: exp.ArrayAgg) -> str:
        """A list keeps its NULLs, `groupArray` drops them."""
        if isinstance(expression.this, exp.Distinct):
            return self.func("groupUniqArray", *expression.this.expressions)
        if isinstance(expression.parent, exp.Filter):
            return self.func("groupArray", expression.this)
        return f"arrayMap(one -> one.1, groupArray(tuple({self.sql(expression, 'this')})))"

    def bracket_sql(self, expression: exp.Bracket) -> str:
        """There is NULL beyond a list."""
        if expression.this.name in MAPS:
            return super().bracket_sql(expression)
        (place,) = self.bracket_offset_expressions(expression)
        return self.func("arrayElementOrNull", expression.this, place)

    def count_sql(self, expression: exp.Count) -> str:
        """A number with a sign, as differences of counts have one."""
        counted = self.function_fallback_sql(expression)
        filtered = isinstance(expression.parent, exp.Filter)
        return counted if filtered else self.func("toInt64", counted)

    def filter_sql(self, expression: exp.Filter) -> str:
        """The largest of nothing is NULL."""
        if isinstance(expression.this, exp.Max | exp.Min):
            name = f"{expression.this.sql_name().lower()}OrNullIf"
            condition = expression.expression.this
            return self.func(name, expression.this.this, condition, normalize=False)
        filtered = super().filter_sql(expression)
        counts = isinstance(expression.this, exp.Count)
        return self.func("toInt64", filtered) if counts else filtered

    def join_sql(self, expression: exp.Join, join_op: str | None = None) -> str:
        """Rows of the left side that the right side has, or has not."""
        if expression.kind in ("SEMI", "ANTI") and not expression.side:
            expression = expression.copy()
            expression.set("side", "LEFT")
        return super().join_sql(expression, join_op)

    def splitpart_sql(self, expression: exp.SplitPart) -> str:
        """A part of a text."""
        parts = self.func("splitByString", expression.args["delimiter"], expression.this)
        return f"arrayElement({parts}, {self.sql(expression, 'part_index')})"


class _Translated(ClickHouse):
    """ClickHouse, from what was written for DuckDB."""

    Generator = _Generator
