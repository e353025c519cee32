"""Breaks of the tool in a history, and changes that never reach across one."""

from analysis.over_time.history import changes_between_breaks, find_breaks
from tests.cases import each

OLD, NEW = "OpenSSL 3.0.15", "OpenSSL 3.0.19"


def test_a_history_breaks_where_openssl_speed_changed() -> None:
    (found,) = find_breaks([OLD, OLD, NEW, NEW], "aes-128-gcm")
    assert (found.index, found.before, found.after) == (2, OLD, NEW)
    assert "3.0.15 and OpenSSL 3.0.19" in found.words


def test_going_back_to_an_older_release_is_a_break_too() -> None:
    assert [one.index for one in find_breaks([NEW, OLD, NEW], "aes-128-gcm")] == [1, 2]


def test_a_release_that_nobody_knows_hides_no_break() -> None:
    (found,) = find_breaks([OLD, "LibreSSL 3.8.2", "Unknown OpenSSL", NEW], "aes-128-gcm")
    assert (found.index, found.before) == (3, OLD)


@each("cipher", ("aes-128-cbc", "chacha20-poly1305"))
def test_a_cipher_that_the_tool_measures_as_before_has_no_break(cipher: str) -> None:
    assert find_breaks([OLD, NEW], cipher) == ()


def test_a_fall_at_a_break_is_no_change_of_the_cipher() -> None:
    history = [800.0] * 4 + [100.0] * 4
    breaks = find_breaks([OLD] * 4 + [NEW] * 4, "aes-128-gcm")
    assert changes_between_breaks(history, breaks) == ()
    (found,) = changes_between_breaks(history, ())
    assert found.index == 4


def test_a_change_after_a_break_is_counted_from_the_beginning_of_the_history() -> None:
    history = [800.0] * 4 + [100.0] * 4 + [150.0] * 2
    breaks = find_breaks([OLD] * 4 + [NEW] * 6, "aes-128-gcm")
    (found,) = changes_between_breaks(history, breaks)
    assert (found.index, found.before, found.after) == (8, 100.0, 150.0)
    assert found.confirmed


def test_costs_are_called_cheaper_and_dearer() -> None:
    (found,) = changes_between_breaks([2.0, 2.0, 2.0, 1.0, 1.0], (), lower_is_better=True)
    assert found.direction == "cheaper"


def test_an_empty_history_has_nothing() -> None:
    assert find_breaks([], "aes-128-gcm") == ()
    assert changes_between_breaks([], ()) == ()
