"""What a comparison with a reference comes to."""

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from analysis.comparison import Comparison, Group, Reference
from analysis.groups import Ratio
from analysis.relative_findings import RelativeFindings, relative_findings
from tests.cases import each


def compared(*groups: Group) -> RelativeFindings | None:
    reference = Reference("old", "Old")
    return relative_findings(
        Comparison("ssh", "os", "throughput", "B/s", None, (), groups, {}, None, reference)
    )


def group(label: str, ratios: Mapping[str, Ratio], split: str = "") -> Group:
    return Group(
        label.lower(), label, 9, {}, (), split_key=split.lower(), split_label=split, ratios=ratios
    )


def lower(ratio: float) -> Ratio:
    return Ratio(ratio, ratio - 0.01, ratio + 0.01, 9)


NOISE, UNKNOWN = Ratio(0.99, 0.9, 1.1, 9), Ratio(0.5, None, None, 2)


def test_figures_are_counted_by_their_side_with_the_least_and_the_most() -> None:
    found = compared(
        group("Old", {}),
        group("New", {"a": lower(0.93), "b": lower(0.8), "c": NOISE, "d": UNKNOWN}),
        group("Other", {"a": lower(1.5), "b": lower(0.95)}),
    )
    assert found is not None
    assert (found.judged, found.unjudged, found.differing) == (5, 1, 4)
    assert found.lower is not None
    assert (found.lower.figures, found.lower.nearest, found.lower.farthest) == (3, 0.95, 0.8)
    assert found.lower.places == ("New", "Other")
    assert found.higher is not None
    assert (found.higher.figures, found.higher.places) == (1, ("Other",))


def test_of_one_group_that_is_split_the_splits_are_named_and_of_several_both() -> None:
    one = group("New", {"a": lower(0.9)}, "Xeon")
    found = compared(one, group("New", {"a": NOISE}, "EPYC"))
    assert found is not None
    assert found.lower is not None
    assert found.lower.places == ("Xeon",)
    several = compared(one, group("Newest", {"a": lower(0.9)}, "EPYC"))
    assert several is not None
    assert several.lower is not None
    assert several.lower.places == ("New · Xeon", "Newest · EPYC")


def test_without_a_figure_beside_the_reference_nothing_is_found() -> None:
    assert compared(group("Old", {})) is None
    assert compared() is None


@each(
    ("count", "judged", "chance"),
    ((0, 40, False), (2, 40, True), (3, 40, False), (1, 1, False)),
)
def test_as_few_as_intervals_miss_by_chance_are_told(count: int, judged: int, chance: bool) -> None:
    ratios = {f"c{n}": lower(0.9) if n < count else NOISE for n in range(judged)}
    found = compared(group("New", ratios))
    assert found is not None
    assert found.may_be_chance is chance


@given(st.lists(st.floats(0.1, 10), min_size=1))
def test_every_figure_is_on_one_side_or_within_the_noise(ratios: list[float]) -> None:
    given_ratios = {str(n): Ratio(one, one * 0.95, one * 1.05, 9) for n, one in enumerate(ratios)}
    found = compared(group("New", given_ratios))
    assert found is not None
    within = sum(one.beyond_noise is False for one in given_ratios.values())
    assert found.differing + within == found.judged == len(ratios)
    for side in filter(None, (found.lower, found.higher)):
        nearest, farthest = (max(one, 1 / one) for one in (side.nearest, side.farthest))
        assert nearest <= farthest
