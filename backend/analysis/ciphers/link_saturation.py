"""Which network links a cipher can fill (docs/method.md)."""

from collections.abc import Mapping

BITS_PER_BYTE = 8

PAYLOAD_OF_FRAME = 1448 / 1538
"""Share of an Ethernet link that carries TCP's payload.

MTU 1500 less 52 bytes of IPv4 and TCP headers with time stamps; a frame takes 1538 bytes of the
wire: 14 header, 4 checksum, 8 preamble, 12 gap (IEEE 802.3, RFC 7323).
"""

LINKS: Mapping[str, float] = {"1 GbE": 1e9, "2.5 GbE": 2.5e9, "10 GbE": 10e9, "25 GbE": 25e9}
"""Name -> bits per second."""


def link_payload(bits_per_second: float) -> float:
    """Bytes per second of payload that such an Ethernet link moves."""
    if not bits_per_second > 0:
        raise ValueError(f"a link moves more than {bits_per_second} bits per second")
    return bits_per_second / BITS_PER_BYTE * PAYLOAD_OF_FRAME


def saturates(low: float, high: float, payload: float) -> bool | None:
    """Whether a rate between `low` and `high` fills a link of that payload, all in bytes/s.

    None where the link's rate lies within the noise.
    """
    if low >= payload:
        return True
    return None if high >= payload else False


def saturated_links(low: float, high: float) -> dict[str, bool | None]:
    """Every link of `LINKS`: whether a cipher at `low` to `high` bytes per second fills it."""
    return {name: saturates(low, high, link_payload(bits)) for name, bits in LINKS.items()}
