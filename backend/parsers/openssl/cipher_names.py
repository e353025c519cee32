"""From a label that `openssl speed` prints to the cipher it names."""

import re
from functools import lru_cache
from typing import Literal

Kind = Literal["cipher", "other", "evp", "unknown"]
"""`other`: an algorithm that is no cipher (digest, MAC, key exchange). `evp`: a bare "evp",
which says how a cipher was called but not which."""

_PART = (
    r"(?:cbc|ecb|[co]fb(?:1|8|64|128)?|ctr|gcm|ccm|ocb|xts|ige|siv|wrap|pad|inv|cts|cnt|12"
    r"|ede3?|40|64|128|mgm|acpkm|omac|master|kexp15|hmac|md5|sha1|sha256)"
)
"""What may follow a name: modes, and what is built with them. A label cut short is none of it."""
_CIPHER = re.compile(
    rf"(?:aes|aria|camellia)-(?:128|192|256)(?:-{_PART}){{1,4}}"
    rf"|(?:des|desx|rc2|rc5|bf|cast5|idea|seed|sm4|kuznyechik|magma)(?:-{_PART}){{1,4}}"
    rf"|rc4(?:-{_PART}){{0,2}}|chacha20(?:-poly1305)?|gost89(?:-{_PART}){{0,2}}"
)
_OTHER = re.compile(
    r"(?:md[245]|mdc-?2|sha|rmd|ripemd|whirlpool|blake2|sm[23]|keccak|[khcg]mac|ghash|poly1305"
    r"|siphash|streebog|md_gost|rand|rsa|dsa|ecdsa|ecdh|eddsa|ed25519|ed448|x25519|x448|ffdh)"
    r"[\w()/.-]*"
)
_WHOLE = {
    "des-ede3": "des-ede3-cbc",
    "3des": "des-ede3-cbc",
    "des3": "des-ede3-cbc",
    "blowfish": "bf-cbc",
    "cast": "cast5-cbc",
    "cast5": "cast5-cbc",
    "idea": "idea-cbc",
    "seed": "seed-cbc",
    "rc2": "rc2-cbc",
    "rc5": "rc5-cbc",
    "arcfour": "rc4",
}
"""What the short names of the tool's own list of algorithms stand for: their mode is CBC."""

_SPELLINGS = (
    (re.compile(r"id-(aes)(\d{3})-"), r"\1-\2-"),  # names of objects: id-aes128-GCM
    (re.compile(r"(aes|camellia|aria)(128|192|256)-"), r"\1-\2-"),  # aliases: aes128-cbc
    (re.compile(r"blowfish-"), "bf-"),
    (re.compile(r"cast-"), "cast5-"),
    (re.compile(r"rc5-\d+/\d+"), "rc5"),  # word size and rounds
    (re.compile(r"(?:3des|des3)-"), "des-ede3-"),
)

_DIRECTION = re.compile(r"[- ][(\[]?(?P<way>en|de)c(?:rypt(?:ion|ing)?)?[)\]]?$", re.I)
"""Which way a row was measured, as people add it to its label: "aes-128-cbc (decrypt)"."""


def is_decryption(label: str) -> bool | None:
    """Whether a label says that it is about decryption; None where it says nothing of that."""
    found = _DIRECTION.search(label.strip())
    return None if found is None else found["way"].lower() == "de"


@lru_cache(maxsize=512)
def kind_of(label: str) -> Kind:
    """What sort of algorithm a printed label names."""
    if canonical_cipher(label):
        return "cipher"
    name = _joined(label)
    if name == "evp":
        return "evp"
    return "other" if _OTHER.fullmatch(name) else "unknown"


@lru_cache(maxsize=512)
def canonical_cipher(label: str) -> str | None:
    """ "aes-128 cbc", "AES-128-CBC" -> "aes-128-cbc"; None if the label names no cipher."""
    label = _DIRECTION.sub("", label.strip())
    # An upper-case DES-EDE3 comes from EVP, where the name means ECB, not the tool's own CBC.
    if label == "DES-EDE3":
        return "des-ede3"
    name = _joined(label)
    for spelling, usual in _SPELLINGS:
        found = spelling.match(name)
        if found:
            name = found.expand(usual) + name[found.end() :]
    name = _WHOLE.get(name, name)
    return name if _CIPHER.fullmatch(name) else None


def _joined(label: str) -> str:
    return "-".join(label.lower().split())
