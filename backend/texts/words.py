import re
from functools import lru_cache
from typing import NamedTuple

_DEACTIVATED = r"d[eéi]s?a\w{0,2}tiv\w*|(?:aus|ab)geschaltet\w*|(?:от|вы)ключ\w*"
_NO = (
    r"(?:without|w/o|w/out|w\.o\.|no|not using|non|ohne|sans|bez|без|utan|zonder|sin|senza|sem"
    rf"|uden|uten|ilman|disabl(?:ed?|ing)|mask(?:ed|ing)|turn(?:ed|ing) off|{_DEACTIVATED}"
    r"|关闭|禁用|不使用|未使用|未启用|无|没有|無効)"
)
_OFF = (
    r"(?:disabled|off|masked|turned off|switched off|aus|d\w{1,3}abilita[dt][oa]|uitgeschakeld|av"
    rf"|{_DEACTIVATED}|关闭|禁用|無効|hidden|unavailable|not (?:used|available|enabled))"
)
_AES = (
    r"(?:(?:hardware|hw|cpu|intel|x86) ?)?(?:aes[- _]?ni|aes instructions?|aes hardware"
    r"|aes[- ]?(?:hw|hardware)? ?(?:accel\w{0,12}|support|extensions?)|padlock"
    r"|(?:hardware|hw) (?:aes|crypto)|(?:armv8 )?crypto\w* extensions?|(?:ia32|arm)cap|硬件加速)"
)
_NO_AES = rf"(?:{_NO}\s|\bno-)aes(?![\w-])|不加速|\baes (?:disabled|off)"
_AES_OFF = re.compile(
    rf"(?:^|[\s(,;/+-]){_NO}[\s_:-]{{0,3}}(?:the |any |der |de |l'|d')?{_AES}(?![\w-])"
    rf"|(?:^|[^\w]){_AES}[\s(=:_-]{{0,3}}(?:is |was |are |were |ist |est )?{_OFF}(?!\w)"
    rf"|{_NO}{_AES}|{_NO_AES}|OPENSSL_(?:ia32|arm)cap\s?=|software aes|aes in software",
    re.I,
)
_AES_ON = re.compile(
    r"(?:with|w/|mit|avec|med|met|con|com|с|s|using|use|has|have|启用|开启)"
    rf"[\s_:-]{{0,3}}(?:{_AES}|aes)(?![\w-])"
    rf"|{_AES}[\s(=:_-]{{0,3}}(?:is |was |are )?"
    r"(?:enabled|on(?! (?:the|my|our|a) )|active|aktiv\w*|activée?|used)(?!\w)",
    re.I,
)
_LACKED = re.compile(r"(?<=\S )[(（][^()（）]*(?:\bno |没有 ?|无 ?)aes[^()（）]*[)）]", re.I)
_AES_ALONE = re.compile(r"\W*(?:masked|(?P<on>unmasked|defaults?|normal))\W*", re.I)
_AES_NAMED = re.compile("aes|accel|software|crypto|加速|padlock|(?:32|arm)cap")
_COMPRESSED = re.compile(
    r"(?<!no[ -])(?<!without[ -])(?<!w/o )(?<!ohne )(?<!sans )\b(?:with |mit |avec )?"
    r"(?:compression|compressed|kompression|komprimiert)(?!\s?(?:=|:|is)?\s?(?:no\b|off|none|disabled|aus))",
    re.I,
)
_DECRYPT = re.compile(r"\bdecrypt(?:ion|ing|ed)?\b|entschlüssel|déchiffr|расшифр|解密", re.I)
_SEVERAL = re.compile(
    r"(?<![\w.-])(?:[2-9]|[1-9]\d{1,2})\s?(?:x |× ?)?"
    r"(?:threads?|process(?:es)?|processus|prozesse|jobs|procs|streams|connections|instances|parallel|parallele|потоков|线程)(?!\w)"
    r"|(?<!no )-multi\b|\bmulti[- ]?(?:thread(?:ed)?|process|core)\b(?! performance)"
    r"|\ball (?:cores|threads|cpus)\b"
    r"|\bMT-|(?<!crypts in )\bparallele?\b|\bconcurrent",
    re.I,
)
_SINGLE = re.compile(r"\b(?:single|one|1)[- ]?(?:thread|process|core)", re.I)
_BLOCK_SIZE = re.compile(
    r"(?<![\w.,])(16|64|256|1024|8192|16384|(?:[148]|16)(?= ?k))[ -]?"
    r"(?:(k)(?:i?b|[ -]?bytes?)?|bytes?)(?![\w/])|(?<=-bytes )(\d{2,6})\b",
    re.I,
)
_COMPARED = re.compile(
    r"\b(?:vs\.?|versus|against|gegen|contre|compared)\s"
    r"|\b(?:with|mit|avec|w/|on|enabled|masked)(?: ?/ ?| and (?:then )?| und | et | & )"
    r"(?:without|w/o|ohne|sans|off|disabled|normal|default|unmasked)",
    re.I,
)
SENTENCE = 70


@lru_cache(maxsize=64)
def aes_in(text: str) -> str:
    if alone := _AES_ALONE.fullmatch(text):
        return "on" if alone["on"] else "off"
    if text.strip(" :()=#*").lower() in ("software", "hardware"):
        return "unclear"
    if not _AES_NAMED.search(text.lower()):
        return ""
    if _LACKED.search(text):
        return "lacking"
    off = _AES_OFF.search(text)
    if off and _COMPARED.search(text):
        return ""
    if off and _AES_ON.search(text.replace(off[0], " ")):
        return "unclear"
    if off:
        return "off" if len(text) <= SENTENCE else "unclear"
    return "on" if _AES_ON.search(text) else ""


class Setting(NamedTuple):
    aes: str = ""
    compressed: bool = False
    operation: str = ""
    several: bool = False
    is_single: bool = False

    @classmethod
    @lru_cache(maxsize=512)
    def of(cls, text: str) -> "Setting":
        return cls(
            aes_in(text),
            "ompress" in text and len(text) <= SENTENCE and bool(_COMPRESSED.search(text)),
            "decrypt" if _DECRYPT.search(text) and "encrypt" not in text.lower() else "",
            bool(_SEVERAL.search(text)) and "GHz" not in text and not _SINGLE.search(text),
            bool(_SINGLE.search(text)),
        )

    def under(self, outer: "Setting") -> "Setting":
        if not any(outer):
            return self
        return Setting._make(own or other for own, other in zip(self, outer, strict=True))


def block_size_in(text: str) -> int | None:
    """Return the only block size in words such as "8 KB blocks" or "16384 bytes"."""
    sizes = {
        int(size or option) * (1024 if kilo else 1)
        for size, kilo, option in _BLOCK_SIZE.findall(text)
    }
    return sizes.pop() if len(sizes) == 1 else None


_GENERIC_WORDS = """
    a an and are at below by each first for from here in is it last like mode new next now of on one
    other own second so some speed test testing tested the then these this those to up using via
    what with without here's my our your result output numbers benchmark bench measured measurement
    performance throughput rate run try loop cipher crypto cryptography encryption encrypt decrypt
    encrypted decryption algorithm openssl ssh openssh scp sftp rsync dd time evp elapsed real user
    system cpu aes aes-ni aesni hardware software accelerated acceleration hw enabled disabled off
    cbc ctr gcm ecb cfb ofb xts rc4 blowfish arcfour chacha20 digest hash hashes block size byte kb
    mb gb mb/s mib/s default best fastest mac bandwidth average summary table code bash sh shell
    console text log raw example before after again more data transfer bulk msg stdout local
    localhost loopback command ergebnis ergebnisse mit ohne und der die das ist non-evp de"""
_GENERIC = frozenset(_GENERIC_WORDS.split())
_WORD = re.compile(r"[^\W_][^\s,;:|()\[\]]*")
_SENTENCE_WORDS = re.compile(
    r"\b(?:is|are|was|were|has|have|had|i|we|you|it|this|that|can|will|would|should|do|does|did|not"
    r"|let|please|thanks|see|try|also|just|then|because|but|so|get|got|ist|sind|wird|est|sont)\b",
    re.I,
)
_NO_HEADING = re.compile(
    r"[.!?,;]$|^-?[rwx-]{9}\s|\$[\w{(]"
    r"|(?:^|\s)-[WDf]\w|\((?:idx|ptr|int)\b|&&|\d\s+\d+\s+\d|\d ?[kmgкмг]i?[bб]/",
    re.I,
)
LEADING = re.compile(r"^[\s#=*•>-]*(?:\(?\d{1,2}[.)]\s)?\s*")


@lru_cache(maxsize=256)
def is_name(heading: str) -> bool:
    """Return whether a heading may be the name of a host, a build or another setting."""
    if _AES_NAMED.search(heading.lower()):
        heading = _AES_ON.sub(" ", _AES_OFF.sub(" ", heading))
    words = (word.lower().strip("'\".-") for word in _WORD.findall(heading))
    plain = (word for word in words if word and not word[0].isdigit())
    return any(_GENERIC.isdisjoint((word, word.removesuffix("s"))) for word in plain)


def is_heading(text: str) -> bool:
    plain = text.strip()
    if len(plain) > 100 or len(plain.split()) > 12 or _NO_HEADING.search(plain):
        return False
    return plain[-1] in ":：" or not _SENTENCE_WORDS.search(plain)
