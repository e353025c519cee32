import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

from cipherspeed.types import Operation, TargetKind, Tool
from texts.ciphers import mac_name, openssl_cipher, ssh_cipher
from texts.prompts import PROGRAMS, SOURCES, STARTERS, is_typed

LENGTH_LIMIT = 4_000
SHELLS = frozenset(("ssh", "hpnssh", "dbclient"))
COPIERS = frozenset(("scp", "hpnscp", "sftp", "rsync"))
INTERPRETERS = {"sh", "ash", "bash", "dash", "ksh", "zsh", "eval", "ansible", "hyperfine"}
LETTERS_WITH_VALUE = {
    "ssh": "bBcDEeFIiJLlmOopQRSWw", "hpnssh": "bBcDEeFIiJLlmOopQRSWw", "dbclient": "bBciIJKLlmopRW",
    "scp": "cDFiJloPSX", "hpnscp": "cDFiJloPSX", "sftp": "bBcDFiJloPRSsX", "rsync": "eBMTf",
    "pv": "sLNDiHwFBARECPdZ", "head": "cn", "truncate": "sr", "fallocate": "lo",
}  # fmt: skip
WORDS_WITH_VALUE = frozenset((
    "evp", "cipher", "seconds", "bytes", "multi", "engine", "provider", "provider-path", "config",
    "propquery", "rand", "writerand", "hmac", "cmac", "primes", "async_jobs", "size", "rsh",
))  # fmt: skip
AES_BITS = {"OPENSSL_ia32cap": (57, 24), "OPENSSL_armcap": (2,), "OPENSSL_ppccap": (2,)}
UNUSUAL = {
    "several transfers at once": (
        r"(?<![&<>|])&(?:\s+(?:done|end|\})|(?![&>\d]).{0,200}\bs(?:sh|cp)\b)"
        r"|\bxargs\b[^|;]{0,80}\s-P ?(?!1\b)\d|\bparallel\s"),
    "without encryption": "(?i)none(?:enabled|switch)=yes",
    "compressor or rate limit": (
        r"\b(?:s(?:cp|ftp)\b[^|;&]{0,150}\s-l ?\d|pv\b[^|;&]{0,150}\s-\w*L|tar\s+-?\w*[zjJ]"
        r"|mbuffer\b[^|;&]{0,150}\s-\w*[rR]|rsync\b[^|;&]{0,150}\s-\w*z|(?:cpulimit|trickle)\s)"
        r"|\s--(?:bwlimit|rate-l|compress|[a-z]*zip)"
        r"|(?:^|[\s|/])(?:gzip|p?bzip2|pigz|zstd|lz4|xz|lzop|zcat)(?![^\s|])"),
}  # fmt: skip

_PLAIN_SIGNS = str.maketrans({
    **dict.fromkeys("“”„″", '"'), **dict.fromkeys("‘’‚′´", "'"), **dict.fromkeys("–−‐‑‒", "-"),
    "—": "--", "\xa0": " ",
})  # fmt: skip
_TOKEN = re.compile(r"""(?sx)(?P<comment>\#(?<!\S\#)[^\n]*)|(?P<word>(?!\d[<>])
    (?:[^\s"'`\\|&;()<>$]+|"(?:[^"\\]|\\.)*"|'[^']*'|`[^`]*`
    |\$\((?:[^()]|\([^()]*\))*\)|\\.|[$"'`\\])+)
    |(?P<redirect>[\d&]?(?:<{1,3}|>{1,2})(?:&\d?-?)?)|(?P<operator>\|[|&]?|&&?|;+|[()])""")
_QUOTED = re.compile(r""""((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)""", re.S)
_SUBSTITUTION = re.compile(r"\$\(((?:[^()]|\([^()]*\))+)\)|`([^`]+)`")
_VARIABLE = re.compile(r"\$\{?\w*|%{1,2}\w\b|\{\d?\}|`")
_OPENSSL = re.compile(r"[\w.${-]{0,40}ssl[\w.}-]{0,40}|ssleay", re.I)
_LOCAL = re.compile(r"localhost(?:\.localdomain|[46])?|ip6-localhost|127(?:\.\d{1,3}){3}|::1|0")
_REMOTE_FILE = re.compile(r"(?:.*@)?(?:\[[\w:.%]+\]|[^:/@\[]{2,}):(?!:)")
_HOST = re.compile(
    r"(?:\w+://)?(?:[^@\s/]{1,80}@)?(?:\[(?P<bracketed>[\w:.%]{2,60})\]"
    r"|(?P<ipv6>[\da-f]{0,4}:[\da-f:]{1,40})|(?P<name>[\w.-]{1,100}))(?:[:/].*)?"
)
_STARTER = re.compile(rf"{STARTERS}|\w{{1,60}}=.*")
_SIZE = re.compile(r"(\d{1,15})(?:([kmgt])(i?b)?|([cwb]))?", re.I)
_CALCULATES = re.compile(r"awk|perl|python|printf|math|expr|(?<!\w)(?:bc|dc|let)(?!\w)|\$\(\(|\$\[")
_DIVIDES = re.compile(r"[\d)]\s?[*/]")
_FACTOR = r"\d{1,18}(?:\.\d{1,9})?(?:e\d{1,2})?(?![\w.])"
_PRODUCT = rf"(?:{_FACTOR}|\(\s?{_FACTOR}(?:\s?\*\s?{_FACTOR}){{0,3}}\s?\))"
_TIME = r"\$\{?\w{1,40}\}?|\$?\([^()\"']{0,80}\)|(?!s\b|sec)[a-zA-Z_]\w{0,40}"
_STEP = re.compile(rf"\s?([*/])\s?[\"']{{0,2}}(?:({_PRODUCT})|({_TIME}))")
_CHAIN = re.compile(
    rf"(?<![\w./$*])({_PRODUCT})((?:\s?[*/]\s?[\"']{{0,2}}(?:{_PRODUCT}|{_TIME})){{1,6}})"
)
_MASK = re.compile(r"(OPENSSL_\w{1,10}cap)(?:\s?=\s?|\s+)[\"']?([\w~:]{0,400})")
_SETS_MASK = re.compile(
    rf"(?:^|[;&])\s*(?:(?:export|setenv|set(?: -gx)?)\s+|\$env:)?{_MASK.pattern}[\"']?\s*(?:$|[;&])"
)
_MASKED = re.compile(r"(?:(?:env|sudo|time|\w{1,60}=\S*)\s+){0,5}OPENSSL_\w+=\S+\s+[^\s;&|#]")
_UNSETS_MASK = re.compile(r"(?:\bunset(?:env)?|\bset -e)\s+OPENSSL_\w+cap")


class Command(NamedTuple):
    text: str
    tool: Tool | None
    cipher: str | None = None
    algorithms: tuple[str, ...] = ()
    mac: str | None = None
    compression: bool = False
    masked: bool = False
    sets_mask: bool | None = None
    operation: Operation = "encrypt"
    threads: int = 1
    """Number of threads; 0 if the command computes it."""
    block_size: int | None = None
    target: str | None = None
    target_kind: TargetKind | None = None
    amount: int | None = None
    divided: float | None = None
    """Dividend that the command divides by seconds to print a rate."""
    unusual: str = ""
    name_after: bool = False
    varies: bool = False
    loop: tuple[str, ...] = ()
    copies: int = 1


class _Call(NamedTuple):
    program: str
    is_fed: bool
    options: dict[str, str]
    """Return options by name without dashes; ssh's `-o Name=value` by lower-case name."""
    operands: list[str]
    nested: list["_Call"]

    @property
    def is_speed(self) -> bool:
        return self.operands[:1] == ["speed"] and _OPENSSL.fullmatch(self.program) is not None

    @property
    def cipher(self) -> str:
        options = self.options
        return options.get("c") or options.get("ciphers") or options.get("cipher", "")

    @property
    def host(self) -> str | None:
        operands = self.operands[:1] if self.program in SHELLS | {"sftp"} else []
        if self.program in COPIERS:
            operands = [word for word in self.operands if _REMOTE_FILE.match(word)] or operands
        match = _HOST.fullmatch(operands[0]) if operands else None
        return (match["bracketed"] or match["ipv6"] or match["name"]) if match else None

    @property
    def transfers(self) -> bool:
        if self.program in COPIERS:
            return self.host is not None or bool(self.cipher)
        if self.program not in SHELLS or not self.options.keys().isdisjoint("QVG"):
            return False
        has_source = any(re.fullmatch(SOURCES, call.program) for call in _flat(self.nested))
        return self.is_fed or has_source or bool(self.cipher)


def read_command(text: str, prompted: bool) -> Command | None:
    text = text[:LENGTH_LIMIT]
    text = (text if text.isascii() else text.translate(_PLAIN_SIGNS)).strip()
    return _command(text) if text and (prompted or is_typed(text)) else None


@lru_cache(maxsize=512)
def _command(text: str) -> Command:
    calls = list(_flat(_calls(text)))
    speed = next((call for call in calls if call.is_speed), None)
    transfer = None if speed else next((call for call in calls if call.transfers), None)
    fields = _of_speed(speed) if speed else _of_transfer(text, transfer) if transfer else {}
    tool: Tool | None = "openssl" if speed else "ssh" if transfer else None
    host = next((host for call in calls if (host := call.host)), None)
    return Command(
        text,
        tool,
        **fields,
        **(_masks(text, tool) if "OPENSSL_" in text else {}),
        target=host,
        target_kind=None if host is None else "loopback" if _LOCAL.fullmatch(host) else "remote",
        amount=next((amount for call in calls if (amount := _amount(call))), None),
        divided=_divided(text),
        loop=_loop(text),
        copies=sum(call.program == "dd" for call in calls) or 1,
    )


def _masks(text: str, tool: Tool | None) -> dict[str, Any]:
    masks = _MASK.findall(text) if tool or _MASKED.match(text) else ()
    is_masked = any(mask_turns_aes_off(*mask) for mask in masks)
    return {"masked": is_masked, "sets_mask": None if tool else _sets_mask(text)}


def mask_turns_aes_off(variable: str, mask: str) -> bool:
    """Return whether a value of OPENSSL_ia32cap, such as "~0x200000200000000", disables AES."""
    first = mask.strip("\"'").partition(":")[0]
    try:
        bits = int(first.removeprefix("~")[:40], 0)
    except ValueError:
        return False
    clears = first.startswith("~")
    return any(bool(bits >> bit & 1) == clears for bit in AES_BITS.get(variable, ()))


def _sets_mask(text: str) -> bool | None:
    if _UNSETS_MASK.search(text):
        return False
    setting = _SETS_MASK.search(text)
    return mask_turns_aes_off(setting[1], setting[2]) if setting else None


def _calls(text: str, depth: int = 0) -> Iterator[_Call]:
    words: list[str] = []
    is_piped, is_target, is_fed = False, False, False
    for token in _TOKEN.finditer(f"{text}\n;"):
        kind, raw = token.lastgroup, token[0]
        if kind == "word" and not is_target:
            words.append(raw)
        elif kind in ("word", "redirect"):
            is_fed |= "<" in raw and kind == "redirect"
            is_target = kind == "redirect" and "&" not in raw[1:]
        elif kind == "operator":
            if words:
                yield _call(words, is_piped or is_fed, depth)
            is_piped = raw[0] == "|" or (is_piped and raw == "(")
            words, is_target, is_fed = [], False, False


def _flat(calls: Iterable[_Call]) -> Iterator[_Call]:
    for call in calls:
        yield call
        if call.nested:
            yield from _flat(call.nested)


def _call(raw: Sequence[str], is_fed: bool, depth: int) -> _Call:
    words = [_QUOTED.sub(lambda match: match[match.lastindex or 0], word) for word in raw]
    at, names = 0, [_name(raw[0])]
    if "speed" in words or _STARTER.fullmatch(names[0]):
        names += map(_name, raw[1:])
        at = _program_at(words, names)
    program = names[at] if at < len(names) else ""
    options, operands = _arguments(program, words[at + 1 :])
    inner = words[at + 1 :] if program in INTERPRETERS else []
    inner += [match[1] or match[2] for word in raw for match in _SUBSTITUTION.finditer(word)]
    if program in SHELLS:
        inner.append(" ".join(operands[1:]))
    nested = [call for text in inner for call in _calls(text, depth + 1)] if depth < 3 else []
    if program == "rsync":
        for call in _calls(options.get("e") or options.get("rsh") or "", depth=3):
            options = options | call.options
    return _Call(program, is_fed, options, operands, nested)


def _name(word: str) -> str:
    return word.strip("\"'").replace("\\", "/").rpartition("/")[2].removesuffix(".exe")


def _program_at(words: Sequence[str], names: Sequence[str]) -> int:
    first = next((at for at, name in enumerate(names) if not _STARTER.fullmatch(name)), len(names))
    for at, name in enumerate(names):
        if (
            words[at + 1 : at + 2] == ["speed"]
            and _OPENSSL.fullmatch(name)
            and (SHELLS | {"echo"}).isdisjoint(names[:at])
        ):
            return at
        if at >= first > 0 and re.fullmatch(PROGRAMS, name):
            return at
    return first


def _arguments(program: str, words: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    options: dict[str, str] = {}
    operands: list[str] = []
    is_speed = words[:1] == ["speed"]
    remaining = iter(words)
    for word in remaining:
        if word[:1] != "-" or word == "-":
            operands.append(word)
            if program in SHELLS and len(operands) > 1 and word != "-":
                operands += remaining
            continue
        name, equals, value = word.lstrip("-").partition("=")
        if is_speed or (word.startswith("--") and len(name) != 1):
            takes_next = name in WORDS_WITH_VALUE and not equals
            options[name] = next(remaining, "") if takes_next else value
            continue
        flags, letter, value = _cluster(word.lstrip("-"), LETTERS_WITH_VALUE.get(program, ""))
        options |= dict.fromkeys(flags, "")
        options[letter] = value = value or next(remaining, "") if letter else ""
        if letter == "o":
            key, _, setting = value.replace("=", " ", 1).strip().partition(" ")
            options.setdefault(key.lower(), setting.strip())
    return options, operands


def _cluster(letters: str, with_value: str) -> tuple[str, str, str]:
    at = next((at for at, letter in enumerate(letters) if letter in with_value), len(letters))
    return letters[:at], letters[at : at + 1], letters[at + 1 :]


def _of_transfer(text: str, call: _Call) -> dict[str, Any]:
    options = call.options
    is_compressed = "C" in options or options.get("compression") == "yes"
    variable = _VARIABLE.search(call.cipher)
    return {
        "cipher": ssh_cipher(_first_name(call.cipher)),
        "mac": mac_name(_first_name(options.get("m") or options.get("macs") or "")),
        "compression": is_compressed and call.program != "rsync",
        "varies": variable is not None,
        "unusual": next((why for why, sign in UNUSUAL.items() if re.search(sign, text)), ""),
        "name_after": bool(variable and _prints_after(text, variable[0]) and not _divided(text)),
    }


def _loop(text: str) -> tuple[str, ...]:
    listed = re.search(r"\bfor(?:each\s+\w{1,40}\s+\(|\s+\w{1,40}\s+in\s)([^;$`)]{3,600})", text)
    ciphers = [ssh_cipher(word) for word in listed[1].split()] if listed else []
    return tuple(filter(None, ciphers)) if all(ciphers) else ()


def _first_name(names: str) -> str:
    return names.partition(",")[0].strip("^:. ")


def _prints_after(text: str, variable: str) -> bool:
    name = re.escape(variable)
    used = re.search(rf"(?:-\w*c|Ciphers?)[= ]?[\"']?{name}", text)
    printed = re.search(rf"\b(?:echo|printf)\b[^|;&]{{0,100}}?{name}", text)
    return bool(used and printed and used.start() < printed.start())


def _of_speed(call: _Call) -> dict[str, Any]:
    options = call.options
    names = [*call.operands[1:], *(options[name] for name in ("evp", "cipher") if name in options)]
    fixed = [name.lower().strip(":,.`") for name in names if not _VARIABLE.search(name)]
    return {
        "cipher": openssl_cipher(fixed[0]) if len(fixed) == len(names) == 1 else None,
        "algorithms": tuple(fixed),
        "operation": "decrypt" if "decrypt" in options else "encrypt",
        "threads": _number(options.get("multi") or options.get("async_jobs") or "1") or 0,
        "block_size": _number(options.get("bytes", "")),
    }


def _number(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[1-9][0-9]{0,8}", text) else None


def _amount(call: _Call) -> int | None:
    options = call.options
    size = options.get("s") or options.get("size") or options.get("l") or ""
    if call.program == "dd":
        return _amount_of_dd(dict(word.partition("=")[::2] for word in call.operands))
    if call.program == "head":
        return _size(options.get("c") or options.get("bytes", ""))
    is_sized = call.program == "pv" and {"S", "stop-at-size"} & options.keys()
    return _size(size) if is_sized or call.program in ("truncate", "fallocate") else None


def _amount_of_dd(operands: dict[str, str]) -> int | None:
    count = operands.get("count", "")
    if count.endswith("B"):
        return _number(count[:-1])
    counts_bytes = "count_bytes" in operands.get("iflag", "")
    blocks = _size(count)
    size = 1 if counts_bytes else _size(operands.get("bs") or operands.get("ibs") or "512")
    return blocks * size if blocks and size else None


@lru_cache(maxsize=512)
def _size(text: str) -> int | None:
    """Parse a size as dd does: 1M, 1MB, 1024x1024, $((1024*1024))."""
    size = 1
    for factor in re.split(r"[x*]", text.strip("$() "), maxsplit=3):
        match = _SIZE.fullmatch(factor.strip())
        if match is None:
            return None
        number, prefix, suffix, block = match.groups()
        thousand = 1000 if suffix in ("b", "B") else 1024
        size *= int(number) * thousand ** (" kmgt".index(prefix.lower()) if prefix else 0)
        size *= {"b": 512, "w": 2}.get(block or "", 1)
    return size if 0 < size < 10**15 else None


def _divided(text: str) -> float | None:
    """Return the dividend of a division by time: 100 in 100/$2 and in 104857600/1048576/$t."""
    text = text.replace("\\$", "$")  # within double quotes
    if "/" not in text or not _DIVIDES.search(text) or not _CALCULATES.search(text):
        return None
    for match in _CHAIN.finditer(text):
        value, times = _product(match[1]), []
        for sign, product, time in _STEP.findall(match[2]):
            if time:
                times.append(sign)
            else:
                value = value * _product(product) if sign == "*" else value / _product(product)
        if times == ["/"]:
            return value
    return None


def _product(text: str) -> float:
    return prod(float(factor) for factor in re.findall(_FACTOR, text)) or 1.0
