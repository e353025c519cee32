from typing import Any

from cipherspeed.cipher_catalogue import cipher_catalogue
from cipherspeed.recommendation import MeasuredHost, Rate, Recommendation, recommend

GCM128, GCM256 = "aes128-gcm@openssh.com", "aes256-gcm@openssh.com"
CHACHA = "chacha20-poly1305@openssh.com"
MODERN = "OpenSSH_9.9p1, OpenSSL 3.4.0"
PATCHED = "OpenSSH_9.2p1 Debian-2+deb12u6"
UNPATCHED = "OpenSSH_9.2p1"
OLD = "OpenSSH_6.6.1p1 Ubuntu-2ubuntu2.13"


def rate(cipher: str, megabytes: float, cpu: float | None = None, spread: float = 0) -> Rate:
    # The margin of nine equal tries is 1 %.
    return Rate(cipher, "pipeline", megabytes * 1e6, 9, spread, cpu)


def host(*rates: Rate, name: str = "nas", **facts: Any) -> MeasuredHost:
    return MeasuredHost(1, name, name, rates, **{"client": MODERN, "server": MODERN, **facts})


def advised(*hosts: MeasuredHost, policy: str = "modern") -> Recommendation:
    return recommend([(host, host) for host in hosts], cipher_catalogue().policies[policy])


def between(
    client: MeasuredHost, server: MeasuredHost, policy: str = "modern", link: float | None = None
) -> Recommendation:
    return recommend([(client, server)], cipher_catalogue().policies[policy], link)
