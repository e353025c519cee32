"""The short form of `make chaos`."""

import shutil

from launch.console import say
from tests.chaos.__main__ import summary, table
from tests.chaos.faults import all_faults, few_faults
from tests.chaos.rehearsal import Plan, rehearse
from tests.launch.tools import private_folder

UPLOADS = 72
"""One of each client in each of the nine faults; what is right is looked at once, at the end."""


def test_nothing_acknowledged_is_lost_or_counted_twice_whatever_dies() -> None:
    seed = 7
    plan = Plan(UPLOADS, 8, seed, 1.5, few_faults(seed), sampled=0, kills=1, asked=40)
    with private_folder() as folder:
        report = rehearse(folder / "site", plan, say)
        shutil.rmtree(folder / "site")
    say(f"{table(report)}\n{summary(report, seed)}")
    assert report.faults == []
    assert sum(len(row.during.share.acknowledged) for row in report.rows) == UPLOADS


def test_the_same_seed_makes_the_same_faults() -> None:
    first, again = all_faults(3), all_faults(3)
    assert [fault.name for fault in first] == [fault.name for fault in again]
    assert [fault.name for fault in first] != [fault.name for fault in all_faults(4)]
    assert len({fault.name for fault in first}) == len(first)
