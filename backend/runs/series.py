"""Series as rows: found or made, and turned back into what a document's series is."""

import hashlib
import json
from collections.abc import Iterable
from typing import cast
from uuid import UUID

from documents.types import Acceleration, Method, Negotiated, Operation, Series, TargetKind, Tool
from runs.models import Negotiated as StoredNegotiated
from runs.models import Series as StoredSeries
from runs.remembered import Remembered

_series: Remembered[Series] = Remembered()
_agreed: Remembered[tuple[str, str]] = Remembered()


def series_key(series: Series) -> str:
    """All fields of a series as one text, the same for equal series only."""
    return json.dumps(series, separators=(",", ":"), ensure_ascii=False)


def series_ids(wanted: Iterable[Series]) -> dict[Series, int]:
    """The numbers of these series; those never seen before are stored."""
    asked = set(wanted)
    numbers = _series.known(asked)
    if len(numbers) < len(asked):
        found = _find({series_key(series): series for series in asked - numbers.keys()})
        _series.remember(found)
        numbers |= found
    return numbers


def series_set(numbers: Iterable[int]) -> UUID:
    """One value for one set of series; the migration that brought it made it by SQL, alike."""
    listed = ",".join(map(str, sorted(numbers)))
    return UUID(hashlib.md5(listed.encode(), usedforsecurity=False).hexdigest())


def _find(keys: dict[str, Series]) -> dict[Series, int]:
    known = _known(keys)
    if len(known) < len(keys):
        # In one order, so that two workers that meet the same new series cannot wait in a circle.
        missing = sorted(keys.keys() - known.keys())
        StoredSeries.objects.bulk_create(
            [_row(key, keys[key]) for key in missing], ignore_conflicts=True
        )
        known = _known(keys)
    return {series: known[key] for key, series in keys.items()}


def _known(keys: Iterable[str]) -> dict[str, int]:
    return dict(StoredSeries.objects.filter(key__in=list(keys)).values_list("key", "pk"))


def _row(key: str, series: Series) -> StoredSeries:
    return StoredSeries(
        key=key,
        tool=series.tool,
        cipher=series.cipher,
        operation=series.operation,
        block_size=series.block_size,
        threads=series.threads,
        mac=series.mac or "",
        compression=series.compression,
        method=series.method or "",
        pinned=series.pinned,
        target_kind=series.target_kind or "",
        target_name=series.target_name or "",
        acceleration=series.acceleration,
    )


def series_of(row: StoredSeries) -> Series:
    """The series that a row stands for."""
    return Series(
        tool=cast(Tool, row.tool),
        cipher=row.cipher,
        operation=cast(Operation, row.operation),
        block_size=row.block_size,
        threads=row.threads,
        mac=row.mac or None,
        compression=row.compression,
        method=cast(Method, row.method) if row.method else None,
        pinned=row.pinned,
        target_kind=cast(TargetKind, row.target_kind) if row.target_kind else None,
        target_name=row.target_name or None,
        acceleration=cast(Acceleration, row.acceleration),
    )


def agreed_on(negotiated: Negotiated) -> tuple[str, str]:
    """MAC and key exchange, empty where unknown: what `negotiated_ids` has numbers of."""
    return (negotiated.mac or "", negotiated.kex or "")


def negotiated_ids(wanted: Iterable[Negotiated]) -> dict[tuple[str, str], int]:
    """(MAC, key exchange) -> its number; what was never seen before is stored."""
    pairs = {agreed_on(one) for one in wanted} - {("", "")}
    numbers = _agreed.known(pairs)
    if len(numbers) < len(pairs):
        found = _find_negotiated(pairs - numbers.keys())
        _agreed.remember(found)
        numbers |= found
    return numbers


def _find_negotiated(pairs: set[tuple[str, str]]) -> dict[tuple[str, str], int]:
    known = _known_negotiated(pairs)
    if len(known) < len(pairs):
        rows = [StoredNegotiated(mac=mac, kex=kex) for mac, kex in sorted(pairs - known.keys())]
        StoredNegotiated.objects.bulk_create(rows, ignore_conflicts=True)
        known = _known_negotiated(pairs)
    return known


def _known_negotiated(pairs: set[tuple[str, str]]) -> dict[tuple[str, str], int]:
    rows = StoredNegotiated.objects.filter(mac__in={mac for mac, _ in pairs})
    return {
        (mac, kex): pk
        for mac, kex, pk in rows.values_list("mac", "kex", "pk")
        if (mac, kex) in pairs
    }
