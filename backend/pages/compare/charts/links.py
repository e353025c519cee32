"""Lines across a chart of rates: what networks carry."""

from analysis.ciphers.link_saturation import LINKS, link_payload
from pages.formatting import throughput

RATES = ("throughput", "cpu_bound_throughput")
"""Metrics that are rates of a real machine: a normalised rate fills nobody's network."""


def link_rates() -> list[dict[str, str | float]]:
    """Each Ethernet link with the bytes per second that TCP moves over it."""
    return [{"name": name, "rate": link_payload(bits)} for name, bits in LINKS.items()]


def link_words() -> str:
    """The same in words: "1 GbE 118 MB/s, 2.5 GbE 294 MB/s"."""
    return ", ".join(f"{name} {throughput(link_payload(bits))}" for name, bits in LINKS.items())
