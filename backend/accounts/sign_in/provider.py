import time
from typing import Any
from urllib.parse import urlsplit

import requests
from django.conf import settings
from mozilla_django_oidc.utils import import_from_settings

KEPT_SECONDS = 3600.0  # maximum age of the cached discovery document

# Member of the discovery document by setting of mozilla-django-oidc.
ENDPOINTS = {
    "OIDC_OP_AUTHORIZATION_ENDPOINT": "authorization_endpoint",
    "OIDC_OP_TOKEN_ENDPOINT": "token_endpoint",
    "OIDC_OP_JWKS_ENDPOINT": "jwks_uri",
    "OIDC_OP_USER_ENDPOINT": "userinfo_endpoint",  # optional
}

_kept: dict[str, tuple[float, dict[str, Any]]] = {}


class ProviderUnavailable(Exception):
    pass


def provider_name() -> str:
    return urlsplit(settings.CIPHERMARK_OIDC_ISSUER).hostname or ""


def library_setting(name: str, *default: Any) -> Any:
    """Return a setting of mozilla-django-oidc.

    Endpoint URLs and the client authentication method come from the provider's discovery document.
    All other settings come from Django's settings.
    """
    if name in ENDPOINTS:
        return discovered().get(ENDPOINTS[name])
    if name == "OIDC_TOKEN_USE_BASIC_AUTH":
        # The specification's default.
        methods = discovered().get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        return "client_secret_post" not in methods
    return import_from_settings(name, *default)


def discovered() -> dict[str, Any]:
    """Return the discovery document of the provider, from a cache or over HTTP.

    Raise `ProviderUnavailable` if the document is invalid or cannot be fetched.
    """
    issuer = settings.CIPHERMARK_OIDC_ISSUER
    fetched_at, document = _kept.get(issuer, (0.0, {}))
    if not document or time.monotonic() - fetched_at > KEPT_SECONDS:
        document = discover()
        _kept[issuer] = (time.monotonic(), document)
    return document


def discover() -> dict[str, Any]:
    issuer = settings.CIPHERMARK_OIDC_ISSUER.rstrip("/")
    url = f"{issuer}/.well-known/openid-configuration"
    try:
        answer = requests.get(url, timeout=settings.OIDC_TIMEOUT)
        answer.raise_for_status()
        document = answer.json()
    except requests.RequestException as error:
        raise ProviderUnavailable(f"{url}: {in_words(error)}") from None
    if not isinstance(document, dict) or str(document.get("issuer", "")).rstrip("/") != issuer:
        raise ProviderUnavailable(f"{url}: not the discovery document of this issuer")
    for setting, endpoint in ENDPOINTS.items():
        if setting != "OIDC_OP_USER_ENDPOINT" and not document.get(endpoint):
            raise ProviderUnavailable(f"{url}: {endpoint} is missing")
    return document


def in_words(error: requests.RequestException) -> str:
    """Describe a failed HTTP request for logs. `str(error)` would contain memory addresses."""
    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"HTTP status {error.response.status_code}"
    if isinstance(error, requests.Timeout):
        return f"no response within {settings.OIDC_TIMEOUT} s"
    if isinstance(error, requests.exceptions.SSLError):
        return "invalid certificate"
    if isinstance(error, requests.ConnectionError):
        return "not reachable"
    return "response is not JSON"
