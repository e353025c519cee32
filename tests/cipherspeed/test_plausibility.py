from cipherspeed.summary import highest_plausible
from tests.cases import each


def test_many_threads_may_move_more() -> None:
    assert highest_plausible(threads=8) >= 200e9


@each("cipher", ("aes-128-cbc", "rc4", "des-ede3-cbc", "3des-cbc", "blowfish-cbc", "aes-256-cfb8"))
def test_what_waits_for_each_block_is_slower_than_memory(cipher: str) -> None:
    # The fastest public reports, and rates impossible for a sequential cipher.
    assert 2.4e9 <= highest_plausible(cipher=cipher) < 22e9


@each("cipher", ("aes-128-gcm", "aes-128-ctr", "chacha20-poly1305"))
def test_what_runs_in_parallel_may_be_as_fast_as_memory(cipher: str) -> None:
    assert highest_plausible(cipher=cipher) >= 22.9e9  # an EPYC 9655, published


def test_cbc_decrypts_in_parallel() -> None:
    assert highest_plausible(cipher="aes-128-cbc", decrypt=True) >= 15e9
