"""Which addresses a request may go to: none of the server's own network, unless allowed.

An editor names the address of a web hook, the server sends the request: without this it could be
had to ask what only it can reach, such as a database, a router or a cloud's metadata.
"""

import ipaddress
import socket
from collections.abc import Sequence

import psutil
from django.conf import settings

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

GLOBAL_IPV6 = ipaddress.ip_network("2000::/3")
"""All of IPv6 that is routed between networks; NAT64 and other ways into IPv4 lie outside."""


class AddressRefused(Exception):
    """Why no request goes there: one sentence."""


def checked_addresses(host: str, port: int) -> list[tuple[str, int]]:
    """The addresses of a host, looked up once, each of them checked: connect to these alone.

    One that is refused is enough to refuse the host; `OSError` where it cannot be found.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError:
        raise AddressRefused("The host name is not valid.") from None
    addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
    for address in addresses:
        if not is_allowed(address):
            raise AddressRefused(
                "The address is inside the server's own network;"
                " CIPHERMARK_NOTIFY_NETWORKS can allow it."
            )
    return [(address, port) for address in addresses]


def is_allowed(text: str) -> bool:
    """Whether it is public and no address of this machine, or allowed by the settings."""
    address = _plain(ipaddress.ip_address(text.partition("%")[0]))
    allowed: Sequence[str] = settings.CIPHERMARK_NOTIFY_NETWORKS
    if any(address in ipaddress.ip_network(network) for network in allowed):
        return True
    return _is_public(address) and address not in _own_addresses()


def _plain(address: Address) -> Address:
    """An IPv4 address that is written as IPv6, as itself."""
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped
    return address


def _is_public(address: Address) -> bool:
    if not address.is_global or address.is_multicast or address.is_reserved:
        return False
    if isinstance(address, ipaddress.IPv4Address):
        return True
    return address in GLOBAL_IPV6 and address.sixtofour is None and address.teredo is None


def _own_addresses() -> set[Address]:
    """A service that listens on the public address of this machine may trust this machine."""
    families = (socket.AF_INET, socket.AF_INET6)
    return {
        ipaddress.ip_address(one.address.partition("%")[0])
        for interface in psutil.net_if_addrs().values()
        for one in interface
        if one.family in families
    }
