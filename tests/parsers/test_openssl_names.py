"""Which cipher a label of `openssl speed` names."""

from parsers.openssl.cipher_names import canonical_cipher, kind_of
from tests.cases import each


@each(
    ("label", "cipher"),
    (
        ("aes-128 cbc", "aes-128-cbc"),
        ("AES-256-GCM", "aes-256-gcm"),
        ("id-aes192-CCM", "aes-192-ccm"),
        ("aes-128-cbc-hmac-sha1", "aes-128-cbc-hmac-sha1"),
        ("des ede3", "des-ede3-cbc"),
        ("des-ede3", "des-ede3-cbc"),
        ("DES-EDE3", "des-ede3"),
        ("DES-EDE3-CBC", "des-ede3-cbc"),
        ("des cfb", "des-cfb"),
        ("blowfish cbc", "bf-cbc"),
        ("blowfish", "bf-cbc"),
        ("BF-CBC", "bf-cbc"),
        ("cast cbc", "cast5-cbc"),
        ("rc5-32/12 cbc", "rc5-cbc"),
        ("rc4", "rc4"),
        ("ChaCha20-Poly1305", "chacha20-poly1305"),
        ("camellia-256 cbc", "camellia-256-cbc"),
        ("SM4-CBC", "sm4-cbc"),
    ),
)
def test_a_label_of_any_version_names_one_cipher(label: str, cipher: str) -> None:
    assert canonical_cipher(label) == cipher
    assert kind_of(label) == "cipher"


@each(
    "label",
    ("md5", "hmac(md5)", "sha-1", "sha256", "rmd160", "whirlpool", "ghash", "rand", "mdc2",
     "cmac(aes-128-cbc)", "KMAC128", "blake2b512"),
)  # fmt: skip
def test_digests_and_macs_are_no_ciphers(label: str) -> None:
    assert canonical_cipher(label) is None
    assert kind_of(label) == "other"


def test_a_bare_evp_and_a_word_name_nothing() -> None:
    assert kind_of("evp") == "evp"
    assert kind_of("throughput") == "unknown"
    assert canonical_cipher("aes-128") is None
