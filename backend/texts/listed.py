"""Parse handwritten lists: ciphers with their rates on one line."""

import re

from texts.ciphers import mac_name, openssl_cipher, ssh_cipher
from texts.events import Listed
from texts.numbers import DURATION, RATE, Unit, rate_of

SEVERAL_TIMES = 3
"""Factor between rates on one line above which they are not tries of the same series."""
RATE_SIGNS = ("/s", "ps", "/с", "/ s", "/秒", "per second")
MAC = r"(?:hmac|umac)-[\w@.-]{1,40}"
_TOKEN = re.compile(
    rf"(?P<rate>(?:(?<![\w.,/+±-])|(?<=\d-)|(?<=\d\.\.)){RATE}(?![\w/]))"
    r"|(?<![\w@./-])(?P<name>\d*[A-Za-z][\w-]{1,29}\w(?:@[\w.]{5,16}\w)?)(?![\w@])",
    re.I,
)
_PADDING = re.compile(
    rf"(?:\+?{MAC}|{DURATION}|(?<![\w.])\d[\d.]{{0,9}}\s?[kmgt]i?b?(?![\w/])"
    r"|[\s:=,;|()+\[\]\"'*#•→>~≈–—-]|(?<![^\W\d_])(?:cipher|name|speed"
    r"|algo\w{0,6}|rate|throughput|avg|average|mean|median|about|approx|ca|circa|try|run|test|with"
    r"|using|and|at|is|was|got|gave|gives|max|peak|best|up to|ssh|scp|sftp|rsync|-c|-o"
    r"|(?<!\d)\d{1,2}(?!\d))(?![^\W\d_]))*",
    re.I,
)
"""Text allowed around names and rates; other words make a sentence."""
_REMARK = re.compile(r"[)\s]*(?:\s[(\[←<#—–/-]|[,;.]\s|\s*$)")
_RANGE = re.compile(r"\d\s?(?:[kmgt]?i?b/s\s?)?(?:[-–~]|\.\.|to)\s?\d[\d.,]*\s?[kmgt]?i?b", re.I)

Rates = list[tuple[float, Unit]]


def read_list(text: str) -> Listed | None:
    """Parse ciphers and rates of a line: "aes128-ctr: 104.167 MB/s"; a rate may come first."""
    if not any(sign in text for sign in RATE_SIGNS):
        return None
    rates_of: dict[str, Rates] = {}
    early: Rates = []
    is_sentence, end, last = False, 0, ""
    for token in _TOKEN.finditer(text):
        name = token["name"] or ""
        is_cipher = bool(ssh_cipher(name) or ("-" in name and openssl_cipher(name)))
        rate = rate_of(token["rate"]) if token["rate"] else None
        if is_cipher:
            last = name
            rates_of.setdefault(name, [])
        elif rate:
            (rates_of[last] if rates_of else early).append(rate)
        if is_cipher or rate:
            is_sentence = is_sentence or not _PADDING.fullmatch(text[end : token.start()])
            end = token.end()
    if early and len(rates_of) == 1 and not rates_of[last]:
        rates_of[last].extend(early)
    elif early or not any(rates_of.values()):
        return None
    remark = text if is_sentence else text[end:]
    is_sentence = is_sentence or not (_REMARK.match(remark) or _PADDING.fullmatch(remark))
    mac = re.search(MAC, text)
    return Listed(
        tuple((name, tuple(rates)) for name, rates in rates_of.items() if rates),
        _caveat(text, list(rates_of.values()), is_sentence),
        remark,
        mac_name(mac[0]) if mac else None,
    )


def _caveat(text: str, tries: list[Rates], is_sentence: bool) -> str:
    if _RANGE.search(text):
        return "range instead of one rate"
    if not all(unit.clear for rates in tries for _, unit in rates):
        return "bits or bytes unclear"
    values = [[number * unit.decimal for number, unit in rates] for rates in tries if rates]
    if any(max(rates) > SEVERAL_TIMES * min(rates) for rates in values):
        return "several different rates"
    return "stated in a sentence" if is_sentence else ""
