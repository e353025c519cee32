from typing import Any

from cipherspeed.environment import (
    dimensions,
    fingerprint,
    openssh_label,
    openssl_release,
    openssl_series,
    ssh_environment,
    ssh_library,
)
from cipherspeed.naming import Label, slug
from tests.cases import each
from tests.sample_documents import environment


@each(
    ("text", "release", "series"),
    (
        ("OpenSSL 3.0.19 27 Jan 2026 (Library: OpenSSL 3.0.19)", "OpenSSL 3.0.19", "3.0"),
        ("OpenSSL 1.1.1w  11 Sep 2023", "OpenSSL 1.1.1w", "1.1.1"),
        ("OpenSSL 1.0.1e-fips 11 Feb 2013", "OpenSSL 1.0.1e-fips", "1.0.1"),
        ("OpenSSL 0.9.8zh 3 Dec 2015", "OpenSSL 0.9.8zh", "0.9.8"),
        ("LibreSSL 3.8.2", "LibreSSL 3.8.2", "LibreSSL 3.8"),
        ("something else", "something else", None),
        ("without OpenSSL", "Without OpenSSL", "Without OpenSSL"),
        (None, None, None),
    ),
)
def test_openssl_versions(text: str | None, release: str | None, series: str | None) -> None:
    assert openssl_release(text) == release
    assert openssl_series(text) == series


def test_openssh_releases_and_other_clients() -> None:
    assert openssh_label("OpenSSH_9.2p1 Debian-2+deb12u6, OpenSSL 3.0.19") == "OpenSSH 9.2p1"
    assert openssh_label("OpenSSH_for_Windows_8.1p1") == "OpenSSH 8.1p1"
    assert openssh_label("ThinLinc ssh client") == "ThinLinc ssh client"
    assert openssh_label(None) is None


def test_dimensions_have_keys_and_labels() -> None:
    found = dimensions(environment())
    assert found.cpu == Label("amd-epyc-9r14", "AMD EPYC 9R14")
    assert found.cpu_vendor == Label("amd", "AMD")
    assert found.os_version == Label("debian-gnu-linux-12", "Debian GNU/Linux 12")
    assert found.openssl_series == Label("3.0", "3.0")
    assert found.openssh == Label("openssh-9.2p1", "OpenSSH 9.2p1")


def test_what_is_not_known_is_shown_as_unknown() -> None:
    found = dimensions({"cpu": {}, "os": {}, "openssl": {}, "openssh": {}})
    assert found.cpu == Label("unknown", "Unknown CPU")
    assert found.microarchitecture.key == "unknown"


def test_a_reading_does_not_change_the_fingerprint_and_a_fact_does() -> None:
    plain = fingerprint(environment())
    assert fingerprint({**environment(), "load_average": [9.0, 9.0, 9.0]}) == plain
    assert fingerprint(environment(flags=["vaes", "pclmulqdq", "aes"])) == plain
    assert fingerprint(environment(max_mhz=1234)) == plain
    assert fingerprint(environment(flags=["aes"])) != plain
    changed = {**environment(), "openssl": {"version_text": "OpenSSL 3.0.20"}}
    assert fingerprint(changed) != plain


@each(
    ("label", "key"),
    (
        ("Intel Core i7-2635QM", "intel-core-i7-2635qm"),
        ("OpenSSL 1.0.1e-fips", "openssl-1.0.1e-fips"),
        ("Café 5000+", "cafe-5000-plus"),
        ("x" * 200, "x" * 200),
    ),
)
def test_keys_are_slugs(label: str, key: str) -> None:
    assert slug(label) == key


def test_text_without_a_letter_has_a_key_of_its_own() -> None:
    assert slug("中文") != slug("日本")


@each(
    ("one", "other"),
    (
        ("Эльбрус-8С", "Эльбрус-8СВ"),
        ("飞腾 8", "Эльбрус-8"),
        ("Phantom 5000", "Phantom 5000+"),
        ("x" * 300 + "a", "x" * 300 + "b"),
    ),
)
def test_what_cannot_be_spelt_is_not_thrown_together(one: str, other: str) -> None:
    assert slug(one) != slug(other)
    assert len(slug(one)) <= 200


def using(program: str | None, library: str | None) -> dict[str, Any]:
    stated = environment()
    return {
        **stated,
        "openssl": {**stated["openssl"], "version_text": program},
        "openssh": {**stated["openssh"], "library": library},
    }


def test_the_library_of_ssh_counts_where_it_is_another_one() -> None:
    new, same = "OpenSSL 3.0.19 27 Jan 2026", "OpenSSL 3.0.19"
    plain = using(new, None)
    assert fingerprint(using(new, same)) == fingerprint(plain) == fingerprint(environment())
    assert ssh_library(plain) is ssh_library(using(new, same)) is None
    other = using(new, "OpenSSL 1.0.2zl  1 Aug 2024")
    assert fingerprint(other) != fingerprint(plain)
    found = ssh_library(other)
    assert found is not None
    assert (found.openssl.label, found.openssl_series.label) == ("OpenSSL 1.0.2zl", "1.0.2")


def test_to_ssh_the_openssl_program_is_no_part_of_the_environment() -> None:
    new, old = "OpenSSL 3.0.19 27 Jan 2026", "OpenSSL 1.0.2zl  1 Aug 2024"
    seen = ssh_environment(using(new, None))
    assert ssh_environment(using(new, new)) == ssh_environment(using(old, new)) == seen
    assert len({seen, ssh_environment(using(old, None)), ssh_environment(using(None, None))}) == 3
    assert 0 <= seen < 2**63


def test_a_stored_fingerprint_stays_what_it_was() -> None:
    # pragma: allowlist nextline secret
    known = "6f96a901ce036ee15aa59ea13de1ed8da0a07582be3350405f334e17be2269bb"
    assert fingerprint(environment()) == known
