"""Uploads while everything goes wrong in turn, and what is left of them at the end."""

import itertools
import json
import random
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
from tests.chaos.editor import Editor
from tests.chaos.edits import Edit, Edits, Request
from tests.chaos.faults import Fault, Rehearsal
from tests.chaos.parts import Program, wait_until
from tests.chaos.proxy import CuttingProxy
from tests.chaos.site import MIGRATED, Site, running_site
from tests.chaos.spool import SPOOL_FAULT, full_spool
from tests.chaos.truth import every_path, sample, status_of, wrong_answers

SETTLE_SECONDS = 120.0
QUESTIONS, QUESTION_PAUSE_SECONDS = 20, 0.2

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
    sampled: int
    """Answers compared with the truth after each fault."""
    kills: int = 3
    """Of processes that write or follow a copy, for the faults that do so."""
    asked: int = len(every_path())
    """Answers compared with the truth at the end."""


@dataclass(frozen=True)
class During:
    """One fault and what was done during it. `wrong`: answers after it that are not the truth."""

    fault: str
    seconds: float
    share: Share
    edits: tuple[Edit, ...]
    answers: int
    wrong: tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """What came of the uploads during a fault."""

    during: During
    lost: int
    doubled: int


@dataclass(frozen=True)
class Report:
    """What came of it all. `differences`: answers that are not the truth."""

    rows: tuple[Row, ...]
    differences: tuple[str, ...]
    settled_seconds: float
    """From the end of the last upload until no run was waiting."""
    compared: int
    """Answers compared at the end, with an undisturbed site's and with the truth."""
    sampled: int
    """Answers compared with the truth in between."""

    @property
    def faults(self) -> list[str]:
        """Everything that must not be."""
        found = []
        for row in self.rows:
            name = row.during.fault
            found += row.during.share.faults
            found += [f"after {name}: not the truth: {path}" for path in row.during.wrong]
            found += [f"{name}: {row.lost} lost"] if row.lost else []
            found += [f"{name}: {row.doubled} doubled"] if row.doubled else []
        return [*found, *self.differences]


def rehearse(folder: Path, plan: Plan, tell: Callable[[str], None]) -> Report:
    """Start a site in `folder`, disturb it, and compare it with one that was left in peace."""
    everything = documents(plan.uploads, plan.seed)
    with running_site(folder, with_pages=False) as site:
        every = _upload_under_faults(site, plan, everything, tell)
        settled = _settle(site)
        tell("comparing with the truth, and with a site that was left in peace ...")
        paths = sample(random.Random(plan.seed), plan.asked)
        wrong = tuple(f"not the truth: {path}" for path in wrong_answers(site, paths))
        edits = [edit for one in every for edit in one.edits]
        compared, differences = _differences(site, everything, edits)
        rows = _judged(site, every, everything)
        sampled = plan.sampled * len(every)
        return Report(rows, (*wrong, *differences), settled, compared + len(paths), sampled)


def _settle(site: Site) -> float:
    """Seconds until no run waits."""
    begun = time.monotonic()

    def is_settled() -> bool:
        for part in site.parts.values():
            if isinstance(part, Program):
                part.start_if_ended()
        return waiting_runs(site) == 0

    wait_until(is_settled, SETTLE_SECONDS, "runs are still accepted")
    return time.monotonic() - begun


def _upload_under_faults(
    site: Site, plan: Plan, everything: list[dict[str, Any]], tell: Callable[[str], None]
) -> list[During]:
    token = site.manage("create_token", "chaos", "--scope", "upload").strip()
    names = [*(fault.name for fault in plan.faults), SPOOL_FAULT]
    dice, chosen, done = random.Random(plan.seed), Edits(site, plan.seed), list[During]()
    with CuttingProxy(site.port, plan.seed) as proxy, _clients(proxy, token, plan) as clients:
        at = Rehearsal(site, proxy, plan.pause_seconds, plan.kills)
        editor = Editor(site, proxy.port)
        for number, name in enumerate(names):
            own, share = everything[number :: len(names)], Share()
            before = done[-1].share.acknowledged if done else []
            edits, begun = chosen.next(before), time.monotonic()
            with _beside(site, editor, [request for _, request in edits], dice, share) as answers:
                if name == SPOOL_FAULT:
                    full_spool(site, token, own, share)
                else:
                    _one_fault(plan.faults[number], at, clients, own, share)
            seconds = time.monotonic() - begun
            _settle(site)
            wrong = wrong_answers(site, sample(dice, plan.sampled)) if plan.sampled else []
            made = tuple(edit for edit, _ in edits)
            done.append(During(name, seconds, share, made, answers.get(200, 0), tuple(wrong)))
            tell(f"{name}: {len(share.acknowledged)} acknowledged, {len(made)} edits")
    return done


@contextmanager
def _beside(
    site: Site, editor: Editor, requests: list[Request], dice: random.Random, share: Share
) -> Iterator[Counter[int]]:
    """Edits, and questions that have copies follow; yields answers to these by their status."""
    answers: Counter[int] = Counter()
    over = threading.Event()
    paths = sample(dice, QUESTIONS)

    def edit() -> None:
        try:
            for request in requests:
                editor.change(*request)
        except AssertionError as failure:
            share.faults.append(str(failure))

    def ask() -> None:
        for path in itertools.cycle(paths):
            if over.wait(QUESTION_PAUSE_SECONDS):
                return
            answers[status_of(site, path)] += 1

    threads = [threading.Thread(target=edit), *(threading.Thread(target=ask) for _ in range(2))]
    for thread in threads:
        thread.start()
    try:
        yield answers
    finally:
        threads[0].join()
        over.set()
        for thread in threads:
            thread.join()
        for status in set(answers) - {0, 200, 503}:
            share.faults.append(f"{answers[status]} questions are answered {status}")


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


def _judged(site: Site, every: list[During], everything: list[dict[str, Any]]) -> tuple[Row, ...]:
    expected = {one["run_id"]: len(one["measurements"]) for one in everything}
    removed = {edit.subject for one in every for edit in one.edits if edit.kind == "remove"}
    with site.database() as connection:
        stored = connection.execute(STORED).fetchall()
    times = Counter(run_id for run_id, _, _ in stored)
    ready = {
        run_id for run_id, status, rows in stored if (status, rows) == ("ready", expected[run_id])
    }
    judged = []
    for one in every:
        ids = set(one.share.acknowledged)
        doubled = sum(times[run_id] > (run_id not in removed) for run_id in ids)
        judged.append(Row(one, len(ids - ready - removed), doubled))
    return tuple(judged)


def _differences(
    site: Site, everything: list[dict[str, Any]], edits: list[Edit]
) -> tuple[int, tuple[str, ...]]:
    path = site.folder / "documents.json"
    path.write_text(json.dumps({"documents": everything, "edits": edits}))
    peaceful = site.new_database("undisturbed", template=MIGRATED)
    module = ("-m", "tests.chaos.answers")
    expected = json.loads(site.program(*module, str(path), database=peaceful))
    found = json.loads(site.program(*module))
    expected |= expected.pop("comparisons")
    found |= found.pop("comparisons")
    differing = [name for name in expected if expected[name] != found[name]]
    return len(expected), tuple(f"not as in an undisturbed site: {name}" for name in differing)
