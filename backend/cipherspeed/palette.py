"""Assign a colour to each cipher. A cipher has the same colour in every chart.

`COLOURS` contains the same colours as `frontend/src/palette.css`, for exported charts.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """Define ciphers that share a hue. `key`: name of the hue in the style sheet."""

    key: str
    label: str
    pattern: str


# In display order; the first match applies.
FAMILIES = (
    Family("aes-gcm", "AES-GCM", r"^(id-)?aes-?\d+-gcm|^aead_aes"),
    Family("chacha20", "ChaCha20", r"chacha"),
    Family("aes-ctr", "AES-CTR", r"^(id-)?aes-?\d+-ctr"),
    Family("aes-cbc", "AES-CBC", r"^(id-)?aes-?\d+-cbc|^rijndael"),
    Family("aes-other", "AES, other modes", r"aes"),
    Family("3des", "3DES", r"^3des|des-?ede"),
    Family("blowfish", "Blowfish", r"^blowfish|^bf"),
    Family("rc4", "RC4 (arcfour)", r"^arcfour|^rc4"),
    Family("cast", "CAST", r"^cast"),
    Family("camellia", "Camellia", r"^camellia"),
    Family("other", "Others", r""),
)

_KEY_SIZE = re.compile(r"(?<!\d)(128|192|256)(?!\d)")
_STEPS = {"128": 1, "192": 2, "256": 3}


def family(cipher: str) -> Family:
    return next(known for known in FAMILIES if re.search(known.pattern, cipher.lower()))


def colour_slot(cipher: str) -> str:
    """Return the name of the colour in the style sheet, such as "aes-gcm-3" for 256-bit AES-GCM."""
    size = _KEY_SIZE.search(cipher)
    return f"{family(cipher).key}-{_STEPS[size[1]] if size else 2}"


def cipher_order(cipher: str) -> tuple[int, int, str]:
    slot = colour_slot(cipher)
    return (FAMILIES.index(family(cipher)), int(slot[-1]), cipher)


def short_names(ciphers: Iterable[str]) -> Mapping[str, str]:
    """Return the name of each cipher without "@openssh.com", by full name.

    If two ciphers would have the same short name, both keep the full name.
    """
    names = {cipher: cipher.partition("@")[0] or cipher for cipher in ciphers}
    seen = Counter(names.values())
    return {cipher: short if seen[short] == 1 else cipher for cipher, short in names.items()}


_OF_FAMILIES = {
    "aes-gcm": ("#4260b3", "#314d9e", "#203a89"),
    "aes-ctr": ("#32a2a9", "#0e8e95", "#0f787e"),
    "aes-cbc": ("#4a9b70", "#2a7a53", "#08502f"),
    "aes-other": ("#767fb7", "#636ca2", "#51598e"),
    "chacha20": ("#ba65ee", "#a550d8", "#913ac2"),
    "3des": ("#c10708", "#a10003", "#810203"),
    "blowfish": ("#c06505", "#a55605", "#8a4704"),
    "cast": ("#78635b", "#665149", "#534038"),
    "rc4": ("#ae0291", "#900178", "#740060"),
    "camellia": ("#7d9e65", "#6a8a52", "#57773f"),
    "other": ("#717585", "#5e6272", "#4d505f"),
}

COLOURS = {
    f"{key}-{step}": colour
    for key, colours in _OF_FAMILIES.items()
    for step, colour in enumerate(colours, start=1)
}


def colour(cipher: str) -> str:
    return COLOURS[colour_slot(cipher)]
