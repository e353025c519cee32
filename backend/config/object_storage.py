"""CIPHERMARK_STORAGE_URL: where files lie that all machines of a site share, for `STORAGES`."""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from django.core.exceptions import ImproperlyConfigured

NAME = "CIPHERMARK_STORAGE_URL"
PARAMETERS = ("endpoint", "region", "addressing")
ADDRESSING = ("auto", "path", "virtual")

SHARED = ("exports", "snapshots")
"""Storages, and their folders below that of the URL: other things may lie beside them."""

LINK_SECONDS = 3600
"""How long the link lasts that a download is sent on to; one that has begun goes on."""

CONNECT_SECONDS, ANSWER_SECONDS, ATTEMPTS = 3, 30, 2
"""Of each request to the object storage: nobody waits long for one that is away."""


def storages(url: str, key: str, secret: str, exports: Path) -> dict[str, dict[str, Any]]:
    """The storages that `s3://BUCKET/FOLDER?endpoint=https://...` names; without a URL `exports`.

    Without `key` and `secret` the usual places have them (AWS_... in the environment, the machine's
    role). Raises `ImproperlyConfigured`.
    """
    if not url:
        if key or secret:
            raise ImproperlyConfigured(f"CIPHERMARK_STORAGE_KEY is set, but {NAME} is not.")
        options = {"location": exports, "allow_overwrite": True, "file_permissions_mode": 0o600}
        folder = "django.core.files.storage.FileSystemStorage"
        return {"exports": {"BACKEND": folder, "OPTIONS": options}}
    parts = urlsplit(url)
    if parts.scheme != "s3" or not parts.netloc or "@" in parts.netloc:
        raise ImproperlyConfigured(
            f"{NAME} must be s3://BUCKET or s3://BUCKET/FOLDER, with ?endpoint=https://... for"
            " what is not Amazon's; keys go into CIPHERMARK_STORAGE_KEY and"
            " CIPHERMARK_STORAGE_SECRET."
        )
    if bool(key) != bool(secret):
        raise ImproperlyConfigured(
            "CIPHERMARK_STORAGE_KEY and CIPHERMARK_STORAGE_SECRET belong together:"
            " one of them is missing."
        )
    said = _parameters(parts.query)
    common = {
        "access_key": key or None,
        "secret_key": secret or None,
        "bucket_name": parts.netloc,
        "endpoint_url": said.get("endpoint"),
        "region_name": said.get("region"),
        "querystring_expire": LINK_SECONDS,
        "client_config": _client(said.get("addressing", "auto")),
    }
    top = parts.path.strip("/")
    return {
        name: {
            "BACKEND": "storages.backends.s3.S3Storage",
            "OPTIONS": {**common, "location": f"{top}/{name}".lstrip("/")},
        }
        for name in SHARED
    }


def _parameters(query: str) -> dict[str, str]:
    """The URL's parameters, each at most once and none that nobody reads."""
    said = dict(parse_qsl(query, keep_blank_values=True))
    unknown = sorted(said.keys() - set(PARAMETERS))
    if unknown:
        raise ImproperlyConfigured(
            f"{NAME} has {unknown[0]!r}; it may have {', '.join(PARAMETERS)}."
        )
    endpoint = urlsplit(said.get("endpoint", "https://host"))
    if endpoint.scheme not in ("http", "https") or not endpoint.netloc:
        raise ImproperlyConfigured(f"{NAME}: endpoint must begin with https:// or http://.")
    if said.get("addressing", "auto") not in ADDRESSING:
        raise ImproperlyConfigured(f"{NAME}: addressing must be one of {', '.join(ADDRESSING)}.")
    return said


def _client(addressing: str) -> Any:
    from botocore.config import Config  # a third of a second, which most sites need not wait

    return Config(
        s3={"addressing_style": addressing},
        signature_version="s3v4",
        connect_timeout=CONNECT_SECONDS,
        read_timeout=ANSWER_SECONDS,
        retries={"total_max_attempts": ATTEMPTS, "mode": "standard"},
        # Checksums that not everything that speaks S3 understands.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
