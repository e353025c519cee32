"""Read random texts: composed ones, whose figures are known, and damaged ones.

    python -m tests.fuzz.texts SECONDS [SEED]

A finding is an exception, a document that the schema refuses, a certain figure that the text does
not print, a figure lost without a remark, or a time out of proportion to the length.
Each is printed with the seed of its text: `python -m tests.fuzz.texts 0 SEED` reads that one again.
"""

import random
import re
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, thread_time
from typing import Any
from uuid import UUID

from documents.validation import validate_run_document
from tests.fuzz.composed_texts import AMOUNT, CIPHERS, Composer, composed
from texts.documents import run_documents
from texts.read import read_text
from texts.received import NotAText, received_text
from texts.types import Figure, Hints, Reading

CAPTURES = Path(__file__).parent / "captures"
UNPRINTED = re.compile(
    r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-_]"
    "|[\x00\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
)
"""Colours of a terminal, and marks without a width."""
IMPORT_ID = UUID("0b8f3c1e-6d0e-4c3f-9c7e-1f2a3b4c5d6e")
NOW = "2025-11-21T06:48:10Z"
SECONDS_A_CHARACTER = 10e-6
"""Several times what any text takes: what is not linear takes more soon enough."""
SECONDS_SLACK = 0.25
TOLD_EVERY_SECONDS = 60
LEAST_READ = 0.8
"""Share of the composed figures that is read: of fewer, the others could be false."""

PIECES = (
    *(*CIPHERS, "\n", "\n", "\n", "\t", " ", " | ", ": ", ", ", "MB/s", "MiB/s", "Mb/s", "k", "%"),
    *(
        "1+0 records in\n",
        "1073741824 bytes (1.1 GB) copied, ",
        "3.5 s, ",
        "real\t0m3.3s\n",
        "ETA ",
    ),
    *(
        "[ 498MiB/s]",
        "1GiB 0:00:02 ",
        "100% 1024MB 109.5MB/s 00:09",
        "kex: client->server cipher: ",
    ),
    *(
        "debug1: ",
        "type 16 bytes 64 bytes\n",
        "Doing aes-128-cbc for 3s on 16 size blocks: ",
        "+F:",
    ),
    *("$ ssh -c ", "$ dd bs=1M count=1 | ", "OPENSSL_ia32cap=", "\x1b[1m", "\x00", "\r", "\u2028"),
    *("<td>", "&nbsp;", "```", "> ", "\u202f", "’", "١", "²", "İ", "-", "–", "e9", "inf", "nan"),
    *("9" * 30, "0", "0.00", "1,234", "1.234.567,8", "(", ")", "[", "]", '"', "'", "\\", "≥", "±"),
)


LINES_OF_A_COMMAND = 8
"""Of one that is broken over several lines, with the result that it prints."""


@dataclass
class Tally:
    """What a run of the fuzzer did."""

    texts: int = 0
    printed: int = 0
    read: int = 0
    findings: list[str] = field(default_factory=list)

    @property
    def said(self) -> str:
        """In one line."""
        share = f"{self.read / self.printed:.1%}" if self.printed else "none"
        return (
            f"{self.texts:,} texts, {share} of {self.printed:,} composed figures read,"
            f" {len(self.findings)} findings"
        )


def fuzz(seconds: float, seed: int, most: int = 20) -> Tally:
    """Read random texts for so long, at least one; stops after so many findings."""
    tally, begun = Tally(), monotonic()
    end, tell_at = begun + seconds, begun + TOLD_EVERY_SECONDS
    while True:
        number = seed + tally.texts
        for finding in findings_of(number, tally):
            tally.findings.append(f"seed {number}: {finding}")
        tally.texts += 1
        if monotonic() >= tell_at:
            print(f"texts: {tally.said} in {tell_at - begun:.0f} of {seconds:g} s", flush=True)  # noqa: T201
            tell_at += TOLD_EVERY_SECONDS
        if monotonic() >= end or len(tally.findings) >= most:
            return tally


def findings_of(seed: int, tally: Tally) -> Iterator[str]:
    """What is wrong with the reading of the text of one seed."""
    dice = random.Random(seed)
    whole = composed(dice)
    text = "\n".join(whole.lines)
    is_whole = dice.random() < 0.5
    body = text.encode() if is_whole else damaged(dice, text)
    hints = Hints(transferred=AMOUNT, unit=dice.choice(("MB", None)))
    allowed = SECONDS_SLACK + SECONDS_A_CHARACTER * len(body)
    try:
        read, took = _timed(body, hints)
        for _ in range(2):  # a busy machine, or a collection of garbage, disturbs one reading
            took = took if took <= allowed else min(took, _timed(body, hints)[1])
    except Exception:  # noqa: BLE001 - each is a finding
        yield traceback.format_exc(limit=-3)
        return
    if took > allowed:
        yield f"{took:.2f} s for {len(body)} bytes: {body[:200]!r}"
    if read is None:
        return
    printed, reading, documents = read
    yield from (one.detail for one in reading.remarks if one.code == "parser_failed")
    yield from _document_faults(documents)
    yield from _invented(printed, reading)
    if is_whole:
        yield from _wrong(whole, reading, tally)


def _timed(
    body: bytes, hints: Hints
) -> tuple[tuple[str, Reading, list[dict[str, Any]]] | None, float]:
    """What was read, and the CPU seconds that it took."""
    begun = thread_time()
    return _read(body, hints), thread_time() - begun


def damaged(dice: random.Random, text: str) -> bytes:
    """A text with bytes changed, cut out, put in or repeated; or of another tool, or of two."""
    other = dice.choice(_captures())
    start = dice.choice((text.encode(), text.encode(), other, other + text.encode()))
    body = bytearray(start if dice.random() < 0.9 else b"")
    for _ in range(dice.choice((1, 3, 10, 40))):
        at = dice.randrange(len(body) + 1)
        end = min(len(body), at + dice.choice((1, 4, 40, 400)))
        kind = dice.randrange(5)
        if kind == 0:
            body[at:end] = dice.randbytes(dice.randint(1, 4))
        elif kind == 1:
            del body[at:end]
        elif kind == 2:
            body[at:at] = body[at:end] * dice.randint(1, 20)
        else:
            body[at:at] = "".join(dice.choices(PIECES, k=dice.randint(1, 8))).encode()
    return bytes(body)


def _captures() -> list[bytes]:
    return [path.read_bytes() for path in sorted(CAPTURES.glob("*.*"))]


def _read(body: bytes, hints: Hints) -> tuple[str, Reading, list[dict[str, Any]]] | None:
    """The whole way of one upload."""
    try:
        text = received_text(body)[0]
    except NotAText:
        return None
    reading = read_text(text, hints)
    made = run_documents(reading, import_id=IMPORT_ID, now=NOW, take="all")
    return text, reading, list(made.documents)


def _document_faults(documents: list[dict[str, Any]]) -> Iterator[str]:
    for document in documents:
        for measurement in document["measurements"]:
            for sample in measurement["samples"]:
                rate = sample.pop("bytes_per_second", None)
                if rate is not None and not 0 < rate < float("inf"):
                    yield f"a rate of {rate}"
                elif rate is not None:
                    sample.update(bytes=max(1, int(min(rate, 2**60))), seconds=1.0)
        yield from map(str, validate_run_document(document))


def _invented(text: str, reading: Reading) -> Iterator[str]:
    """Figures whose digits, or whose cipher, the text does not print."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    lowered = UNPRINTED.sub("", text).lower()
    for figure in reading.figures():
        if not 1 <= figure.line <= len(lines):
            yield f"line {figure.line} of {len(lines)}"
        elif figure.tool == "ssh" and not _is_printed(figure, _with_its_rest(lines, figure)):
            yield f"not printed: {figure} in {lines[figure.line - 1]!r}"
        elif figure.tool == "ssh" and figure.label.lower() not in lowered:
            yield f"no such cipher in the text: {figure}"


def _with_its_rest(lines: list[str], figure: Figure) -> str:
    """A line; of a command that goes on, with a pipe, below it also the lines of its result."""
    first = lines[figure.line - 1]
    goes_on = first.rstrip().endswith(("|", "\\", "<td>"))
    return " ".join(lines[figure.line - 1 :][: LINES_OF_A_COMMAND if goes_on else 1])


def _is_printed(figure: Figure, line: str) -> bool:
    """Whether a line has the digits that a figure of ssh is made of."""
    found = re.findall(r"\d+(?:[.,'’\u202f]\d+)*(?:e[+-]?\d+)?", UNPRINTED.sub("", line), re.I)
    found += re.findall(r"\d+(?:\.\d+)?", line)
    numbers = {number for text in found for number in _values(text)}
    if figure.seconds is not None and figure.bytes is not None:
        clocks = [h * 3600 + m * 60 for h in numbers | {0} for m in numbers | {0}]
        sums = (clock + s for clock in clocks for s in numbers)
        return any(_alike(figure.seconds, one * unit) for one in sums for unit in (1, 60, 1e-3))
    factors = [base**power / part for base in (1000, 1024) for power in range(5) for part in (1, 8)]
    speed = figure.bytes_per_second or 0
    return any(_alike(speed, number * factor) for number in numbers for factor in factors)


def _values(text: str) -> Iterator[float]:
    """What a printed number may mean."""
    bare = re.sub(r"['’\u202f]", "", text)
    for plain in (bare.replace(",", ""), bare.replace(".", "").replace(",", ".")):
        if plain.count(".") <= 1 and len(plain) < 60:
            yield float(plain)


def _alike(one: float, other: float) -> bool:
    return abs(one - other) <= 1e-9 * max(abs(one), abs(other))


def _wrong(whole: Composer, reading: Reading, tally: Tally) -> Iterator[str]:
    """Figures of a composed text that are not the ones it was composed of; silent losses."""
    truths = [(one.line, one.cipher, one.speed) for one in whole.truths]
    left, text = list(truths), "\n".join(whole.lines)
    for figure in reading.figures():
        same = [
            one
            for one in left
            if one[:2] == (figure.line, figure.cipher) and _alike(one[2], figure.rate)
        ]
        if same:
            left.remove(same[0])
        elif not figure.uncertain:
            yield f"false figure {figure}\n{text}"
    tally.printed += len(truths)
    tally.read += len(truths) - len(left)
    listed = {line.line for line in reading.unrecognised}
    silent = [one for one in left if one[0] not in listed]
    if silent and not reading.remarks:
        yield f"lost without a word: {silent}\n{text}"


def main(seconds: float, seed: int) -> int:
    """Print the seed first, then what was found; 0 for nothing."""
    print(f"texts: random ones for {seconds:g} s, seed {seed}", flush=True)  # noqa: T201
    tally = fuzz(seconds, seed)
    print(tally.said)  # noqa: T201
    for finding in tally.findings:
        print(f"\n{finding}")  # noqa: T201
    is_blind = tally.printed > 1000 and tally.read < LEAST_READ * tally.printed
    return 1 if tally.findings or is_blind else 0


if __name__ == "__main__":
    wanted = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().getrandbits(48)
    sys.exit(main(float(sys.argv[1]), wanted))
