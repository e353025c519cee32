"""When parts of the site last said that they live, and which forwarded headers arrived.

Signs are the names of parts (`worker`, `beat`) or what `forwarded_sign` makes of a request.
"""

import time
from contextlib import suppress
from dataclasses import dataclass

from redis.exceptions import RedisError

from store.redis_client import quick_redis

SEEN = "ciphermark:last-seen"
"""A hash in Redis: sign -> Unix seconds."""

WORKER = "worker"
BEAT = "beat"

_FORWARDED = "forwarded"
_MOST_ADDRESSES = 9


def leave_sign(sign: str) -> None:
    """Now; where Redis is away nobody notices."""
    with suppress(RedisError):
        quick_redis().hset(SEEN, sign, time.time())


def last_seen() -> dict[str, float]:
    """Sign -> when it was last left. Raises `RedisError`."""
    found: dict[bytes, bytes] = quick_redis().hgetall(SEEN)  # type: ignore[assignment]
    return {sign.decode(): float(at) for sign, at in found.items()}


@dataclass(frozen=True)
class Forwarded:
    """How requests arrive: entries of X-Forwarded-For, and X-Forwarded-Proto (or "none")."""

    addresses: int
    protocol: str


def forwarded_sign(forwarded_for: str, protocol: str) -> str:
    """The sign of a request with these headers; there are forty at most."""
    addresses = min(forwarded_for.count(",") + 1, _MOST_ADDRESSES) if forwarded_for else 0
    first = protocol.partition(",")[0].strip()  # the one that Django goes by
    named = first if first in ("http", "https") else "other" if first else "none"
    return f"{_FORWARDED} {addresses} {named}"


def forwarded_lately(signs: dict[str, float], seconds: float) -> set[Forwarded]:
    """Ways in which requests arrived within the last so many seconds."""
    found = set()
    for sign, at in signs.items():
        words = sign.split()
        if words[0] == _FORWARDED and time.time() - at <= seconds:
            found.add(Forwarded(int(words[1]), words[2]))
    return found
