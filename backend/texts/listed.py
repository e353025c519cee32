"""Read lists by hand: ciphers of ssh with their rates on one line."""

import re

from texts.ciphers import ssh_cipher
from texts.events import Listed
from texts.numbers import RATE, Unit, rate_of

SEVERAL_TIMES = 3
"""Factor between rates on one line that are no tries of each other."""
RATE_SIGNS = ("/s", "ps", "/с", "/ s", "/秒", "per second")
_TOKEN = re.compile(
    rf"(?P<rate>(?:(?<![\w.,/+±-])|(?<=\d-)|(?<=\d\.\.)){RATE}(?![\w/]))"
    r"|(?<![\w@./+-])(?P<name>\d*[A-Za-z][\w-]{1,29}\w(?:@[\w.]{5,16}\w)?)(?![\w@])",
    re.I,
)
_PADDING = re.compile(
    r"(?:\+(?:hmac|umac)-[\w@.-]{1,40}|[\s:=,;|()\[\]\"'*#•→>~≈–—-]|(?<![^\W\d_])(?:cipher|name|speed"
    r"|algo\w{0,6}|rate|throughput|avg|average|mean|median|about|approx|ca|circa|try|run|test|with"
    r"|using|and|at|is|was|got|gave|gives|max|peak|best|up to|ssh|scp|sftp|rsync|-c|-o"
    r"|(?<!\d)\d{1,2}(?!\d))(?![^\W\d_]))*",
    re.I,
)
"""What may stand around names and rates; other words make a sentence."""
_RANGE = re.compile(r"\d\s?(?:[kmgt]?i?b/s\s?)?(?:[-–~]|\.\.|to)\s?\d[\d.,]*\s?[kmgt]?i?b", re.I)

Rates = list[tuple[float, Unit]]


def read_list(text: str) -> Listed | None:
    """Read ciphers and rates of one line: "aes128-ctr: 104.167 MB/s"; a rate may come first."""
    if not any(sign in text for sign in RATE_SIGNS):
        return None
    found: list[tuple[str, str, Rates]] = []
    early: Rates = []
    is_sentence, end = False, 0
    for token in _TOKEN.finditer(text):
        cipher = ssh_cipher(token["name"]) if token["name"] else None
        rate = rate_of(token["rate"]) if token["rate"] else None
        if cipher:
            found.append((cipher, token["name"], []))
        elif rate:
            (found[-1][2] if found else early).append(rate)
        if cipher or rate:
            is_sentence = is_sentence or not _PADDING.fullmatch(text[end : token.start()])
            end = token.end()
    if early and len(found) == 1 and not found[0][2]:
        found[0][2].extend(early)
    elif early or not any(rates for _, _, rates in found):
        return None
    is_sentence = is_sentence or not _PADDING.fullmatch(text[end:])
    pairs = tuple((cipher, label, tuple(rates)) for cipher, label, rates in found if rates)
    return Listed(pairs, _doubt(text, [rates for _, _, rates in found], is_sentence))


def _doubt(text: str, tries: list[Rates], is_sentence: bool) -> str:
    if _RANGE.search(text):
        return "range instead of one rate"
    if not all(unit.clear for rates in tries for _, unit in rates):
        return "bits or bytes unclear"
    values = [[number * unit.decimal for number, unit in rates] for rates in tries if rates]
    if any(max(rates) > SEVERAL_TIMES * min(rates) for rates in values):
        return "several different rates"
    return "stated in a sentence" if is_sentence else ""
