"""`make chaos`: SEED, UPLOADS and CLIENTS choose another rehearsal; exit code 0 when all holds."""

import os
import shutil
import sys
from collections import Counter
from pathlib import Path

from config.embedded.postgres import Postgres
from config.embedded.redis_server import RedisServer
from launch.console import say
from tests.chaos.faults import all_faults
from tests.chaos.rehearsal import Plan, Report, rehearse

PAUSE_SECONDS = 10.0
SAMPLED = 12
"""Answers compared after each fault."""


def number(name: str, default: int) -> int:
    """A whole number from the environment."""
    return int(os.environ.get(name) or default)


def table(report: Report) -> str:
    """The report in columns."""
    head = f"{'fault':<34} {'seconds':>7} {'acked':>6} {'503':>5} {'broken':>6} {'slowest':>8} "
    lines = [f"{head}{'edits':>5} {'answers':>7} {'lost':>5} {'doubled':>7} {'wrong':>5}"]
    for row in report.rows:
        one, share = row.during, row.during.share
        lines.append(
            f"{one.fault:<34} {one.seconds:>7.1f} {len(share.acknowledged):>6}"
            f" {share.answers[503]:>5} {share.broken:>6} {share.slowest:>6.1f} s"
            f" {len(one.edits):>5} {one.answers:>7} {row.lost:>5} {row.doubled:>7}"
            f" {len(one.wrong):>5}"
        )
    return "\n".join(lines)


def summary(report: Report, seed: int) -> str:
    """One line: the sums."""
    every = [row.during for row in report.rows]
    acknowledged = sum(len(one.share.acknowledged) for one in every)
    again = sum(one.share.sent_twice for one in every)
    lost, doubled = sum(row.lost for row in report.rows), sum(row.doubled for row in report.rows)
    wrong = sum(len(one.wrong) for one in every)
    kinds = Counter(edit.kind for one in every for edit in one.edits)
    edits = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    return (
        f"seed {seed}: {len(report.rows)} faults, {acknowledged} uploads acknowledged ({again} sent"
        f" twice), {lost} lost, {doubled} doubled; edits: {edits or 'none'}; all ready"
        f" {report.settled_seconds:.1f} s after the last; {report.sampled - wrong} of"
        f" {report.sampled} answers in between and {report.compared - len(report.differences)} of"
        f" {report.compared} at the end are right"
    )


def remove_leftovers(folder: Path) -> None:
    """What an earlier rehearsal that was killed has left, servers first."""
    if folder.exists():
        Postgres(folder).stop()
        RedisServer(folder).stop()
        shutil.rmtree(folder)


def main() -> int:
    """Rehearse in the data folder, print the table."""
    folder = Path(os.environ["CIPHERMARK_DATA_DIR"])
    remove_leftovers(folder / "site")
    seed = number("SEED", 1)
    uploads, clients = number("UPLOADS", 2000), number("CLIENTS", 8)
    plan = Plan(uploads, clients, seed, PAUSE_SECONDS, all_faults(seed), SAMPLED)
    report = rehearse(folder / "site", plan, say)
    say(f"\n{table(report)}\n\n{summary(report, seed)}")
    for fault in report.faults:
        sys.stderr.write(f"{fault}\n")
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
