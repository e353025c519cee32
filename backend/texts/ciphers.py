import re
from functools import lru_cache

_PART = (
    r"(?:cbc|ecb|[co]fb(?:1|8|64|128)?|ctr|gcm|ccm|ocb|xts|ige|siv|wrap|pad|inv|cts|cnt|12"
    r"|ede3?|40|64|128|mgm|acpkm|omac|master|kexp15|hmac|md5|sha1|sha256)"
)

_OPENSSL_CIPHER = re.compile(
    rf"(?:aes|aria|camellia)-(?:128|192|256)(?:-{_PART}){{1,4}}"
    rf"|(?:des|desx|rc2|rc5|bf|cast5|idea|seed|sm4|kuznyechik|magma)(?:-{_PART}){{1,4}}"
    rf"|rc4(?:-{_PART}){{0,2}}|chacha20(?:-poly1305)?|gost89(?:-{_PART}){{0,2}}"
)
_OPENSSL_OTHER = re.compile(
    r"(?:md[245]|mdc-?2|sha|rmd|ripemd|whirlpool|blake2|sm[23]|keccak|[khcg]mac|ghash|poly1305"
    r"|siphash|streebog|md_gost|rand|rsa|dsa|ecdsa|ecdh|eddsa|ed25519|ed448|x25519|x448|ffdh"
    r"|ml-?kem|ml-?dsa|slh-?dsa|kyber|dilithium)[\w()/.-]*"
)

_SHORT_NAMES = {
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
    "chacha20-poly": "chacha20-poly1305",  # truncated by some versions
}

_OPENSSL_SPELLINGS = (
    (re.compile(r"id-(aes)(\d{3})-"), r"\1-\2-"),  # object names: id-aes128-GCM
    (re.compile(r"(aes|camellia|aria)(128|192|256)-"), r"\1-\2-"),  # aliases: aes128-cbc
    (re.compile(r"blowfish-"), "bf-"),
    (re.compile(r"([co]fb|cbc|ecb|ede3)-(des|idea|rc2|bf)$"), r"\2-\1"),  # of SSLeay
    (re.compile(r"cast-"), "cast5-"),
    (re.compile(r"rc5-\d+/\d+"), "rc5"),  # word size and rounds
    (re.compile(r"(?:3des|des3)-"), "des-ede3-"),
)
_DIRECTION = re.compile(r"[- ][(\[]?(?P<way>en|de)c(?:rypt(?:ion|ing)?)?[)\]]?$", re.I)

_SSH_CIPHER = re.compile(
    r"""(?:aes|camellia|serpent|twofish|rijndael)(?:128|192|256)-(?:cbc|ctr)(?:@openssh\.org)?
    |aes(?:128|256)-gcm@openssh\.com
    |chacha20-poly1305@openssh\.com
    |arcfour(?:128|256)?
    |(?:3des|blowfish|cast128|twofish|idea|des|seed)-(?:cbc|ctr|cfb|ofb)(?:@ssh\.com)?
    |rijndael-cbc@(?:lysator\.liu\.se|ssh\.com)
    |cast128-12-(?:cbc|cfb|ofb)@ssh\.com
    |rc2-cbc@ssh\.com|crypticore128@ssh\.com|acss@openssh\.org
    |aead_aes_(?:128|256)_gcm""",
    re.X,
)
_SSH_SHORT_NAMES = {
    "aes128-gcm": "aes128-gcm@openssh.com",
    "aes256-gcm": "aes256-gcm@openssh.com",
    "chacha20-poly1305": "chacha20-poly1305@openssh.com",
    "rijndael-cbc": "rijndael-cbc@lysator.liu.se",
    "blowfish": "blowfish-cbc",
    "3des": "3des-cbc",
    "rc4": "arcfour",
    "des": "des-cbc",
    "chacha20": "chacha20-poly1305@openssh.com",
}
_SSH_LOOSE = re.compile(r"(aes)-?(128|192|256)-?(cbc|ctr|gcm)(@openssh\.com)?")

_MAC = re.compile(
    r"""(?P<name>hmac-(?:md5|sha1|ripemd160|sha2-256|sha2-512)(?:-96)?|umac-(?:32|64|96|128))
    (?P<etm>-etm)?(?P<domain>@openssh\.com|@ssh\.com)?""",
    re.X,
)


@lru_cache(maxsize=1024)
def openssl_cipher(label: str) -> str | None:
    """Return openssl's name of a cipher, such as "aes-128-cbc" for "aes-128 cbc", or None."""
    label = _DIRECTION.sub("", label.strip()) if len(label) <= 60 else ""
    if label == "DES-EDE3":  # printed by EVP, for which the name means ECB
        return "des-ede3"
    name = "-".join(label.lower().split())
    for spelling, usual in _OPENSSL_SPELLINGS:
        if match := spelling.match(name):
            name = match.expand(usual) + name[match.end() :]
    name = _SHORT_NAMES.get(name, name)
    return name if _OPENSSL_CIPHER.fullmatch(name) else None


@lru_cache(maxsize=1024)
def is_other_algorithm(label: str) -> bool:
    return bool(_OPENSSL_OTHER.fullmatch("-".join(label.lower().split())))


def operation_of(label: str) -> str | None:
    match = _DIRECTION.search(label.strip())
    return None if match is None else f"{match['way'].lower()}crypt"


@lru_cache(maxsize=1024)
def ssh_cipher(label: str) -> str | None:
    """Return OpenSSH's name of a cipher, such as "aes128-gcm@openssh.com" for "aes128-gcm"."""
    name = label.lower()
    if _SSH_CIPHER.fullmatch(name):
        return name
    if name in _SSH_SHORT_NAMES:
        return _SSH_SHORT_NAMES[name]
    match = _SSH_LOOSE.fullmatch(name)
    if match is None or (match[2], match[3]) == ("192", "gcm"):
        return None
    return f"aes{match[2]}-{match[3]}" + ("@openssh.com" if match[3] == "gcm" else "")


def mac_name(label: str) -> str | None:
    match = _MAC.fullmatch(label.lower())
    if match is None:
        return None
    private = match["etm"] or match["name"].startswith("umac")
    domain = match["domain"] or ("@openssh.com" if private else "")
    return f"{match['name']}{match['etm'] or ''}{domain}"


ONLY_SSH = re.compile(
    r"[^@\s]+@[a-z.]+|(?:aes|camellia|serpent|twofish)(?:128|192|256)-(?:cbc|ctr|gcm)|arcfour(?:128|256)"
    r"|(?:blowfish|3des|cast128)-(?:cbc|ctr)"
)
ABOUT_SSH = re.compile(
    r"(?<![a-z])(?:open)?ssh(?:d|[_ -]|\b)|\bscp\b|\bsftp\b|\bdropbear|@openssh\.com"
    r"|\b(?:aes(?:128|192|256)|3des|blowfish|cast128)-(?:cbc|ctr)\b|\barcfour(?:128|256)\b",
    re.I,
)
