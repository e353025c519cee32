"""CIPHERMARK_STORAGE_URL: where files lie that all machines of a site share, for `STORAGES`."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, urlsplit

from django.core.exceptions import ImproperlyConfigured

NAME = "CIPHERMARK_STORAGE_URL"
PARAMETERS = ("endpoint", "region", "addressing")
ADDRESSING = ("path", "virtual")
"""A bucket is named in the path of an address, or in its host name."""

SHARED = ("exports", "snapshots", "documents")
"""Storages, and their folders below that of the URL: other things may lie beside them."""

PATIENT = "-patient"
"""End of the name of the same storage for work in the background."""

LINK_SECONDS = 3600
"""How long the link lasts that a download is sent on to; one that has begun goes on."""

READERS_WAIT = {"connect_timeout": 2, "read_timeout": 5, "total_max_attempts": 1}
"""Of a request to the object storage: one that is away must not hold up other pages."""

WORK_WAITS = {"connect_timeout": 60, "read_timeout": 60, "total_max_attempts": 3}
"""Large files on a slow line: the first is also the longest that sending a piece may pause."""

_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_FOLDER = re.compile(r"(?:/(?!\.{1,2}(?:/|$))[A-Za-z0-9._=-]+)*/?")
_LABEL = r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)"
_HOST = re.compile(rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[0-9A-Fa-f:.]+\])(?::\d+)?")
"""Botocore refuses every other when it is asked for something: an underscore too."""
_FORM = (
    f"{NAME} must be s3://BUCKET or s3://BUCKET/FOLDER, with ?endpoint=https://... for what is not"
    " Amazon's; keys go into CIPHERMARK_STORAGE_KEY and CIPHERMARK_STORAGE_SECRET."
)
_NAMES = (
    f"{NAME} has a bucket of 3 to 63 lowercase letters, digits, dots and hyphens, as S3 wants it,"
    " and perhaps a folder of letters, digits and . _ = - after a slash."
)

Storages = dict[str, dict[str, Any]]


def storages(url: str, key: str, secret: str, exports: Path, snapshots: str = "") -> Storages:
    """The storages that `s3://BUCKET/FOLDER?endpoint=https://...` names; without a URL `exports`.

    `snapshots`: such a URL for these alone, wherever the others lie. Without `key` and `secret` the
    usual places have them (AWS_... in the environment, the machine's role). Raises
    `ImproperlyConfigured`.
    """
    if (key or secret) and not (url or snapshots):
        raise ImproperlyConfigured(
            f"CIPHERMARK_STORAGE_KEY or CIPHERMARK_STORAGE_SECRET is set, but {NAME} is not."
        )
    if url:
        found = _in_bucket(url, key, secret, SHARED)
    else:
        options = {"location": exports, "allow_overwrite": True, "file_permissions_mode": 0o600}
        folder = "django.core.files.storage.FileSystemStorage"
        found = {"exports": {"BACKEND": folder, "OPTIONS": options}}
    if snapshots:
        try:
            found |= _in_bucket(snapshots, key, secret, ("snapshots",))
        except ImproperlyConfigured as error:
            words = str(error).replace(NAME, "CIPHERMARK_ANALYTICS_URL, after duckdb+,")
            raise ImproperlyConfigured(words) from None
    return found


def _in_bucket(url: str, key: str, secret: str, names: Iterable[str]) -> Storages:
    parts = _split(url)
    if parts.scheme != "s3" or "@" in parts.netloc or parts.fragment:
        raise ImproperlyConfigured(_FORM)
    if not (_BUCKET.fullmatch(parts.netloc) and _FOLDER.fullmatch(parts.path)):
        raise ImproperlyConfigured(_NAMES)
    if bool(key) != bool(secret):
        raise ImproperlyConfigured(
            "CIPHERMARK_STORAGE_KEY and CIPHERMARK_STORAGE_SECRET belong together:"
            " one of them is missing."
        )
    if re.search(r"\s", key + secret):
        raise ImproperlyConfigured(
            "CIPHERMARK_STORAGE_KEY or CIPHERMARK_STORAGE_SECRET has a blank or a line break in it."
        )
    said = _parameters(parts.query)
    endpoint = said.get("endpoint")
    # Amazon signs for a bucket's own host name, which a dot would put out of its certificate.
    usual = "path" if endpoint or "." in parts.netloc else "virtual"
    common = {
        "access_key": key or None,
        "secret_key": secret or None,
        # Whatever the environment has of these belongs to other keys.
        "security_token": None,
        "session_profile": None,
        "bucket_name": parts.netloc,
        "endpoint_url": endpoint,
        "region_name": said.get("region"),
        "querystring_expire": LINK_SECONDS,
    }
    top, addressing = parts.path.strip("/"), said.get("addressing", usual)
    return {
        f"{name}{end}": {
            "BACKEND": "storages.backends.s3.S3Storage",
            "OPTIONS": {
                **common,
                "location": f"{top}/{name}".lstrip("/"),
                "client_config": _client(addressing, **waits),
            },
        }
        for name in names
        for end, waits in (("", READERS_WAIT), (PATIENT, WORK_WAITS))
    }


def documents_days(days: int | None, url: str) -> int | None:
    """After how many days a document moves to that storage. Raises `ImproperlyConfigured`."""
    if days is not None and not url:
        raise ImproperlyConfigured(
            f"CIPHERMARK_DOCUMENTS_DAYS is set, but {NAME}, where documents move to, is not."
        )
    return days


def _parameters(query: str) -> dict[str, str]:
    """The URL's parameters, each at most once and none that nobody reads."""
    pairs = parse_qsl(query, keep_blank_values=True)
    said = dict(pairs)
    unknown = sorted(said.keys() - set(PARAMETERS))
    if unknown:
        raise ImproperlyConfigured(
            f"{NAME} has {unknown[0]!r}; it may have {', '.join(PARAMETERS)}."
        )
    if len(pairs) != len(said):
        raise ImproperlyConfigured(f"{NAME} has a parameter twice.")
    endpoint = _split(said.get("endpoint", "https://host"))
    if (
        endpoint.scheme not in ("http", "https")
        or not _HOST.fullmatch(endpoint.netloc)
        or endpoint.query
        or endpoint.fragment
    ):
        raise ImproperlyConfigured(
            f"{NAME}: endpoint must be https://HOST or http://HOST, with :PORT if there is one"
            " (a HOST of letters, digits, dots and hyphens)."
        )
    if not re.fullmatch(r"[a-z0-9-]+", said.get("region", "us-east-1")):
        raise ImproperlyConfigured(f"{NAME}: region must be a name such as us-east-1.")
    if said.get("addressing", "path") not in ADDRESSING:
        raise ImproperlyConfigured(f"{NAME}: addressing must be one of {', '.join(ADDRESSING)}.")
    return said


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018  # reading it is what finds the fault
    except ValueError:
        raise ImproperlyConfigured(_FORM) from None
    return parts


def _client(
    addressing: str, connect_timeout: int, read_timeout: int, total_max_attempts: int
) -> Any:
    from botocore.config import Config  # a third of a second, which most sites need not wait

    return Config(
        s3={"addressing_style": addressing},
        signature_version="s3v4",
        connect_timeout=connect_timeout,
        read_timeout=read_timeout,
        retries={"total_max_attempts": total_max_attempts, "mode": "standard"},
        # Checksums that not everything that speaks S3 understands.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
