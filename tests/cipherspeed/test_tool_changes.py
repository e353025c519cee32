from cipherspeed.tool_changes import breaks_between, find_breaks, tool_changes
from tests.cases import each

GCM = "aes-128-gcm"
OLD, NEW = "OpenSSL 3.0.15", "OpenSSL 3.0.19"


@each(
    ("before", "after"),
    (
        ("OpenSSL 3.0.15 3 Sep 2024", "OpenSSL 3.0.16 11 Feb 2025"),
        ("OpenSSL 3.0.9", "OpenSSL 3.0.19"),
        ("OpenSSL 3.4.0", "OpenSSL 3.4.1"),
        ("OpenSSL 1.1.1w  11 Sep 2023", "OpenSSL 3.5.0 8 Apr 2025"),
        ("OpenSSL 3.3.2", "OpenSSL 3.3.3"),
        ("OpenSSL 1.0.1e-fips 11 Feb 2013", "OpenSSL 3.6.0-beta1"),
    ),
)
def test_the_aead_loop_breaks_a_chart_by_version(before: str, after: str) -> None:
    (change,) = breaks_between(before, after, GCM)
    assert change.id == "openssl-speed-aead-loop"
    assert breaks_between(after, before, GCM) == (change,)


@each(
    ("one", "other"),
    (
        ("OpenSSL 3.0.16", "OpenSSL 3.0.19"),
        ("OpenSSL 1.1.1w", "OpenSSL 3.0.15"),
        ("OpenSSL 3.0.19", "OpenSSL 3.5.0"),
        ("OpenSSL 3.0.15", "OpenSSL 3.4.0"),
        ("LibreSSL 3.8.2", "OpenSSL 3.5.0"),
        ("something else", "OpenSSL 3.5.0"),
        ("OpenSSL 3.0.15", "OpenSSL 3.0.15"),
    ),
)
def test_there_is_no_break_where_both_or_nobody_knows_which_have_it(one: str, other: str) -> None:
    assert breaks_between(one, other, GCM) == ()


@each("cipher", ("aes-128-ctr", "aes-256-cbc", "chacha20-poly1305", "rc4"))
def test_other_modes_are_not_touched(cipher: str) -> None:
    # ChaCha20-Poly1305 at 16 bytes: 281 MB/s with 1.1.1w, 272 with 3.0.19, 294 with 3.5.0
    assert breaks_between("OpenSSL 3.0.15", "OpenSSL 3.5.0", cipher) == ()


def test_every_change_has_its_sources() -> None:
    for change in tool_changes():
        assert change.summary
        assert change.effect
        assert {"3.0.16", "3.4.1"} <= {source.release for source in change.sources}
        assert all(source.url.startswith("https://") for source in change.sources)
        assert all(source.says for source in change.sources)


def test_a_history_breaks_where_openssl_speed_changed() -> None:
    (found,) = find_breaks([OLD, OLD, NEW, NEW], GCM)
    assert (found.index, found.before, found.after) == (2, OLD, NEW)
    assert "3.0.15 and OpenSSL 3.0.19" in found.words
    assert [change.index for change in find_breaks([NEW, OLD, NEW], GCM)] == [1, 2]
    assert list(find_breaks([OLD, NEW], "chacha20-poly1305")) == []


def test_a_release_that_nobody_knows_hides_no_break() -> None:
    (found,) = find_breaks([OLD, "LibreSSL 3.8.2", "Unknown OpenSSL", NEW], GCM)
    assert (found.index, found.before) == (3, OLD)
