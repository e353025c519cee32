from cipherspeed.percentile import standing
from tests.cases import each


@each(
    ("beaten", "tied", "others", "percentile", "rank", "words"),
    (
        (2, 0, 5, 40, 4, "Faster than 2 of 5 comparable hosts."),
        (1, 2, 4, 50, 2, "Faster than 1 of 4 comparable hosts, tied with 2."),
        (3, 0, 3, 100, 1, "Faster than 3 of 3 comparable hosts."),
        (0, 0, 3, 0, 4, "Faster than 0 of 3 comparable hosts."),
    ),
)
def test_a_percentile_is_the_share_of_others_beaten_and_a_tie_counts_as_half(
    beaten: int, tied: int, others: int, percentile: float, rank: int, words: str
) -> None:
    found = standing(beaten, tied, others)
    assert found is not None
    assert (found.percentile, found.rank, found.words) == (percentile, rank, words)


def test_alone_a_machine_has_no_percentile() -> None:
    assert standing(0, 0, 0) is None
