"""What ssh delivers of its cipher's own speed."""

import pytest

from analysis.openssl_against_ssh import delivered, own_cipher
from analysis.profiles.baselines import MeasuredSeries
from documents.types import Series
from tests.cases import each


def ssh(cipher: str, rate: float) -> MeasuredSeries:
    series = Series("ssh", cipher, method="pipeline", target_kind="loopback")
    return MeasuredSeries(series, rate)


def openssl(cipher: str, rate: float, block_size: int = 16384) -> MeasuredSeries:
    return MeasuredSeries(Series("openssl", cipher, block_size=block_size), rate)


@each(
    ("ssh_cipher", "own"),
    (
        ("aes128-gcm@openssh.com", "aes-128-gcm"),
        ("aes192-ctr", "aes-192-ctr"),
        ("rijndael-cbc@lysator.liu.se", "aes-256-cbc"),
        ("3des-cbc", "des-ede3-cbc"),
        ("arcfour256", "rc4"),
        ("cast128-cbc", "cast5-cbc"),
        ("none", None),
    ),
)
def test_an_ssh_cipher_has_its_own_openssl_cipher(ssh_cipher: str, own: str | None) -> None:
    assert own_cipher(ssh_cipher) == own


def test_the_share_is_of_the_largest_block() -> None:
    """The desktop of Effektiv SSH, 2015: 498.27 of 1,336.32 MB/s; 2.007 less 0.748 s/GB."""
    run = [
        ssh("aes128-gcm@openssh.com", 498.27e6),
        openssl("aes-128-gcm", 367.44e6, 16),
        openssl("aes-128-gcm", 1336.32e6, 8192),
    ]
    (found,) = delivered(run)
    assert found.share == pytest.approx(0.37287, abs=1e-5)
    assert found.overhead_seconds_per_gb == pytest.approx(1.25862, abs=1e-4)
    assert (found.openssl.cipher, found.openssl.block_size) == ("aes-128-gcm", 8192)
    assert found.note is None


def test_chacha20_says_that_the_two_constructions_differ() -> None:
    run = [ssh("chacha20-poly1305@openssh.com", 7e8), openssl("chacha20-poly1305", 3.7e9)]
    (found,) = delivered(run)
    assert found.note is not None


def test_only_what_is_alike_is_put_side_by_side() -> None:
    plain, own = ssh("aes128-ctr", 2e8), openssl("aes-128-ctr", 9e9)
    masked = MeasuredSeries(plain.series._replace(acceleration="masked"), 1e8)
    remote = MeasuredSeries(plain.series._replace(target_kind="remote"), 1e8)
    packed = MeasuredSeries(plain.series._replace(compression=True), 1e8)
    decrypting = MeasuredSeries(own.series._replace(operation="decrypt"), 9e9)
    threads = MeasuredSeries(own.series._replace(threads=4), 9e9)
    assert delivered([masked, remote, packed, own]) == ()
    assert delivered([plain, decrypting, threads]) == ()
    assert len(delivered([plain, own])) == 1
