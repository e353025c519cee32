"""CIPHERMARK_ANALYTICS_URL: where questions over many rows are answered."""

import re
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

NAME = "CIPHERMARK_ANALYTICS_URL"

_HOST = re.compile(r"[A-Za-z0-9.-]+|[0-9A-Fa-f:.]+")
_DATABASE = re.compile(r"/[A-Za-z_][A-Za-z0-9_]*")
_FORM = (
    f"{NAME} must be duckdb: or"
    " clickhouse://USER:PASSWORD@HOST:8123/DATABASE (clickhouses:// with TLS, port 8443)."
)


def clickhouse_url(url: str) -> str:
    """The URL of ClickHouse; empty where each web process has a copy of its own.

    Raises `ImproperlyConfigured`.
    """
    if url in ("", "duckdb:"):
        return ""
    parts = urlsplit(url)
    if (
        parts.scheme not in ("clickhouse", "clickhouses")
        or not _HOST.fullmatch(parts.hostname or "")
        or not _DATABASE.fullmatch(parts.path)
        or parts.query
        or parts.fragment
    ):
        raise ImproperlyConfigured(_FORM)
    return url
