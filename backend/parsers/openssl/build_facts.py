"""Version lines, build facts, masks and prompts around a table of `openssl speed`."""

import re

_PRODUCT = r"(?:OpenSSL|LibreSSL|SSLeay|BoringSSL|AWS-LC|OpenSSL-fips)"
_VERSION = re.compile(
    rf"\s*(?:[*>#-] +)?(?:version:? *)?(?P<name>{_PRODUCT},? v?\d\S*(?: .*)?)", re.I
)
_BARE_VERSION = re.compile(r"\s*version: *(?P<number>\d+\.\d\S*)(?: .*)?", re.I)
_IN_BRACKETS = re.compile(rf"^(\s*{_PRODUCT}) \(version (\S{{1,40}}), ")
_VERSION_TAIL = re.compile(
    r"[\s(]*(?:\[engine\] )?(?:built on )?(?:FIPS )?"
    r"(?:\d{1,2}[ -]|[A-Z][a-z]{2}[ -]|xx |- |gcc|cc |\(|\+|$)"
)
_FACT = re.compile(
    r"\s*(?P<name>built on|platform|options|compiler|C flags|CPUINFO|OPENSSLDIR|ENGINESDIR"
    r"|MODULESDIR|Seeding source)(?P<colon>:?) *(?P<value>.*)"
)
_NOTICE = re.compile(
    r"\s*(?:The .numbers. are in 1000s of bytes per second|\(The .numbers. are in 1000s"
    r"|You have chosen to (?:measure|use)|To get the most accurate results, try to run"
    r"|program when this computer is idle|available timing options|timing function used"
    r"|[Ee]ngine \"[^\"]*\" set|/dev/crypto not present|WARNING: can't open config file"
    r"|First we calculate the approximate speed|\.\.\.$"
    r"|internal error|External engine|speed: \S+ is an unknown cipher)"
)
_DATE = re.compile(r"[A-Z][a-z]{2} |\d|date not")
_SUPERFLUOUS = ("", "n/a", "information not available", "date not available", "not available")
_KEYS = {
    "built on": "built_on",
    "platform": "platform",
    "options": "options",
    "compiler": "compiler",
    "C flags": "compiler",
    "CPUINFO": "cpu_settings",
}
FACT_LIMIT = 2000
"""Characters of one fact that are kept."""

_ASKS_VERSION = re.compile(
    r"\s*\S{0,80}[#$%>] +(?:sudo +)?[\w./~-]{0,60}(?:openssl|ssleay)[\w.-]{0,20} +version\b"
)
_PROMPT = re.compile(r"\s*\[?(?P<user>[\w.-]+)@(?P<host>[\w.-]+)[: ][^#$%>]{0,200}[#$%>]( |$)")
_SHELL = re.compile(r"\s*(?:(?:\S{0,80}[#$%>]|PS [A-Z]:\\[^>]{0,200}>) |[A-Z]:\\[^>]{0,200}>)")
_MASK = r"[0-9a-fA-Fx:~]{1,200}(?![0-9a-fA-Fx:~])"
"""No longer than several times what any version takes: more is none."""
_CAPABILITIES = re.compile(
    r"\bOPENSSL_(?P<name>ia32cap|armcap|ppccap)\s*=\s*[\"'“”‘’″´`]?"
    rf"(?P<mask>{_MASK})"
)
_ENVIRONMENT_MASK = re.compile(rf"\benv:(?P<mask>{_MASK})")
_STANDING = re.compile(r"\s*(?:\S{0,80}[#$%>] )?(?:export|setenv|set|\$env:)\W?", re.I)
_UNSET = re.compile(r"\bunset(?:env)? +OPENSSL_\w*cap")
_SAID_MASKED = re.compile(
    r"\baes-?ni (?:is |was |are )?(?:disabled|turned off|switched off|masked|off)\b"
    r"|\b(?:without|no|disabl(?:ed|ing)|mask(?:ed|ing)) (?:hardware )?aes-?ni\b"
)
_X86_AES, _X86_FXSR, _ARM_AES, _PPC_AES = 57, 24, 2, 2
"""Bits: OpenSSL turns AES-NI off with FXSR, too (OPENSSL_ia32cap(3))."""


def read_version(text: str) -> str | None:
    """A version line in one of its spellings, as "OpenSSL 3.0.19 27 Jan 2026"."""
    if not any(sign in text for sign in ("SSL", "version", "ssleay", "AWS-LC")):
        return None
    bare = _BARE_VERSION.fullmatch(text)
    if bare:
        return f"OpenSSL {bare['number']}"
    bracketed = _IN_BRACKETS.match(text)
    if bracketed:
        text = _IN_BRACKETS.sub(r"\1 \2, ", text).rstrip(" )")
    found = _VERSION.fullmatch(text)
    if found is None or len(found["name"]) > 200:
        return None
    name = found["name"].strip()
    words = name.split(maxsplit=2)
    tail = words[2] if len(words) > 2 else ""
    # "OpenSSL 3.0 is slower" is a sentence, "OpenSSL 1.0.1e-fips 11 Feb 2013" a version line.
    return name.rstrip(":,") if _VERSION_TAIL.match(tail) or not tail else None


def read_fact(text: str) -> tuple[str | None, str] | None:
    """Key in `environment.openssl` and value of a build fact; key None: known, but not kept."""
    found = _FACT.fullmatch(text) if ":" in text or "built on" in text else None
    if found is None or (not found["colon"] and found["name"] != "built on"):
        return None
    value = found["value"].strip()
    if not found["colon"] and not _DATE.match(value):
        return None
    if found["name"] == "built on":
        value = value.removeprefix("built on:").strip()
    kept = value.lower() not in _SUPERFLUOUS
    return (_KEYS.get(found["name"]) if kept else None), value[:FACT_LIMIT]


def is_wrapping_fact(text: str) -> bool:
    """Whether a fact is of a kind long enough to be wrapped onto further lines."""
    return text.lstrip().startswith(("options:", "compiler:", "C flags:", "compiler "))


def is_notice(text: str) -> bool:
    """Whether `openssl speed` itself prints such a line, without a fact in it."""
    return _NOTICE.match(text) is not None


def is_prompt(text: str) -> bool:
    """Whether a line looks typed at a prompt."""
    return typed_part(text) is not None


def typed_part(text: str) -> str | None:
    """What stands behind a shell's prompt; None where there is none."""
    found = _PROMPT.match(text) or _SHELL.match(text)
    return text[found.end() :] if found else None


def prompt_host(text: str) -> str | None:
    """The machine that a shell prompt names."""
    found = _PROMPT.match(text)
    return None if found is None or found["host"] == "localhost" else found["host"][:100]


def stated_mask(text: str) -> str | None:
    """The capability mask that a line sets: "OPENSSL_ia32cap=~0x200000200000000"."""
    found = _CAPABILITIES.search(text)
    return f"OPENSSL_{found['name']}={found['mask']}" if found else None


def is_standing_mask(text: str) -> bool:
    """Whether a mask holds for all later commands: `export OPENSSL_ia32cap=...`."""
    return stated_mask(text) is not None and _STANDING.match(text) is not None


def asks_version(text: str) -> bool:
    """Whether a line is the command whose answer is a version line."""
    return _ASKS_VERSION.match(text) is not None


def is_unset(text: str) -> bool:
    """Whether a line ends a standing mask."""
    return _UNSET.search(text) is not None


def says_masked(text: str) -> bool:
    """Whether a sentence says that the AES hardware was off."""
    lowered = text.lower()
    return "aes" in lowered and _SAID_MASKED.search(lowered) is not None


def turns_aes_off(mask: str) -> bool:
    """Whether a setting such as "OPENSSL_ia32cap=~0x200000200000000" turns hardware AES off."""
    name, _, value = mask.partition("=")
    first = value.split(":")[0]
    clears = first.startswith("~")
    try:
        bits = int(first.removeprefix("~")[:40], 0)
    except ValueError:
        return False
    relevant = {
        "OPENSSL_ia32cap": (_X86_AES, _X86_FXSR),
        "OPENSSL_armcap": (_ARM_AES,),
        "OPENSSL_ppccap": (_PPC_AES,),
    }.get(name, ())
    return any(bool(bits >> bit & 1) == clears for bit in relevant)


def mask_in_settings(settings: str) -> str | None:
    """The mask that CPUINFO repeats after "env:", with the variable's name before it."""
    name = re.match(r"OPENSSL_(?:ia32cap|armcap|ppccap)", settings)
    found = _ENVIRONMENT_MASK.search(settings)
    return f"{name[0]}={found['mask']}" if name and found else None
