"""Documents and texts with something wrong: the same for the same seed."""

import copy
import gzip
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.api.test_mutated_documents import PLACES, complete_document
from tests.production_shape import PROJECT

CAPTURES = PROJECT / "tests" / "fuzz" / "captures"

ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1e-320, 5e-324, 1e308, 2**31, 2**63, 2**64, 10**30, -(10**400)),
    *("", " ", "=1+1", "\u202e", "x" * 5000, "\x1b[2J", "<script>alert(1)</script>", "é" * 300),
    *("\x7f", "2025-13-45T99:99:99Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00"),
    *([], {}, [[]], [None] * 200, {"": {}}, [{"a": 1}], ["x"] * 5001),
)

SPELLINGS = (
    *(b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e400", b"1" * 5000, b"0x10", b"01", b"+1"),
    *(b'"\\u0000"', b'"\\ud800"', b'"\\udc00\\ud800"', b'"\x00"', b"\xff\xfe", b"'single'"),
    *(
        b"[" * 100_000,
        b'{"a":' * 5_000,
        b"nul",
        b"",
        b"//",
        b'"\\x41"',
        b'"\xc0\x80"',
        b"1.",
        b".5",
    ),
)
"""Spelt where a value belongs: what JSON has not, or what a reader trips over."""

TEXTS = (
    b"\x00",
    b"\x1b]0;x\x07",
    b"\xff\xfe",
    b"\r",
    b"\x85",
    b"1e999",
    b"-0",
    b"9" * 400,
    b"\t" * 999,
)


@dataclass(frozen=True)
class Case:
    """One request to an endpoint."""

    path: str
    body: bytes
    packed: bool = False

    @property
    def headers(self) -> dict[str, str]:
        """Of the request, in the words of WSGI."""
        return {"HTTP_CONTENT_ENCODING": "gzip"} if self.packed else {}

    @property
    def content_type(self) -> str:
        """What the endpoint takes."""
        return "application/json" if self.path.endswith("/runs/") else "text/plain"


def cases(count: int, seed: int) -> "list[Callable[[], Case]]":
    """So many cases, each made when it is called: the bodies together would be gigabytes."""
    return [_later(seed, number) for number in range(count)]


def _later(seed: int, number: int) -> Callable[[], Case]:
    def make() -> Case:
        dice = random.Random(f"{seed} {number}")
        kind = dice.choices((changed, respelt, damaged, packed, imported), (4, 2, 2, 1, 3))[0]
        return kind(dice)

    return make


def _document(dice: random.Random) -> dict[str, Any]:
    document = complete_document()
    document["run_id"] = f"{dice.getrandbits(32):08x}-0000-4000-8000-{dice.getrandbits(48):012x}"
    return document


def changed(dice: random.Random) -> Case:
    """One to three places with other values, or without any."""
    document = _document(dice)
    for _ in range(dice.randint(1, 3)):
        place = dice.choice(PLACES)
        target: Any = document
        try:
            for step in place[:-1]:
                target = target[step]
            if dice.random() < 0.2:
                del target[place[-1]]
            else:
                target[place[-1]] = copy.deepcopy(dice.choice(ODD))
        except (LookupError, TypeError):
            continue  # an earlier change took the place away
    return Case("/api/v1/runs/", json.dumps(document).encode())


def respelt(dice: random.Random) -> Case:
    """One value spelt in a way that JSON has not; or a member named twice."""
    mark = f"mark-{dice.getrandbits(40)}"
    document = _document(dice)
    place = dice.choice(PLACES)
    target: Any = document
    for step in place[:-1]:
        target = target[step]
    target[place[-1]] = mark
    body = json.dumps(document).encode()
    if dice.random() < 0.2:
        return Case("/api/v1/runs/", body.replace(b"{", b'{"tool":1,"tool":2,', 1))
    return Case("/api/v1/runs/", body.replace(f'"{mark}"'.encode(), dice.choice(SPELLINGS), 1))


def damaged(dice: random.Random) -> Case:
    """Bytes changed, cut out, put in or repeated."""
    body = bytearray(json.dumps(_document(dice)).encode())
    return Case("/api/v1/runs/", _damage(body, dice))


def _damage(body: bytearray, dice: random.Random) -> bytes:
    for _ in range(dice.randint(1, 8)):
        begin = dice.randrange(len(body) + 1)
        end = min(len(body), begin + dice.randint(0, 40))
        kind = dice.randrange(4)
        if kind == 0:
            body[begin:end] = dice.randbytes(end - begin)
        elif kind == 1:
            del body[begin:end]
        elif kind == 2:
            body[begin:begin] = dice.choice(TEXTS)
        else:
            body[begin:begin] = body[begin:end] * dice.randint(1, 20)
    return bytes(body)


def packed(dice: random.Random) -> Case:
    """gzip: whole, damaged, cut off, or far larger than it looks."""
    whole = gzip.compress(json.dumps(_document(dice)).encode())
    kind = dice.randrange(5)
    if kind == 0:
        return Case("/api/v1/runs/", whole[: dice.randrange(len(whole))], packed=True)
    if kind == 1:
        return Case("/api/v1/runs/", _damage(bytearray(whole), dice), packed=True)
    if kind == 2:
        return Case("/api/v1/runs/", whole + whole, packed=True)
    if kind == 3:
        return Case("/api/v1/runs/", BOMB, packed=True)
    return Case("/api/v1/imports/", BOMB if dice.random() < 0.5 else whole, packed=True)


BOMB = gzip.compress(b"[" + b" " * 64 * 1024 * 1024)
"""64 KiB that unpack to 64 MiB."""


def imported(dice: random.Random) -> Case:
    """What a tool printed, damaged, or spliced from two tools."""
    bodies = [bytearray(path.read_bytes()) for path in dice.sample(_captures(), 2)]
    body = bodies[0]
    if dice.random() < 0.3:
        body = (
            body[: dice.randrange(len(body) + 1)] + bodies[1][dice.randrange(len(bodies[1]) + 1) :]
        )
    query = dice.choice(("", "?preview=1", "?format=dd", "?bytes=1000", "?unit=MiB"))
    return Case(f"/api/v1/imports/{query}", _damage(bytearray(body), dice))


def _captures() -> list[Path]:
    return sorted(CAPTURES.glob("*.*"))
