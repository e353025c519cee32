"""Uploads while everything goes wrong in turn, and what is left of them at the end."""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.chaos.clients import Client, Share, upload_all
from tests.chaos.documents import documents
from tests.chaos.faults import Fault, Rehearsal
from tests.chaos.parts import wait_until
from tests.chaos.proxy import CuttingProxy
from tests.chaos.site import Site, running_site
from tests.chaos.spool import SPOOL_FAULT, full_spool

SETTLE_SECONDS = 120.0

STORED = """
SELECT run_id::text, status, (SELECT count(*) FROM runs_measurement WHERE run_id = r.id)
FROM runs_run r
"""


@dataclass(frozen=True)
class Plan:
    """How much, how often and in which order."""

    uploads: int
    clients: int
    seed: int
    pause_seconds: float
    faults: Sequence[Fault]


@dataclass(frozen=True)
class Row:
    """One fault and what came of the uploads during it."""

    fault: str
    seconds: float
    share: Share
    lost: int
    doubled: int


@dataclass(frozen=True)
class Report:
    """What came of it all. `differences`: answers that are not those of an undisturbed site."""

    rows: tuple[Row, ...]
    differences: tuple[str, ...]
    settled_seconds: float
    """From the end of the last upload until no run was waiting."""
    compared: int
    """Answers compared with the undisturbed site's."""

    @property
    def faults(self) -> list[str]:
        """Everything that must not be."""
        found = [fault for row in self.rows for fault in row.share.faults]
        found += [f"{row.fault}: {row.lost} lost" for row in self.rows if row.lost]
        found += [f"{row.fault}: {row.doubled} doubled" for row in self.rows if row.doubled]
        return [*found, *self.differences]


def rehearse(folder: Path, plan: Plan, tell: Callable[[str], None]) -> Report:
    """Start a site in `folder`, disturb it, and compare it with one that was left in peace."""
    everything = documents(plan.uploads, plan.seed)
    with running_site(folder, with_pages=False) as site:
        shares = _upload_under_faults(site, plan, everything, tell)
        begun = time.monotonic()
        wait_until(lambda: waiting_runs(site) == 0, SETTLE_SECONDS, "runs are still accepted")
        settled = time.monotonic() - begun
        tell("comparing with a site that was left in peace ...")
        compared, differences = _differences(site, everything)
        return Report(_judged(site, shares, everything), differences, settled, compared)


def _upload_under_faults(
    site: Site, plan: Plan, everything: list[dict[str, Any]], tell: Callable[[str], None]
) -> list[tuple[str, float, Share]]:
    token = site.manage("create_token", "chaos", "--scope", "upload").strip()
    names = [*(fault.name for fault in plan.faults), SPOOL_FAULT]
    done = []
    with CuttingProxy(site.port, plan.seed) as proxy, _clients(proxy, token, plan) as clients:
        at = Rehearsal(site, proxy, plan.pause_seconds)
        for number, name in enumerate(names):
            own, share = everything[number :: len(names)], Share()
            begun = time.monotonic()
            if name == SPOOL_FAULT:
                full_spool(site, token, own, share)
            else:
                _one_fault(plan.faults[number], at, clients, own, share)
            done.append((name, time.monotonic() - begun, share))
            tell(f"{name}: {len(share.acknowledged)} acknowledged")
    return done


@contextmanager
def _clients(proxy: CuttingProxy, token: str, plan: Plan) -> Iterator[list[Client]]:
    with ExitStack() as stack:
        clients = [Client(proxy.port, token) for _ in range(plan.clients)]
        for client in clients:
            stack.callback(client.close)
        yield clients


def _one_fault(
    fault: Fault, at: Rehearsal, clients: list[Client], own: list[dict[str, Any]], share: Share
) -> None:
    threads: list[threading.Thread] = upload_all(clients, own, share, at.pause_seconds / 2)
    time.sleep(min(0.3, at.pause_seconds / 10))
    fault.happen(at)
    for thread in threads:
        thread.join()


def waiting_runs(site: Site) -> int:
    """Runs that are accepted and not processed."""
    with site.database() as connection:
        found = connection.execute("SELECT count(*) FROM runs_run WHERE status = 'accepted'")
        return int(found.fetchone()[0])  # type: ignore[index]


def _judged(
    site: Site, shares: list[tuple[str, float, Share]], everything: list[dict[str, Any]]
) -> tuple[Row, ...]:
    expected = {one["run_id"]: len(one["measurements"]) for one in everything}
    with site.database() as connection:
        stored = connection.execute(STORED).fetchall()
    times = Counter(run_id for run_id, _, _ in stored)
    ready = {
        run_id for run_id, status, rows in stored if (status, rows) == ("ready", expected[run_id])
    }
    judged = []
    for name, seconds, share in shares:
        ids = set(share.acknowledged)
        doubled = sum(times[run_id] > 1 for run_id in ids)
        judged.append(Row(name, seconds, share, len(ids - ready), doubled))
    return tuple(judged)


def _differences(site: Site, everything: list[dict[str, Any]]) -> tuple[int, tuple[str, ...]]:
    path = site.folder / "documents.json"
    path.write_text(json.dumps(everything))
    peaceful = site.new_database("undisturbed")
    site.manage("migrate", database=peaceful)
    module = ("-m", "tests.chaos.answers")
    expected = json.loads(site.program(*module, str(path), database=peaceful))
    found = json.loads(site.program(*module))
    expected |= expected.pop("comparisons")
    found |= found.pop("comparisons")
    differing = [name for name in expected if expected[name] != found[name]]
    return len(expected), tuple(f"not as in an undisturbed site: {name}" for name in differing)
