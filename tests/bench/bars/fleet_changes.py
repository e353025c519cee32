"""21: what finding changes adds to the processing of a run; the list of changes of 10,000 hosts."""

import json
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from statistics import median
from unittest.mock import patch
from uuid import uuid4

from django.db import transaction
from django.test import Client

from ingest.arrival.acceptance import accept_run
from ingest.fleet_changes.entries import count_members
from ingest.processing.run_processing import look_for_changes
from ingest.tasks import process_run
from store.models import FleetChange, FleetChangeMember, Host, Run
from tests.bench.bars.processing import HOST_NAME, scratch_runs
from tests.bench.figures import Figure, below
from tests.bench.fleet.documents import assembled, without_measurements
from tests.bench.fleet.plan import Plan, PlannedRun
from tests.bench.fleet.size import SIZES, Size
from tests.bench.timing import chosen, milliseconds

ADDED_MS, LIST_MS = 5.0, 100.0

HOSTS, DAYS = 4, 24
KNOWN_FOR = 14
"""Days after which a host has as many runs as are looked at."""

CHANGED_HOSTS = 10_000
FAMILIES = (("openssl", "aes-gcm"), ("openssl", "aes-cbc"), ("ssh", "aes-gcm"), ("ssh", "aes-ctr"))
BEGIN = datetime(2025, 1, 1, tzinfo=UTC)


def figures(size: Size) -> list[Figure]:
    """The difference of pairs of runs, one of them processed without; pages as a reader gets them.

    The list: one change of 10,000 hosts in four families, and 10,000 changes of single hosts.
    """
    hosts = 50 if size.name == "tiny" else CHANGED_HOSTS
    with scratch_runs():
        added = median(_added())
    with transaction.atomic():
        _change(hosts)
        page, api = (_p50(path) for path in ("/changes/", "/api/v1/changes/"))
        transaction.set_rollback(True)
    return [
        below("21 changes: added to processing a run", "ms", added, ADDED_MS),
        below(f"21 changes: page, {hosts:,} hosts", "ms", page, LIST_MS),
        below(f"21 changes: API, {hosts:,} hosts", "ms", api, LIST_MS),
    ]


def _added() -> list[float]:
    plan = Plan(SIZES["tiny"])
    planned = list({run.host.number: run for run in plan.runs}.values())[:HOSTS]
    noise = random.Random(1)
    found = []
    for day in range(DAYS):
        for one in planned:
            pair = [(watched, _accept(plan, one, day, watched, noise)) for watched in (True, False)]
            times = {watched: _processed(key, watched) for watched, key in pair[:: 1 - day % 2 * 2]}
            if day >= KNOWN_FOR:
                found.append(times[True] - times[False])
    return found


def _accept(plan: Plan, planned: PlannedRun, day: int, watched: bool, noise: random.Random) -> int:
    """A run of this day of a host that is watched, or of one that is not."""
    document = without_measurements(plan, planned)
    document.pop("times_of", None)
    started = BEGIN + timedelta(days=day)
    name = f"{HOST_NAME}-{'watched' if watched else 'plain'}-{planned.host.number}"
    document |= {
        "run_id": str(uuid4()),
        "host": {"name": name, "machine_id": None},
        "started_at": started.isoformat(),
        "finished_at": (started + timedelta(minutes=4)).isoformat(),
    }
    made = json.loads(assembled(document, planned.host.kind).body)
    for measurement in made["measurements"]:
        factor = noise.gauss(1, 0.02)
        for sample in measurement["samples"]:
            sample["bytes"] = round(sample["bytes"] * factor)
    return accept_run(json.dumps(made).encode(), made, source=Run.Source.AGENT).run.pk


def _processed(key: int, watched: bool) -> float:
    look: Callable[..., object] = look_for_changes if watched else _do_not_look
    with patch("ingest.processing.run_processing.look_for_changes", look):
        return milliseconds(lambda: process_run(key))


def _do_not_look(_made: object) -> None:
    pass


def _change(count: int) -> None:
    names = (f"bench-changed-{number}" for number in range(count))
    hosts = Host.objects.bulk_create(Host(name=name, slug=name) for name in names)
    kind = {"kind": "speed", "direction": "slower", "first_at": BEGIN, "last_at": BEGIN}
    upgrade = FleetChange.objects.create(cause="OpenSSL: 1.1.1w → 3.0.11", **kind)
    singles = FleetChange.objects.bulk_create(FleetChange(**kind) for _ in hosts)
    parts = [(upgrade, host, *family) for host in hosts for family in FAMILIES]
    parts += [(one, host, *FAMILIES[0]) for one, host in zip(singles, hosts, strict=True)]
    FleetChangeMember.objects.bulk_create(
        (
            FleetChangeMember(
                change=change,
                host=host,
                tool=tool,
                family=family,
                ratio=0.93,
                series=4,
                agreeing=4,
                confirmed=True,
                at=BEGIN,
                differences=["OpenSSL: 1.1.1w → 3.0.11"],
            )
            for change, host, tool, family in parts
        ),
        batch_size=5000,
    )
    count_members([upgrade.pk, *(one.pk for one in singles)])


def _p50(path: str) -> float:
    client = Client()

    def get() -> None:
        answer = client.get(path)
        assert answer.status_code == 200, answer.status_code

    get()
    return median(milliseconds(get) for _ in range(chosen.effort.calls))
