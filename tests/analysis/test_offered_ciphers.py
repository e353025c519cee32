"""What an ssh offers, from its version and from what its runs say."""

from analysis.ciphers.cipher_catalogue import cipher_catalogue, offered_ciphers

CATALOGUE = cipher_catalogue()


def test_a_known_version_offers_what_that_release_has() -> None:
    modern = offered_ciphers("OpenSSH_9.9p1", frozenset(), frozenset(), CATALOGUE)
    old = offered_ciphers("OpenSSH_6.6.1p1", frozenset(), frozenset(), CATALOGUE)
    assert modern is not None
    assert old is not None
    assert old - modern >= {"arcfour", "blowfish-cbc", "cast128-cbc"}
    assert "aes128-gcm@openssh.com" in modern & old


def test_what_was_measured_is_there_and_what_is_not_offered_is_not() -> None:
    offered = offered_ciphers(
        "OpenSSH_9.9p1", frozenset({"arcfour"}), frozenset({"3des-cbc"}), CATALOGUE
    )
    assert offered is not None
    assert "arcfour" in offered
    assert "3des-cbc" not in offered


def test_an_unknown_version_leaves_it_unknown() -> None:
    for client in (None, "dropbear 2022.83"):
        assert offered_ciphers(client, frozenset({"aes128-ctr"}), frozenset(), CATALOGUE) is None
