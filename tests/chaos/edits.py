"""Runs that are hidden, shown and removed, hosts that are merged and split, among the uploads."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tests.chaos.documents import CLONES, MACHINES, machine_id, second_name
from tests.chaos.site import Site

HIDDEN, REMOVED = 4, 2
"""Runs of each fault; two of the hidden are shown again by the next one."""

HOST = """
SELECT max(h.id), count(DISTINCT r.host_name) FROM runs_host h JOIN runs_run r ON r.host_id = h.id
WHERE h.machine_id = %s AND r.status = 'ready'
"""


class Edit(NamedTuple):
    """What is done to a run (its id) or to a host (its machine id), with another one or a name."""

    kind: str
    subject: str
    other: str = ""


class Request(NamedTuple):
    """How the API is asked for it."""

    method: str
    path: str
    body: dict[str, Any]


@dataclass
class Edits:
    """Chooses edits of what is stored; which ones follows from the seed."""

    site: Site
    seed: int

    def __post_init__(self) -> None:
        self._dice = random.Random(self.seed)
        self._hidden: list[str] = []
        self._clones = list(range(MACHINES - CLONES, MACHINES))
        self._others = list(range(MACHINES - CLONES))
        self._dice.shuffle(self._others)

    def next(self, ids: Sequence[str]) -> list[tuple[Edit, Request]]:
        """Edits of these runs, which no client sends any more, and of hosts."""
        if len(ids) < HIDDEN + REMOVED:
            return []
        *hidden, first, second = self._dice.sample(list(ids), HIDDEN + REMOVED)
        shown, self._hidden = self._hidden[: HIDDEN // 2], hidden
        found = [_of_run("show", one) for one in shown]
        found += [_of_run("hide", one) for one in hidden]
        found += [_of_run("remove", first), _of_run("remove", second)]
        found += self._merge()
        self._dice.shuffle(found)
        # A split first: the runs of one of the two names may be among those removed.
        return [*self._split(), *found]

    def _merge(self) -> list[tuple[Edit, Request]]:
        if len(self._others) < 2:
            return []
        kept, other = (machine_id(self._others.pop()) for _ in range(2))
        (kept_key, _), (other_key, _) = self._host(kept), self._host(other)
        if kept_key is None or other_key is None:
            return []
        request = Request("POST", f"hosts/{kept_key}/merge/", {"other": other_key})
        return [(Edit("merge", kept, other), request)]

    def _split(self) -> list[tuple[Edit, Request]]:
        for number in self._clones:
            key, names = self._host(machine_id(number))
            if names > 1:
                self._clones.remove(number)
                request = Request("POST", f"hosts/{key}/split/", {"name": second_name(number)})
                return [(Edit("split", machine_id(number), second_name(number)), request)]
        return []

    def _host(self, machine: str) -> tuple[int | None, int]:
        """The host's key, None where it has no run, and how many names its runs have."""
        with self.site.database() as connection:
            key, names = connection.execute(HOST, [machine]).fetchone()  # type: ignore[misc]
            return key, names


def _of_run(kind: str, run_id: str) -> tuple[Edit, Request]:
    if kind == "remove":
        return Edit(kind, run_id), Request("DELETE", f"runs/{run_id}/", {})
    return Edit(kind, run_id), Request("PATCH", f"runs/{run_id}/", {"hidden": kind == "hide"})


def replay(edits: Sequence[Edit]) -> None:
    """Make the same edits at the site that this process is of."""
    from access.audit import COMMAND
    from ingest.edits import editing, merging, splitting
    from store.models import Host, Run

    for kind, subject, other in edits:
        if kind == "merge":
            kept, gone = (Host.objects.get(machine_id=one) for one in (subject, other))
            merging.merge_hosts(kept.pk, gone.pk, COMMAND)
        elif kind == "split":
            splitting.split_host(Host.objects.get(machine_id=subject).pk, other, COMMAND)
        elif kind == "remove":
            editing.remove_run(Run.objects.get(run_id=subject).pk, COMMAND)
        else:
            editing.set_hidden(Run.objects.get(run_id=subject).pk, kind == "hide", COMMAND)
