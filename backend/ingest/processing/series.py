"""Series as rows, found or made."""

import json
from collections.abc import Iterable, Set

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
    return _series.numbers(set(wanted), _find_series, _make_series)


def _find_series(wanted: Set[Series]) -> dict[Series, int]:
    keys = {series_key(one): one for one in wanted}
    stored = StoredSeries.objects.filter(key__in=list(keys)).values_list("key", "pk")
    return {keys[key]: pk for key, pk in stored}


def _make_series(missing: Set[Series]) -> None:
    # In one order, so that two workers that meet the same new series cannot wait in a circle.
    rows = sorted(map(_row, missing), key=lambda row: row.key)
    StoredSeries.objects.bulk_create(rows, ignore_conflicts=True)


def _row(series: Series) -> StoredSeries:
    texts = ("mac", "method", "target_kind", "target_name")
    given = {name: one or "" if name in texts else one for name, one in series._asdict().items()}
    return StoredSeries(key=series_key(series), **given)


def agreed_on(negotiated: Negotiated) -> tuple[str, str]:
    """MAC and key exchange, empty where unknown: what `negotiated_ids` has numbers of."""
    return (negotiated.mac or "", negotiated.kex or "")


def negotiated_ids(wanted: Iterable[Negotiated]) -> dict[tuple[str, str], int]:
    """(MAC, key exchange) -> its number; what was never seen before is stored."""
    pairs = {agreed_on(one) for one in wanted} - {("", "")}
    return _agreed.numbers(pairs, _find_negotiated, _make_negotiated)


def _find_negotiated(pairs: Set[tuple[str, str]]) -> dict[tuple[str, str], int]:
    rows = StoredNegotiated.objects.filter(mac__in={mac for mac, _ in pairs})
    return {
        (mac, kex): pk
        for mac, kex, pk in rows.values_list("mac", "kex", "pk")
        if (mac, kex) in pairs
    }


def _make_negotiated(pairs: Set[tuple[str, str]]) -> None:
    rows = [StoredNegotiated(mac=mac, kex=kex) for mac, kex in sorted(pairs)]
    StoredNegotiated.objects.bulk_create(rows, ignore_conflicts=True)
