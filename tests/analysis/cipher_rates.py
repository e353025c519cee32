"""Hosts with measured ciphers, for the tests of the recommendations."""

from analysis.ciphers.host_ciphers import CipherRate, HostCiphers

GCM128, GCM256 = "aes128-gcm@openssh.com", "aes256-gcm@openssh.com"
CHACHA = "chacha20-poly1305@openssh.com"
MODERN = "OpenSSH_9.9p1, OpenSSL 3.4.0"
PATCHED = "OpenSSH_9.2p1 Debian-2+deb12u6"
UNPATCHED = "OpenSSH_9.2p1"
OLD = "OpenSSH_6.6.1p1 Ubuntu-2ubuntu2.13"


def rate(cipher: str, megabytes: float, cpu: float | None = None, spread: float = 0) -> CipherRate:
    """Nine tries: a margin of 1 % when they agree."""
    return CipherRate(cipher, megabytes * 1e6, 9, spread, "pipeline", cpu)


def host(*rates: CipherRate, name: str = "nas", **facts: object) -> HostCiphers:
    """A host with a current OpenSSH, unless the facts say otherwise."""
    known: dict[str, object] = {"client": MODERN, "server": MODERN, **facts}
    return HostCiphers(name, rates, **known)  # type: ignore[arg-type]
