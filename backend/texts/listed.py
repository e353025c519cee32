import re
from math import isclose

from texts.ciphers import mac_name, openssl_cipher, ssh_cipher
from texts.events import Listed
from texts.numbers import DURATION, RATE, Unit, rate_of
from texts.words import is_name

RATE_SIGNS = ("/s", "ps", "/с", "/ s", "/秒", "per second")
MAC = r"(?:hmac|umac)-[\w@.-]{1,40}"
_TOKEN = re.compile(
    rf"(?P<rate>(?:(?<![A-Za-z0-9_.,/+±-])|(?<=\d-)|(?<=\d\.\.)){RATE}(?![\w/]))"
    r"|(?<![A-Za-z0-9_@./-])(?P<name>\d*[A-Za-z][\w-]{1,29}\w(?:@[\w.]{5,16}\w)?)(?![\w@])",
    re.I,
)
_PADDING = re.compile(
    rf"(?:[\s:=,;|()+\[\]\"'*#•・…→>~≈–—]++|{MAC}|{DURATION}"
    r"|(?<![\w.])\d[\d.]{0,9}\s?[kmgt]i?b?(?![\w/])|\.{3,}|-|(?<![^\W\d_])(?:cipher|name|speed"
    r"|algo\w{0,6}|rate|throughput|avg|average|mean|median|about|approx|ca|circa|try|run|test|with"
    r"|for|vs|versus|using|and|in|is|was|got|gave|gives(?: me)?|max|peak|best|default|up to"
    r"|ssh|scp|sftp|rsync|-c|-o|(?<!\d)\d{1,2}(?!\d))(?![^\W\d_]))*",
    re.I,
)
_REMARK = re.compile(r"[)\s]*(?:[（(]|\s[\[←<#—–/-]|[,;.]\s|\s+\d[\d.,]*\s?[%x×]|\s*$)")
_TITLE = re.compile(
    r"[\s#*>•\"'-]{0,20}"
    r"(?:(?![\w ]{0,30}(?:aes|des|fish|four|cha|cast))([^\W\d_][\w .-]{1,20})[\"']?:\s"
    r"|(?-i:([a-z][a-z\d.-]{1,30}))\s(?=\s*(?![hu]mac-)[\w-]+-[\w@.-]+[\s:=]+(?:[hu]mac-\S+\s+)?\d))",
    re.I,
)
_RANGE = re.compile(r"\d\s?(?:[kmgt]?i?b/s\s?)?(?:[-–~]|\.\.|to)\s?\d[\d.,]*\s?[kmgt]?i?b", re.I)

Rates = list[tuple[float, Unit]]


def read_list(text: str) -> Listed | None:
    """Parse ciphers and rates in a line, such as "aes128-ctr: 104.167 MB/s", in either order."""
    if not any(sign in text for sign in RATE_SIGNS):
        return None
    names: list[str] = []
    rates: list[tuple[str, tuple[float, Unit]]] = []
    label = _TITLE.match(text)
    is_sentence, end = False, label.end() if label else 0
    for token in _TOKEN.finditer(text):
        if token.start() < end:
            continue
        name = token["name"] or ""
        is_cipher = bool(ssh_cipher(name) or ("-" in name and openssl_cipher(name)))
        rate = rate_of(token["rate"]) if token["rate"] else None
        if not (is_cipher or rate):
            continue
        between = text[end : token.start()]
        is_sentence = is_sentence or not _PADDING.fullmatch(between)
        if rate:
            rates.append((names[-1] if names else "", rate))
        names += [name] if is_cipher else []
        end = token.end()
    if len(set(names)) == 1:
        rates = [(names[0], rate) for _, rate in rates]
    if names and "" in dict(rates):
        if [name for name, _ in rates] == ["", *names[:-1]]:  # each rate precedes its cipher
            rates = [(name, rate) for name, (_, rate) in zip(names, rates, strict=True)]
        else:
            rates, is_sentence = [pair for pair in rates if pair[0]], True
    mac = re.search(MAC, text) if "mac-" in text else None
    if not rates or not (names or mac):
        return None
    rates_of: dict[str, Rates] = {name: [] for name in names or [""]}
    for name, rate in rates:
        value = rate[0] * rate[1].decimal
        others = (number * unit.decimal for number, unit in rates_of[name] if unit != rate[1])
        if not any(isclose(value, other, rel_tol=0.06) for other in others):
            rates_of[name].append(rate)  # not the same in another unit: 845 MB/s (6760 Mbit/s)
    remark = text if is_sentence else text[end:]
    is_sentence = is_sentence or not (_REMARK.match(remark) or _PADDING.fullmatch(remark))
    remark = text if label else remark
    return Listed(
        tuple((name, tuple(own)) for name, own in rates_of.items() if own),
        _caveat(text, [rate for _, rate in rates], is_sentence),
        remark,
        mac_name(mac[0]) if mac else None,
        name if label and is_name(name := label[1] or label[2]) else "",
    )


def _caveat(text: str, rates: Rates, is_sentence: bool) -> str:
    if _RANGE.search(text):
        return "a range, not a single rate"
    caveat = "in prose, not in command output" if is_sentence else ""
    return next((unit.caveat for _, unit in rates if not unit.clear), caveat)
