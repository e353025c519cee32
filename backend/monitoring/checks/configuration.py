"""Settings: those that nobody knows, and those that do not fit how requests arrive."""

import re

from django.conf import settings
from django.core.mail import get_connection
from redis.exceptions import RedisError

from access.sign_in.provider import ProviderUnavailable, discover
from monitoring.checks.finding import Finding, ok, warning, wrong
from telemetry.signs_of_life import forwarded_lately, last_seen

LATELY = 3600.0
"""Seconds within which requests tell how they arrive."""

_HOST = re.compile(r"\.?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*|\[[0-9A-Fa-f:.]+\]")
_LOCAL = ("localhost", "127.0.0.1", "[::1]")


def unknown_settings() -> Finding:
    """As every process says at its start."""
    if settings.UNKNOWN_SETTINGS:
        return warning(" ".join(settings.UNKNOWN_SETTINGS), "Correct the name, or remove it.")
    return ok("all CIPHERMARK_ variables are known")


def allowed_hosts() -> Finding:
    """Names alone, and one that is not only this machine's."""
    hosts = settings.ALLOWED_HOSTS
    for host in hosts:
        if not _HOST.fullmatch(host):
            return wrong(
                f"{host!r} is no host name",
                "CIPHERMARK_ALLOWED_HOSTS has names alone, without https://, port or path.",
            )
    if settings.PRODUCTION and set(hosts) <= set(_LOCAL):
        return warning(
            f"only {', '.join(hosts)}",
            "Add the name that people type to CIPHERMARK_ALLOWED_HOSTS; others get 400.",
        )
    return ok(", ".join(hosts))


def proxies() -> Finding:
    """What the last hour's requests had in their headers, against what the settings say."""
    number = settings.CIPHERMARK_PROXIES
    try:
        ways = forwarded_lately(last_seen(), LATELY)
    except RedisError:
        return warning("unknown while Redis is away", "Start Redis first.")
    if not ways:
        return ok(f"CIPHERMARK_PROXIES={number}; no request within an hour to judge by")
    least, most = min(one.addresses for one in ways), max(one.addresses for one in ways)
    if settings.SECURE_SSL_REDIRECT and "https" not in {one.protocol for one in ways}:
        return wrong(
            "no request has X-Forwarded-Proto: https, so every page leads to itself for ever",
            "Have the proxy that ends TLS set X-Forwarded-Proto; without one, for a trial,"
            " CIPHERMARK_SSL_REDIRECT=0.",
        )
    if most < number:
        return wrong(
            f"requests have {most} addresses in X-Forwarded-For, CIPHERMARK_PROXIES is {number}:"
            " clients can choose their address",
            f"Have each proxy add the address it saw, or set CIPHERMARK_PROXIES={most}.",
        )
    if least > number:
        return warning(
            f"every request has {least} addresses in X-Forwarded-For, CIPHERMARK_PROXIES is"
            f" {number}: a proxy counts as the client, and all clients share its limit",
            f"Set CIPHERMARK_PROXIES={least} if so many proxies are yours.",
        )
    if least < number:
        return warning(
            f"some requests have {least} addresses in X-Forwarded-For, CIPHERMARK_PROXIES is"
            f" {number}",
            "Let nobody reach the web server past the proxy: CIPHERMARK_LISTEN=127.0.0.1:8000.",
        )
    if settings.PRODUCTION and not settings.SECURE_SSL_REDIRECT:
        return warning(
            "plain HTTP is answered, and nobody can sign in by it",
            "Set CIPHERMARK_SSL_REDIRECT=1 once a proxy ends TLS.",
        )
    return ok(f"CIPHERMARK_PROXIES={number} fits the requests of the last hour")


def email() -> Finding:
    """Connects, encrypts and signs in as a message would; sends none."""
    if not settings.EMAIL_HOST:
        return ok("CIPHERMARK_EMAIL_URL is not set: no mail is sent")
    server = f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}"
    try:
        mail = get_connection(timeout=5)
        mail.open()
        mail.close()
    except OSError as error:  # those of smtplib and TLS are
        return wrong(
            f"{server} does not take our mail: {error}",
            "Compare CIPHERMARK_EMAIL_URL with its host, port, encryption, name and password.",
        )
    return ok(f"{server} takes our mail")


def sign_in() -> Finding:
    """The provider's discovery document can be read, and is of the issuer that is set."""
    ways = ["by password"]
    if settings.CIPHERMARK_PROXY_USER_HEADER:
        ways.append(f"by the proxy ({settings.CIPHERMARK_PROXY_USER_HEADER})")
    if settings.CIPHERMARK_OIDC_ISSUER:
        try:
            ways.append(f"through {discover()['issuer']}")
        except ProviderUnavailable as error:
            return wrong(
                f"nobody can sign in through the provider: {error}",
                "Compare CIPHERMARK_OIDC_ISSUER with the issuer in the provider's discovery"
                " document, and let this machine reach it; a certificate of your own authority"
                " needs REQUESTS_CA_BUNDLE. Local accounts can sign in by password.",
            )
    return ok(", ".join(ways))
