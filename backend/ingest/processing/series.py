"""Series as rows, found or made."""

import json
from collections.abc import Iterable

from documents.types import Negotiated, Series
from ingest.processing.id_cache import Remembered
from store.models import Negotiated as StoredNegotiated
from store.models import Series as StoredSeries

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
    texts = ("mac", "method", "target_kind", "target_name")
    given = {name: one or "" if name in texts else one for name, one in series._asdict().items()}
    return StoredSeries(key=key, **given)


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
