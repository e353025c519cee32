import csv
import json
import re
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from datetime import datetime
from io import StringIO
from itertools import chain, islice
from typing import Any, TypeVar

from django.db.models import FilteredRelation, Q, QuerySet
from django.db.models.functions import Coalesce
from django.http import StreamingHttpResponse
from django.utils import timezone
from django.utils.text import slugify

from cipherspeed.baselines import only
from cipherspeed.groups import FEW_VOTES, Comparison
from cipherspeed.reference_profile import PROFILE
from compare.question import ComparisonForm, ComparisonQuery
from runs.filters import RunFilter
from runs.models import DimensionValue, Measurement, Negotiated, Run, Series
from runs.models.dimension import DIMENSIONS, OF_LIBRARIES

RUNS_AT_ONCE = 1000
LINES_AT_ONCE = 200

Part = TypeVar("Part")
Key = tuple[int, int]  # run, series

SERIES_FILTERS = (
    *("tool", "block_size", "operation", "threads", "compression", "method", "target_kind"),
    "acceleration",
)


def chosen_measurements(form: ComparisonForm) -> tuple[QuerySet[Run], QuerySet[Measurement]]:
    """Return the matching visible runs, and the matching measurements of all runs.

    Absent parameters restrict nothing. For example, without `tool`, both tools match.
    """
    counted = Run.objects.counted().order_by("-pk")
    query, given = form.query, form.given
    results = Measurement.objects.filter(
        **{f"series__{name}": given[name] for name in SERIES_FILTERS if name in given}
    )
    if query.ciphers:
        results = results.filter(series__cipher__in=query.ciphers)
    if query.mac is not None:
        results = results.filter(Q(series__mac=query.mac) | Q(negotiated__mac=query.mac))
    for name, of_ssh in OF_LIBRARIES.items():
        if keys := query.filters.get(name):
            own = Q(**{f"run__environment__{name}__key__in": keys})
            linked = Q(**{f"run__environment__{of_ssh}__key__in": keys})
            unlinked = Q(**{f"run__environment__{of_ssh}": None}) & own
            results = results.filter(
                Q(series__tool="openssl") & own | Q(series__tool="ssh") & (linked | unlinked)
            )
    return RunFilter(form.data, counted).qs, results


OF_RUN = ("run_id", "host", "host_key", *DIMENSIONS, "started_at", "source")
OF_SERIES = (
    *("tool", "cipher", "block_size_bytes", "operation", "threads", "mac", "compression"),
    *("method", "pinned", "target_kind", "target", "acceleration"),
)
OF_RESULT = (
    *("n", "throughput_bytes_per_second", "minimum_bytes_per_second", "maximum_bytes_per_second"),
    *("spread", "noisy", "implausible", "cpu_seconds_per_gb"),
)
FIELDS = {
    "block_size_bytes": "block_size",
    "target": "target_name",
    "throughput_bytes_per_second": "median",
    "minimum_bytes_per_second": "minimum",
    "maximum_bytes_per_second": "maximum",
}

OF_INDEX = ("machine_speed_index", "single_baseline")
ORIGIN = ("reference_profile", "machine_acceleration", "tags", "agent", "agent_version", "run_url")

# Documented in docs/exports.md.
MEASUREMENT_COLUMNS = (
    *OF_RUN,
    *OF_SERIES,
    *("negotiated_mac", "negotiated_kex"),
    *OF_RESULT,
    "normalised_bytes_per_second",
    *OF_INDEX,
    *ORIGIN,
)

LABELLED = (*DIMENSIONS, *OF_LIBRARIES.values())

FACTS: dict[str, str | Coalesce] = {
    "host_id": "host_id",
    "run_id": "run_id",
    "host": "host__name",
    "host_key": "host__slug",
    **{name: f"environment__{name}" for name in DIMENSIONS},
    **{
        of_ssh: Coalesce(f"environment__{of_ssh}", f"environment__{name}")
        for name, of_ssh in OF_LIBRARIES.items()
    },
    "started_at": "started_at",
    "source": "source",
    "machine_acceleration": "acceleration",
    "tags": "tags",
    "agent": "agent_name",
    "agent_version": "agent_version",
    "ssh_index": "of_ssh__index",
    "ssh_families": "of_ssh__families",
    "openssl_index": "of_openssl__index",
    "openssl_families": "of_openssl__families",
}
"""Django lookup for each fact about a run. Facts in `LABELLED` are primary keys of
`DimensionValue`."""


def run_facts(runs: Collection[int]) -> dict[int, dict[str, Any]]:
    of_tools = {
        f"of_{tool}": FilteredRelation("speed_indices", condition=Q(speed_indices__tool=tool))
        for tool in ("ssh", "openssl")
    }
    labels = dict(DimensionValue.objects.values_list("pk", "label"))
    rows = Run.objects.filter(pk__in=runs).annotate(**of_tools)
    facts_of_runs = {}
    for pk, *values in rows.values_list("pk", *FACTS.values()):
        facts = dict(zip(FACTS, values, strict=True))
        facts_of_runs[pk] = facts | {name: labels[facts[name]] for name in LABELLED}
    return facts_of_runs


def _columns_of_run(facts: dict[str, Any], tool: str, site: str) -> dict[str, Any]:
    families = facts[f"{tool}_families"] or ()
    libraries = OF_LIBRARIES if tool == "ssh" else {}
    return {
        **facts,
        **{name: facts[of_ssh] for name, of_ssh in libraries.items()},
        "machine_speed_index": facts[f"{tool}_index"],
        "single_baseline": only(families) if len(families) == 1 else "",
        "reference_profile": PROFILE.name,
        "tags": json.dumps(facts["tags"], ensure_ascii=False) if facts["tags"] else "",
        "run_url": f"{site}runs/{facts['run_id']}/",
    }


def measurement_rows(
    runs: Sequence[int],
    results: QuerySet[Measurement],
    site: str,
    part: Callable[[Iterable[Any]], Part],
    keys: Collection[Key] | None = None,
) -> Iterator[tuple[Part, ...]]:
    """Yield a tuple of parts for each measurement. All parts together have `MEASUREMENT_COLUMNS`.

    `part` formats a list of values, for example as CSV text. A part that many rows share is
    formatted only once. `keys`: (run, series) of the measurements to include (default: all).
    """
    of_series, of_result = (
        [FIELDS.get(name, name) for name in names] for names in (OF_SERIES, OF_RESULT)
    )
    fields = ("run_id", "series_id", "negotiated_id", *of_result)
    with Run.objects.snapshot():
        series = {
            pk: (values[0], part(values))
            for pk, *values in Series.objects.values_list("pk", *of_series)
        }
        negotiated: dict[int | None, Part] = {
            pk: part(values) for pk, *values in Negotiated.objects.values_list("pk", "mac", "kex")
        }
        negotiated[None] = part(("", ""))
        for first in range(0, len(runs), RUNS_AT_ONCE):
            some = runs[first : first + RUNS_AT_ONCE]
            facts, of_tools = run_facts(some), dict[tuple[int, str], tuple[Any, Part, Part]]()
            rows = results.filter(run__in=some).order_by("-run_id", "series_id")
            for run, of, agreed, *values in rows.values_list(*fields).iterator(chunk_size=2000):
                if keys is not None and (run, of) not in keys:
                    continue
                tool, configuration = series[of]
                if (run, tool) not in of_tools:
                    own = _columns_of_run(facts[run], tool, site)
                    of_tools[run, tool] = (
                        own["machine_speed_index"],
                        part([own[name] for name in OF_RUN]),
                        part([own[name] for name in (*OF_INDEX, *ORIGIN)]),
                    )
                index, before, after = of_tools[run, tool]
                normalised = values[1] / index if values[1] is not None and index else None
                figures = part((*values, normalised))
                yield before, configuration, negotiated[agreed], figures, after


def host_rows(runs: Iterable[int]) -> list[dict[str, Any]]:
    """Return a row per host, sorted by name. Each row describes the host's latest run in `runs`."""
    latest: dict[int, dict[str, Any]] = {}
    counted = dict[int, int]()
    for _, facts in sorted(run_facts(list(runs)).items()):
        host, started = facts["host_id"], facts["started_at"]
        counted[host] = counted.get(host, 0) + 1
        before = latest.get(host, {}).get("started_at")
        if before is None or (started is not None and started >= before):
            latest[host] = facts
    return sorted(
        (
            {**facts, "runs": counted[host], "last_started_at": facts["started_at"]}
            for host, facts in latest.items()
        ),
        key=lambda facts: (facts["host"], facts["host_key"]),
    )


UNIT_NAMES = {"B/s": "bytes_per_second", "s/GB": "", "ratio": "ratio"}
"""Suffixes of column names, by unit. The name `cpu_seconds_per_gb` already contains the unit."""

RATIOS = {
    "ratio": ("ratio", "Ratio"),
    "ratio_low": ("low", "Ratio, low"),
    "ratio_high": ("high", "Ratio, high"),
    "ratio_n": ("n", "Hosts of the ratio"),
    "beyond_noise": ("beyond_noise", "Beyond noise"),
    "tool_changed": ("tool_changed", "Tool changed"),
}


def value_name(metric: str, unit: str) -> str:
    ending = UNIT_NAMES[unit]
    return metric if not ending or metric.endswith(ending) else f"{metric}_{ending}"


def question(query: ComparisonQuery, comparison: Comparison) -> dict[str, Any]:
    is_ssh, reference = query.tool == "ssh", comparison.relative_to
    return {
        "tool": query.tool,
        "group_by": query.group_by,
        **({"split_by": query.split_by} if query.split_by else {}),
        **({"relative_to": reference.label or reference.key} if reference else {}),
        **({"matched": True} if query.matched else {}),
        "reference_profile": comparison.profile,
        "method": query.method if is_ssh else None,
        "block_size_bytes": None if is_ssh else query.block_size,
        "mac": query.mac if is_ssh else None,
        "operation": None if is_ssh else query.operation,
        "threads": None if is_ssh else query.threads,
        "acceleration": query.acceleration,
        "compression": query.compression if is_ssh else None,
        "target_kind": query.target_kind if is_ssh else None,
    }


def comparison_rows(query: ComparisonQuery, comparison: Comparison) -> Iterator[dict[str, Any]]:
    value = value_name(comparison.metric, comparison.unit)
    parameters = question(query, comparison)
    for group in comparison.groups:
        for cipher, figure in group.values.items():
            ratio, families = group.ratios.get(cipher), group.families.get(cipher)
            yield {
                "group": group.label,
                **({"split": group.split_label} if query.split_by else {}),
                "cipher": cipher,
                value: figure.median,
                f"{value}_q1": figure.q1,
                f"{value}_q3": figure.q3,
                f"{value}_min": figure.minimum,
                f"{value}_max": figure.maximum,
                "n": figure.n,
                **(
                    {name: getattr(ratio, field, None) for name, (field, _) in RATIOS.items()}
                    if comparison.relative_to
                    else {}
                ),
                "doubtful": group.doubtful.get(cipher, 0) if figure.n <= FEW_VOTES else None,
                "uncertainty_factor": group.uncertainty.get(cipher),
                "single_baseline": only(families) if families else "",
                "hosts": group.hosts,
                "group_key": group.key,
                **({"split_key": group.split_key} if query.split_by else {}),
                **parameters,
            }


FORMULA = re.compile(r'(?:^|(?<=[,;\t\r\n]))(?="*[=+\-@])|^(?=[\t\r\n])')
"""Positions at which a spreadsheet could begin a formula. Positions after all usual separators
match, because the reader's locale determines the separator."""


def csv_cell(value: Any) -> Any:
    if isinstance(value, str):
        return FORMULA.sub("'", value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return value


def excel_cell(value: Any) -> Any:
    return str(value).replace(".", ",") if isinstance(value, float) else csv_cell(value)


class CsvLines:
    """Format CSV lines as specified in RFC 4180.

    With `excel`, use semicolons, decimal commas and a byte order mark (`mark`).
    """

    def __init__(self, *, excel: bool = False) -> None:
        self.mark, self.delimiter = ("\ufeff", ";") if excel else ("", ",")
        self._cell = excel_cell if excel else csv_cell
        self._written = StringIO(newline="")
        self._writer = csv.writer(self._written, delimiter=self.delimiter)

    def line(self, values: Iterable[Any]) -> str:
        self._writer.writerow(map(self._cell, values))
        line = self._written.getvalue()
        self._written.seek(0)
        self._written.truncate()
        return line

    def part(self, values: Iterable[Any]) -> str:
        return self.line(values).removesuffix("\r\n")


def comparison_csv(
    query: ComparisonQuery, comparison: Comparison, *, excel: bool = False
) -> Generator[str]:
    written, rows = CsvLines(excel=excel), comparison_rows(query, comparison)
    names = ("group", "cipher", value_name(comparison.metric, comparison.unit))
    first = next(rows, None)
    yield written.mark + written.line(first or names)
    for row in chain([first] if first else (), rows):
        yield written.line(row.values())


def measurements_csv(
    runs: Sequence[int], results: QuerySet[Measurement], site: str, *, excel: bool = False
) -> Generator[str]:
    written = CsvLines(excel=excel)
    yield written.mark + written.line(MEASUREMENT_COLUMNS)
    for parts in measurement_rows(runs, results, site, written.part):
        yield written.delimiter.join(parts) + "\r\n"


def file_name(*words: str | None) -> str:
    """Return a file name without extension, such as "ciphermark-measurements-2026-11-28"."""
    named = slugify(re.sub("[_:]", " ", " ".join(filter(None, words))))[:80]
    return f"ciphermark-{named}-{timezone.now():%Y-%m-%d}"


def comparison_name(query: ComparisonQuery) -> str:
    return file_name("comparison", query.tool, query.metric, "by", query.group_by, query.split_by)


def csv_response(lines: Generator[str], name: str) -> StreamingHttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    return StreamingHttpResponse(
        _pieces(lines), content_type="text/csv; charset=utf-8", headers=headers
    )


def _pieces(lines: Generator[str]) -> Iterator[str]:
    with closing(lines):  # also closes the database cursor if the client disconnects
        while piece := "".join(islice(lines, LINES_AT_ONCE)):
            yield piece
