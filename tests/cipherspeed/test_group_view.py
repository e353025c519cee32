from typing import Any

from cipherspeed.group_view import GroupView, in_view, page_count
from cipherspeed.groups import Comparison, Group, comparison_of
from tests.cases import each
from tests.compare.comparison_reference import summarise_group

MEDIANS = {
    "Zen 10": {"a": 5.0, "b": 1.0},
    "zen 9": {"a": 4.0, "b": 9.0},
    "Atom": {"b": 2.0},
    "Celeron": {},
    "Unknown": {"a": 9.0, "b": 99.0},
}
HOSTS = {"Zen 10": 1, "zen 9": 3, "Atom": 2, "Celeron": 9, "Unknown": 99}


def comparison(metric: str = "throughput") -> Comparison:
    groups = (
        Group(
            name.lower(),
            name,
            HOSTS[name],
            {cipher: summarise_group([value]) for cipher, value in values.items()},
            (),
        )
        for name, values in MEDIANS.items()
    )
    return comparison_of(groups, tool="ssh", group_by="cpu", metric=metric)


@each(
    ("view", "metric", "found"),
    (
        (GroupView(), "throughput", ["Atom", "Celeron", "zen 9", "Zen 10", "Unknown"]),
        (GroupView("best"), "throughput", ["zen 9", "Zen 10", "Atom", "Celeron", "Unknown"]),
        (
            GroupView("best"),
            "cpu_seconds_per_gb",
            ["Zen 10", "Atom", "zen 9", "Celeron", "Unknown"],
        ),
        (GroupView("cipher:a"), "throughput", ["Zen 10", "zen 9", "Atom", "Celeron", "Unknown"]),
        (
            GroupView("cipher:a"),
            "cpu_seconds_per_gb",
            ["zen 9", "Zen 10", "Atom", "Celeron", "Unknown"],
        ),
        (GroupView("machines"), "throughput", ["Celeron", "zen 9", "Atom", "Zen 10", "Unknown"]),
        (GroupView("machines", "ZEN"), "throughput", ["zen 9", "Zen 10"]),
        (GroupView("best", "nothing"), "throughput", []),
    ),
)
def test_groups_are_searched_and_put_in_order(
    view: GroupView, metric: str, found: list[str]
) -> None:
    shown = in_view(comparison(metric), view)
    assert [group.label for group in shown.groups] == found
    assert (shown.total, shown.matches) == (5, len(found))
    assert shown.comparison == comparison(metric)


def group(key: str, *values: float, split: str = "") -> Group:
    return Group(key, key, len(values), {"aes": summarise_group(values)}, (), split_key=split)


def compared(*groups: Group, **changes: Any) -> Comparison:
    return comparison_of(groups, tool="ssh", group_by="cpu", metric="throughput", **changes)


def test_groups_that_the_noise_does_not_tell_apart_share_a_rank() -> None:
    groups = compared(group("c", 50), group("b", 98, 102), group("a", 99, 105), group("d", 49))
    view = GroupView("cipher:aes")
    assert view.ranks(view.filtered(groups)) == {"a": "1", "b": "1", "c": "3", "d": "3"}


def test_parts_of_a_group_that_is_split_stay_together_and_have_no_rank() -> None:
    parts = [group("x", 5, split="1"), group("y", 9, split="1"), group("x", 10, split="2")]
    view = GroupView("cipher:aes")
    found = view.filtered(compared(*parts, split_by="os"))
    assert [group.id for group in found.groups] == ["x 1", "x 2", "y 1"]
    assert view.ranks(found) == {}


@each(
    ("top", "page", "shown"),
    (
        (2, 1, (0, 1)),
        (2, 2, (2, 3)),
        (2, 3, (4,)),
        (2, 9, (4,)),
        (5, 2, (0, 1, 2, 3, 4)),
    ),
)
def test_a_page_has_its_groups_and_the_last_what_is_left(
    top: int, page: int, shown: tuple[int, ...]
) -> None:
    assert GroupView(top=top, page=page).on_page(range(5)) == shown


def test_a_page_has_twenty_groups() -> None:
    assert len(GroupView().on_page(range(300))) == 20
    assert [page_count(count, 20) for count in (0, 1, 20, 21)] == [1, 1, 1, 2]
