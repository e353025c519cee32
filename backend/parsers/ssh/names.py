"""Names of ciphers and MACs that some SSH program has offered, and how people shorten them."""

import re
from dataclasses import dataclass

_UNMISTAKABLE = re.compile(
    r"""(?:aes|camellia|serpent|twofish|rijndael)(?:128|192|256)-(?:cbc|ctr)(?:@openssh\.org)?
    |aes(?:128|256)-gcm@openssh\.com
    |chacha20-poly1305@openssh\.com
    |arcfour(?:128|256)
    |(?:3des|blowfish|cast128)-(?:cbc|ctr|cfb|ofb)
    |rijndael-cbc@(?:lysator\.liu\.se|ssh\.com)
    |cast128-12-(?:cbc|cfb|ofb)@ssh\.com
    |(?:des|seed|rc2)-(?:cbc|ctr)@ssh\.com
    |crypticore128@ssh\.com|acss@openssh\.org""",
    re.X,
)

_ALONE_UNCERTAIN = frozenset([
    "arcfour", "blowfish", "3des", "des", "idea", "twofish-cbc", "idea-cbc", "idea-ctr", "des-cbc",
    "aead_aes_128_gcm", "aead_aes_256_gcm",
])  # fmt: skip
"""SSH names that other tools print, too: they count in a text that is about SSH."""

_ALIASES = {
    "aes128-gcm": "aes128-gcm@openssh.com",
    "aes256-gcm": "aes256-gcm@openssh.com",
    "chacha20-poly1305": "chacha20-poly1305@openssh.com",
    "rijndael-cbc": "rijndael-cbc@lysator.liu.se",
}

_MAC = re.compile(
    r"""(?P<name>hmac-(?:md5|sha1|ripemd160|sha2-256|sha2-512)(?:-96)?|umac-(?:32|64|96|128))
    (?P<etm>-etm)?(?P<domain>@openssh\.com|@ssh\.com)?""",
    re.X,
)

_SSH_WORDS = ("ssh", "scp", "sftp", "dropbear", "-cbc", "-ctr", "arcfour", "no matching")
_ABOUT_SSH = re.compile(
    r"(?<![a-z])(?:open)?ssh(?:d|[_ -]|\b)|\bscp\b|\bsftp\b|\bdropbear|@openssh\.com"
    r"|no matching (?:cipher|mac)|\b(?:aes(?:128|192|256)|3des|blowfish|cast128)-(?:cbc|ctr)\b"
    r"|\barcfour(?:128|256)\b",
    re.I,
)


@dataclass(frozen=True)
class CipherName:
    """A cipher: SSH's own name for it, and the name as printed."""

    name: str
    label: str
    unmistakable: bool


def cipher_name(text: str) -> CipherName | None:
    """The cipher that `text` names, None for a name SSH never had."""
    lower = text.lower()
    if _UNMISTAKABLE.fullmatch(lower):
        return CipherName(lower, text, True)
    if lower in _ALIASES:
        return CipherName(_ALIASES[lower], text, False)
    if lower in _ALONE_UNCERTAIN:
        return CipherName(lower, text, False)
    return None


def mac_name(text: str) -> str | None:
    """The MAC that `text` names, with the domain that its short form leaves out."""
    found = _MAC.fullmatch(text.lower())
    if found is None:
        return None
    private = found["etm"] or found["name"].startswith("umac")
    domain = found["domain"] or ("@openssh.com" if private else "")
    return f"{found['name']}{found['etm'] or ''}{domain}"


def is_about_ssh(text: str) -> bool:
    """Whether the line speaks of SSH or names a cipher that only SSH calls so."""
    lower = text.lower()
    return any(word in lower for word in _SSH_WORDS) and _ABOUT_SSH.search(text) is not None
