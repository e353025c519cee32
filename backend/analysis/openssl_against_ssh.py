"""SSH throughput as a share of raw cipher speed (docs/method.md, section 6).

`openssl speed` measures the cipher alone, ssh the cipher with its MAC, its packets, the copying
between processes and the loopback network. The first bounds the second and never predicts it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from analysis.profiles.baselines import MeasuredSeries
from analysis.summary import BYTES_PER_GB
from documents.types import Series

_OWN: Mapping[str, str] = {
    **{
        f"aes{size}-{mode}": f"aes-{size}-{mode}"
        for size in (128, 192, 256)
        for mode in ("cbc", "ctr")
    },
    "aes128-gcm@openssh.com": "aes-128-gcm",
    "aes256-gcm@openssh.com": "aes-256-gcm",
    "chacha20-poly1305@openssh.com": "chacha20-poly1305",
    # The old name of the AES, always with its 256-bit key (OpenSSH's cipher.c).
    "rijndael-cbc@lysator.liu.se": "aes-256-cbc",
    "3des-cbc": "des-ede3-cbc",
    "blowfish-cbc": "bf-cbc",
    "cast128-cbc": "cast5-cbc",
    "arcfour": "rc4",
    "arcfour128": "rc4",
    "arcfour256": "rc4",
}

_NOTES: Mapping[str, str] = {
    "chacha20-poly1305@openssh.com": (
        "ssh's construction differs from the TLS one that openssl speed measures (two ChaCha20"
        " keys, OpenSSH's own Poly1305): the share is a comparison of two programs."
    ),
}
"""Where the two ciphers are not quite the same (OpenSSH's PROTOCOL.chacha20poly1305)."""


@dataclass(frozen=True)
class Delivered:
    """One ssh series beside its cipher's own speed.

    `share` = ssh / openssl, both in bytes per second. `overhead_seconds_per_gb`: what ssh adds
    to each 10^9 bytes, 1 / ssh - 1 / openssl; negative where ssh was the faster.
    """

    ssh: Series
    openssl: Series
    ssh_throughput: float
    openssl_throughput: float
    note: str | None

    @property
    def share(self) -> float:
        return self.ssh_throughput / self.openssl_throughput

    @property
    def overhead_seconds_per_gb(self) -> float:
        return BYTES_PER_GB / self.ssh_throughput - BYTES_PER_GB / self.openssl_throughput


def own_cipher(ssh_cipher: str) -> str | None:
    """The openssl name of an ssh cipher's own algorithm; None where there is none."""
    return _OWN.get(ssh_cipher)


def delivered(measured: Iterable[MeasuredSeries]) -> tuple[Delivered, ...]:
    """Each ssh series of one run that has its cipher's own speed beside it.

    ssh: over loopback, uncompressed. openssl: encrypting, one thread, with the acceleration of
    the ssh series, at the run's largest block: an ssh packet carries up to 32 KiB.
    """
    all_of_them = list(measured)
    largest = _largest_blocks(all_of_them)
    found = []
    for one in all_of_them:
        own = largest.get((own_cipher(one.series.cipher), one.series.acceleration))
        if own is not None and _over_loopback(one.series):
            note = _NOTES.get(one.series.cipher)
            found.append(Delivered(one.series, own.series, one.median, own.median, note))
    return tuple(found)


def _over_loopback(series: Series) -> bool:
    return series.tool == "ssh" and series.target_kind == "loopback" and not series.compression


def _largest_blocks(
    measured: Iterable[MeasuredSeries],
) -> dict[tuple[str | None, str], MeasuredSeries]:
    """(openssl cipher, acceleration) -> the series of the largest block."""
    largest: dict[tuple[str | None, str], MeasuredSeries] = {}
    for one in measured:
        series = one.series
        if series.tool == "openssl" and series.operation == "encrypt" and series.threads == 1:
            known = largest.setdefault((series.cipher, series.acceleration), one)
            if (series.block_size or 0) > (known.series.block_size or 0):
                largest[(series.cipher, series.acceleration)] = one
    return largest
