import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cipherspeed.groups import Comparison, comparison_of
from tests.compare.comparison_reference import Vote, groups_of, summarise_group

values = st.lists(st.floats(min_value=1, max_value=1e11), min_size=1, max_size=60)


def compared(*votes: Vote, metric: str = "throughput") -> Comparison:
    machines = {(vote.group_key, vote.split_key): 1 for vote in votes}
    groups = groups_of(votes, machines)
    return comparison_of(groups, tool="ssh", group_by="openssl", metric=metric)


def test_quartiles_interpolate_as_postgresql_does() -> None:
    summary = summarise_group([1.0, 2.0, 3.0, 10.0])
    assert (summary.q1, summary.median, summary.q3) == (1.75, 2.5, 4.75)
    assert (summary.minimum, summary.maximum, summary.n) == (1, 10, 4)


def test_one_vote_is_a_point() -> None:
    summary = summarise_group([7.0])
    assert {summary.q1, summary.median, summary.q3, summary.minimum, summary.maximum} == {7.0}


@pytest.mark.django_db
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(values)
def test_quartiles_equal_the_databases_own(votes: list[float]) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT percentile_cont(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY v)"
            " FROM unnest(%s::float8[]) v",
            [votes],
        )
        (expected,) = cursor.fetchone()
    summary = summarise_group(votes)
    assert [summary.q1, summary.median, summary.q3] == pytest.approx(expected, rel=1e-9)


def test_versions_sort_as_versions_and_the_unknown_last() -> None:
    labels = ["unknown", "3.0.19", "1.0.1k", "3.0.9", "1.1.1", "1.0.1f"]
    comparison = compared(
        *(Vote(label, label, host, "a", 1.0, "agent") for host, label in enumerate(labels))
    )
    assert [group.key for group in comparison.groups] == [
        "1.0.1f",
        "1.0.1k",
        "1.1.1",
        "3.0.9",
        "3.0.19",
        "unknown",
    ]


def test_a_group_says_what_it_is_made_of() -> None:
    votes = (
        *(Vote("x", "X", 1, "a", 3.0, "import", 1.2), Vote("x", "x", 2, "a", 5.0, "agent", 1.1)),
        *(
            Vote("x", "x", 3, "b", 4.0, "agent", family="3des"),
            Vote("x", "x", 3, "a", 7.0, "agent", 1.5),
        ),
    )
    comparison = compared(*votes, metric="normalised")
    (group,) = comparison.groups
    assert (group.label, group.hosts, group.sources) == ("X", 1, ("agent", "import"))
    assert {cipher: (summary.median, summary.n) for cipher, summary in group.values.items()} == {
        "a": (5.0, 3),
        "b": (4.0, 1),
    }
    assert (group.uncertainty, group.families) == ({"a": 1.2}, {"b": ("3des",)})
    assert (comparison.unit, comparison.profile, comparison.ciphers) == ("B/s", "2015", ("a", "b"))
    assert compared(*votes).profile is None
