"""Figures that cannot be true: kept, flagged, and left out of every statistic."""

import math
import re
from functools import lru_cache

BEYOND_MEMORY = 100e9
"""Bytes per second and thread that no machine's memory moves (2026: one core reads 20e9)."""

BEYOND_A_CHAIN = 10e9
"""The same for ciphers whose every block or byte waits for the one before, and for those that no
CPU has instructions for: AES-128-CBC takes 10 rounds of 3 cycles for 16 bytes, 3e9 at 6 GHz."""

_CHAINED = re.compile(
    r"-(?:cbc|cfb\d*|ofb\d*)\b|^(?:rc4|arcfour|3des|des|bf|blowfish|cast|idea|rc2)"
)


@lru_cache(maxsize=4096)
def highest_plausible(threads: int = 1, *, cipher: str = "", decrypt: bool = False) -> float:
    """The highest rate that so many threads can reach, bytes per second.

    CBC decrypts in parallel, so only its encryption is a chain.
    """
    chained = not decrypt and _CHAINED.search(cipher) is not None
    return (BEYOND_A_CHAIN if chained else BEYOND_MEMORY) * threads


def is_plausible(
    throughput: float, threads: int = 1, *, cipher: str = "", decrypt: bool = False
) -> bool:
    """Whether a rate in bytes per second is above zero, finite and within what can be."""
    limit = highest_plausible(threads, cipher=cipher, decrypt=decrypt)
    return math.isfinite(throughput) and 0 < throughput <= limit
