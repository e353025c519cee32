"""Renamed, or clones? By the times of the runs under each name, in whatever order they came."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from analysis.renamed_or_cloned import NamedRuns, alternate, alternating, together
from documents.naming import same_name
from tests.cases import each

START = datetime(2026, 1, 1, tzinfo=UTC)


def run(name: str, start: float | None, minutes: float = 5) -> NamedRuns:
    """A run that begins so many minutes after the start and takes so many."""
    if start is None:
        return NamedRuns(name, None, None)
    first = START + timedelta(minutes=start)
    return NamedRuns(name, first, first + timedelta(minutes=minutes))


def names(*runs: NamedRuns) -> list[str]:
    """The names among these runs that alternate."""
    return sorted(one.name for one in alternating(together(runs)))


A_UMLAUT = ("Gr\u00f6\u00dfe", "Gro\u0308\u00dfe", "GR\u00d6SSE")
LOOKS_LIKE_A = "\u0430"

CASES = {
    "one name": ([("a", 0, 5), ("a", 60, 5)], []),
    "renamed": ([("a", 0, 5), ("a", 60, 5), ("b", 120, 5)], []),
    "renamed twice": ([("a", 0, 5), ("b", 60, 5), ("c", 120, 5)], []),
    "renamed in the second in which a run ended": ([("a", 0, 5), ("b", 5, 5)], []),
    "A, B, A": ([("a", 0, 5), ("b", 60, 5), ("a", 120, 5)], ["a", "b"]),
    "at once": ([("a", 0, 5), ("b", 2, 5)], ["a", "b"]),
    "one start": ([("a", 0, 5), ("b", 0, 9)], ["a", "b"]),
    "one start, no duration": ([("a", 0, 0), ("b", 0, 0)], ["a", "b"]),
    "a spooled run of weeks ago": ([("b", 99, 5), ("a", 0, 5)], []),
    "renamed to a clone's": ([("c", 0, 5), ("a", 60, 5), ("b", 65, 5), ("a", 70, 5)], ["a", "b"]),
    "undated": ([("a", None, 5), ("b", 60, 5), ("a", None, 5)], []),
    "undated beside clones": ([("a", 0, 9), ("b", 3, 5), ("c", None, 5)], ["a", "b"]),
    "another case": ([("NAS", 0, 5), ("nas", 60, 5), ("NAS", 120, 5)], []),
    "another spelling": ([(name, at, 5) for at, name in enumerate(A_UMLAUT)], []),
    "another letter": ([("a", 0, 9), (LOOKS_LIKE_A, 1, 5)], ["a", LOOKS_LIKE_A]),
}


@each(("runs", "expected"), CASES.values())
def test_renamed_or_alternating(
    runs: list[tuple[str, float | None, float]], expected: list[str]
) -> None:
    assert names(*(run(*one) for one in runs)) == expected
    assert names(*(run(*one) for one in reversed(runs))) == expected


def test_a_name_is_spelt_as_in_its_latest_run_and_counted() -> None:
    (one,) = together([run("nas", 60), run("NAS", 0), run("Nas", None)])
    assert one == NamedRuns("nas", START, START + timedelta(minutes=65), 3)


minutes = st.one_of(st.none(), st.integers(0, 400))
runs_of_one_id = st.lists(
    st.builds(run, st.sampled_from("aAbcé"), minutes, st.integers(0, 30)), max_size=12
)


@given(runs_of_one_id, st.randoms())
def test_the_order_of_uploads_has_no_say(runs: list[NamedRuns], random: object) -> None:
    shuffled = list(runs)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert together(shuffled) == together(runs)
    assert names(*shuffled) == names(*runs)


@given(runs_of_one_id, runs_of_one_id)
def test_what_was_clones_stays_clones_whatever_else_comes(
    runs: list[NamedRuns], more: list[NamedRuns]
) -> None:
    before = {same_name(one) for one in names(*runs)}
    assert before <= {same_name(one) for one in names(*runs, *more)}


@given(runs_of_one_id)
def test_names_that_do_not_alternate_stand_one_after_the_other(runs: list[NamedRuns]) -> None:
    found = together(runs)
    quiet = [one for one in found if one not in alternating(found) and one.first and one.last]
    for later, earlier in pairwise(quiet):
        assert later.first is not None
        assert earlier.last is not None
        assert earlier.last <= later.first


@given(st.integers(0, 99), st.integers(110, 199), st.integers(300, 400), runs_of_one_id)
def test_a_name_between_two_runs_of_another_alternates(
    first: int, between: int, last: int, more: list[NamedRuns]
) -> None:
    clones = names(run("x", first), run("y", between), run("x", last), *more)
    assert {"x", "y"} <= set(clones)


@given(st.builds(run, st.just("a"), minutes), st.builds(run, st.just("b"), minutes))
def test_alternating_is_mutual(one: NamedRuns, other: NamedRuns) -> None:
    assert alternate(one, other) == alternate(other, one)


@given(st.text(max_size=200))
@example("ß" * 150)  # two letters each once case is folded
def test_a_name_is_the_same_as_itself_in_every_case_and_fits_its_column(name: str) -> None:
    key = same_name(name)
    assert len(key) <= 200
    assert same_name(f" {name} ") == key
    assert same_name(key) == key
