"""`make chaos`: SEED, UPLOADS and CLIENTS choose another rehearsal; exit code 0 when all holds."""

import os
import shutil
import sys
from pathlib import Path

from config.embedded.postgres import Postgres
from config.embedded.redis_server import RedisServer
from launch.telling import say
from tests.chaos.faults import all_faults
from tests.chaos.rehearsal import Plan, Report, rehearse

PAUSE_SECONDS = 10.0


def number(name: str, default: int) -> int:
    """A whole number from the environment."""
    return int(os.environ.get(name) or default)


def table(report: Report) -> str:
    """The report in columns."""
    head = f"{'fault':<34} {'seconds':>7} {'acked':>6} {'503':>5} {'broken':>6} {'slowest':>8} "
    lines = [f"{head}{'lost':>5} {'doubled':>7}"]
    for row in report.rows:
        share = row.share
        lines.append(
            f"{row.fault:<34} {row.seconds:>7.1f} {len(share.acknowledged):>6}"
            f" {share.answers[503]:>5} {share.broken:>6} {share.slowest:>6.1f} s"
            f" {row.lost:>5} {row.doubled:>7}"
        )
    return "\n".join(lines)


def summary(report: Report, seed: int) -> str:
    """One line: the sums."""
    acknowledged = sum(len(row.share.acknowledged) for row in report.rows)
    again = sum(row.share.sent_twice for row in report.rows)
    lost, doubled = sum(row.lost for row in report.rows), sum(row.doubled for row in report.rows)
    return (
        f"seed {seed}: {len(report.rows)} faults, {acknowledged} uploads acknowledged ({again} sent"
        f" twice), {lost} lost, {doubled} doubled; all ready {report.settled_seconds:.1f} s after"
        f" the last; {report.compared - len(report.differences)} of {report.compared} answers as"
        " those of an undisturbed site"
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
    plan = Plan(
        number("UPLOADS", 2000), number("CLIENTS", 8), seed, PAUSE_SECONDS, all_faults(seed)
    )
    report = rehearse(folder / "site", plan, say)
    say(f"\n{table(report)}\n\n{summary(report, seed)}")
    for fault in report.faults:
        sys.stderr.write(f"{fault}\n")
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
