"""Which ciphers anybody has measured at all."""

from store.statements import fetch_rows


def measured_names() -> frozenset[tuple[str, str]]:
    """Tool and cipher of every series; there are a few thousand series at most."""
    return frozenset(fetch_rows("SELECT DISTINCT tool, cipher FROM runs_series", []))
