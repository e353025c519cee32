"""The network address that a request comes from, behind proxies too."""

from ipaddress import IPv6Address, IPv6Network, ip_address

from django.conf import settings
from django.http import HttpRequest

NOT_KNOWN = "127.0.0.1"
"""The address of a client without one: it came through a local socket."""


def client_address(request: HttpRequest) -> str:
    """The client's address, as the outermost of our own reverse proxies saw it.

    Each of the `CIPHERMARK_PROXIES` proxies in front adds the address that it saw at the end of
    X-Forwarded-For. Whatever stands before theirs was written by the client and counts nothing.
    """
    proxies: int = settings.CIPHERMARK_PROXIES
    seen = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")[-proxies:] if proxies else []
    for candidate in (*seen[:1], request.META.get("REMOTE_ADDR", "")):
        try:
            return str(ip_address(candidate.strip()))
        except ValueError:
            continue
    return NOT_KNOWN


def client_network(request: HttpRequest) -> str:
    """Return the client's address; for IPv6 its /64, which one customer of a provider has."""
    parsed = ip_address(client_address(request))
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    mapped = parsed.ipv4_mapped
    return str(mapped or IPv6Network((int(parsed), 64), strict=False).network_address)
