import re

import pytest

from ciphermark_agent.openssl import OPENSSL_KNOWN
from ciphermark_agent.ssh_server import SSH_OLD_CIPHERS, offered_ciphers
from cipherspeed.baselines import MEMBERS
from cipherspeed.cipher_catalogue import STATUSES, Cipher, cipher_catalogue, openssh_version
from cipherspeed.types import Tool
from tests.cases import each
from tests.cipherspeed.cipher_rates import CHACHA, GCM128, MODERN, PATCHED, UNPATCHED

CATALOGUE = cipher_catalogue()


def find(name: str, tool: Tool = "ssh") -> Cipher:
    cipher = CATALOGUE.find(tool, name)
    assert cipher is not None, name
    return cipher


def test_every_cipher_is_there_once_by_a_name_that_configurations_take() -> None:
    names = [(cipher.tool, cipher.name) for cipher in CATALOGUE.ciphers]
    assert len(set(names)) == len(names)
    for cipher in CATALOGUE.ciphers:
        assert re.fullmatch(r"[a-z0-9][a-z0-9-]*(@[a-z0-9.]+)?", cipher.name)
        assert (cipher.openssh is None) == (cipher.tool == "openssl")
        assert cipher.assessment.status in STATUSES


@each("name", SSH_OLD_CIPHERS)
def test_every_ssh_cipher_that_the_agent_names_is_known(name: str) -> None:
    assert find(name).openssh is not None


@each("name", OPENSSL_KNOWN)
def test_every_openssl_cipher_that_the_agent_names_is_known(name: str) -> None:
    assert find(name, "openssl").openssh is None


def test_the_ciphers_of_a_real_ssh_are_known() -> None:
    for name in offered_ciphers("ssh"):
        assert find(name)


@each("tool", ("ssh", "openssl"))
def test_the_families_are_those_of_the_yardstick(tool: Tool) -> None:
    for name, family in MEMBERS[tool].items():
        assert find(name, tool).family == family


def test_every_status_has_its_reason_and_nearly_every_one_a_reference() -> None:
    for cipher in CATALOGUE.ciphers:
        assert cipher.assessment.reason.endswith(".")
        assert cipher.assessment.reference or cipher.assessment.status == "acceptable"


@each(
    ("name", "status", "reference"),
    (
        ("arcfour", "broken", "RFC 8758"),
        ("3des-cbc", "broken", "CVE-2016-2183"),
        ("blowfish-cbc", "broken", "CVE-2016-2183"),
        ("aes256-cbc", "legacy", "CVE-2008-5161"),
        ("aes128-ctr", "acceptable", "RFC 4344"),
        (GCM128, "recommended", "RFC 5647"),
    ),
)
def test_statuses_as_the_literature_has_them(name: str, status: str, reference: str) -> None:
    assessment = find(name).assess(MODERN, MODERN)
    assert (assessment.status, assessment.reference) == (status, reference)


def test_no_cipher_of_64_bit_blocks_is_better_than_broken() -> None:
    for cipher in CATALOGUE.ciphers:
        if cipher.block_bits == 64:
            assert cipher.assessment.status == "broken"


def test_only_authenticated_encryption_is_recommended() -> None:
    for cipher in CATALOGUE.ciphers:
        assert cipher.aead or cipher.assessment.status != "recommended"


@pytest.mark.parametrize(
    ("client", "server", "status"),
    (
        (MODERN, MODERN, "recommended"),
        (PATCHED, PATCHED, "recommended"),  # Debian put strict key exchange into 9.2p1
        ("OpenSSH_9.2p1 Debian-2+deb12u1", MODERN, "acceptable"),
        ("OpenSSH_9.2p1 Debian-2+deb12u2", MODERN, "recommended"),
        ("OpenSSH_9.2p1 Debian-2+deb12u10", MODERN, "recommended"),
        ("OpenSSH_8.9p1 Ubuntu-3ubuntu0.13, OpenSSL 3.0.2", MODERN, "recommended"),
        ("OpenSSH_8.9p1 Ubuntu-3ubuntu0.1, OpenSSL 3.0.2", MODERN, "acceptable"),
        (MODERN, UNPATCHED, "acceptable"),
        (UNPATCHED, MODERN, "acceptable"),
        (MODERN, None, "acceptable"),  # unknown, so not considered safe
        (MODERN, "dropbear_2022.83", "acceptable"),
    ),
)
def test_terrapin_needs_both_ends_to_be_safe(client: str, server: str | None, status: str) -> None:
    assessment = find(CHACHA).assess(client, server)
    assert assessment.status == status
    assert (assessment.reference == "CVE-2023-48795") == (status == "acceptable")


@pytest.mark.parametrize(
    ("server", "status"),
    (("OpenSSH_6.3", "legacy"), ("OpenSSH_6.4", "recommended"), (None, "recommended")),
)
def test_aes_gcm_was_unsafe_in_two_releases_of_sshd(server: str | None, status: str) -> None:
    assert find(GCM128).assess("OpenSSH_6.3", server).status == status


@pytest.mark.parametrize(
    ("name", "version", "present", "client", "server"),
    (
        ("arcfour", (7, 5), True, False, False),
        ("arcfour", (7, 6), False, False, False),
        ("arcfour", (6, 6, 1), True, True, True),
        ("3des-cbc", (9, 9), True, False, False),
        ("3des-cbc", (7, 3), True, True, False),
        ("aes128-cbc", (7, 5), True, True, False),
        (GCM128, (6, 1), False, False, False),
        (GCM128, (6, 2), True, True, True),
        (CHACHA, (10, 0), True, True, True),
        ("rijndael-cbc@lysator.liu.se", (8, 4), True, False, False),
        ("rijndael-cbc@lysator.liu.se", (8, 5), False, False, False),
        ("rijndael128-cbc", (7, 3), False, False, False),
    ),
)
def test_the_history_of_openssh(
    name: str, version: tuple[int, ...], present: bool, client: bool, server: bool
) -> None:
    support = find(name).openssh
    assert support is not None
    assert support.client_default is not None
    assert support.server_default is not None
    assert support.present.contains(version) is present
    assert support.client_default.contains(version) is client
    assert support.server_default.contains(version) is server


@each(
    ("text", "version"),
    (
        ("OpenSSH_9.2p1 Debian-2+deb12u6, OpenSSL 3.0.19 27 Jan 2026", (9, 2)),
        ("OpenSSH_for_Windows_9.5p1, LibreSSL 3.8.2", (9, 5)),
        ("OpenSSH_3.7.1p2", (3, 7, 1)),
        ("OpenSSH 10.0p2", (10, 0)),
        ("9.9p1", (9, 9)),
        ("7.4", (7, 4)),
        ("dropbear_2022.83", None),
        ("2022.83", None),
        ("9.9p1 or so", None),
        ("OpenSSH_", None),
        (None, None),
    ),
)
def test_versions_are_read_as_ssh_prints_them(
    text: str | None, version: tuple[int, ...] | None
) -> None:
    assert openssh_version(text) == version


def test_each_policy_takes_all_that_is_safer_than_its_weakest() -> None:
    assert list(CATALOGUE.policies) == ["modern", "compatible", "everything"]
    for policy, count in zip(CATALOGUE.policies.values(), (1, 2, 4), strict=True):
        assert policy.statuses == STATUSES[:count]
