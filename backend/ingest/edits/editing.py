"""What editors change in stored runs and hosts: each change whole, and in the audit log.

The documents of runs stay as they were received. Whatever is derived from the changed runs
follows in the same transaction, through `ingest.edits.recompute.recompute_for` alone.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from django.db import OperationalError, transaction
from psycopg.errors import DeadlockDetected

from access.audit import Actor, Subject, record
from ingest.edits.recompute import Pair, delete_runs, pairs_of, recompute_for
from ingest.processing.hosts import add_names
from store.models import Host, HostAlias, HostName, ImportedText, Run, RunDocument
from store.processing_lock import wait_for_processing

P = ParamSpec("P")
T = TypeVar("T")

LONGEST_NAME = 200
ATTEMPTS = 3
"""At an edit that the database ended because it and a run's processing waited for each other."""


class EditRefused(Exception):
    """What was asked for cannot be; `attr` is the field that the sentence is about, if any."""

    def __init__(self, sentence: str, attr: str | None = None) -> None:
        super().__init__(sentence)
        self.sentence, self.attr = sentence, attr


class EditConflict(EditRefused):
    """The state of the run or host forbids it."""


def edit(change: Callable[P, T]) -> Callable[P, T]:
    """A change in a transaction of its own, while no run is turned into rows.

    Processing a run writes to the runs beside it. A run that is just being begun may still wait
    for us while we want it: then the database ends one of the two, and if it is this one, it is
    made again.
    """

    @wraps(change)
    def whole(*args: P.args, **kwargs: P.kwargs) -> T:
        for _ in range(ATTEMPTS):
            try:
                with transaction.atomic():
                    wait_for_processing()
                    return change(*args, **kwargs)
            except OperationalError as error:
                if not isinstance(error.__cause__, DeadlockDetected):
                    raise
        raise EditConflict("It is being processed just now: try again in a moment.")

    return whole


def pairs_of_host(host: Host) -> list[Pair]:
    """The host with each environment that its runs have."""
    found = Run.objects.filter(host=host, environment__isnull=False).order_by()
    return [(host.pk, one) for one in found.values_list("environment_id", flat=True).distinct()]


def _run_subject(run: Run) -> Subject:
    return Subject("run", run.run_id, f"{run.host_name}, run {run.run_id}")


def host_subject(host: Host) -> Subject:
    """The host as the audit log names it."""
    return Subject("host", host.pk, host.name)


@edit
def set_hidden(run_pk: int, hidden: bool, by: Actor) -> Run:
    """Take a run out of every list and figure, or bring it back; nothing else of it changes."""
    run = Run.objects.select_for_update(of=("self",)).get(pk=run_pk)
    if run.hidden == hidden:
        return run
    before, after = {"hidden": run.hidden}, {"hidden": hidden}
    run.hidden = hidden
    run.save(update_fields=["hidden"])
    record(by, "run.hide" if hidden else "run.show", _run_subject(run), before, after)
    recompute_for(pairs_of([run]))
    return run


@edit
def remove_run(run_pk: int, by: Actor) -> None:
    """Delete a run with its document for good, and the text it came from with its last run.

    `EditConflict` for published runs: the next start of the site would load them again.
    """
    run = Run.objects.select_for_update(of=("self",)).get(pk=run_pk)
    if run.source == Run.Source.PUBLISHED:
        raise EditConflict("A published run comes with the program: hide it, do not remove it.")
    record(by, "run.remove", _run_subject(run), before=_facts(run))
    text_pk = run.imported_text_id
    delete_runs([run])
    _forget_name(run)
    if text_pk and not Run.objects.filter(imported_text_id=text_pk).exists():
        ImportedText.objects.filter(pk=text_pk).delete()


def _forget_name(run: Run) -> None:
    """Have the name of a removed run find its host no more, unless it comes from elsewhere too."""
    same = {"host": run.host_id, "host_name": run.host_name}
    names = HostName.objects.filter(host=run.host_id, name=run.host_name, renames=True)
    if not Run.objects.filter(**same).exists():
        names.exclude(host__name=run.host_name).delete()


def _facts(run: Run) -> dict[str, Any]:
    document = RunDocument.objects.filter(run=run).only("content_digest").first()
    return {
        "host_name": run.host_name,
        "host_key": run.host_id,
        "source": run.source,
        "status": run.status,
        "started_at": run.started_at,
        "received_at": run.received_at,
        "content_digest": document.content_digest if document else None,
    }


@edit
def rename_host(host_pk: int, name: str, by: Actor) -> Host:
    """Give a host another name; its key in addresses stays, uploads of the old name reach it.

    `EditRefused` for what is no name, `EditConflict` where another host goes by it.
    """
    host = Host.objects.select_for_update().get(pk=host_pk)
    name = name.strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise EditRefused(f"A name has 1 to {LONGEST_NAME} printable characters.", "name")
    if name == host.name:
        return host
    _refuse_name_of_another(host, name)
    before = host.name
    known = host.names.values_list("name", flat=True)
    add_names(host, {*known, before, name}, renames=False)
    if host.machine_id is None:
        _free_name(host, name)
        HostAlias.objects.create(host=host, name=before, published=host.published)
    host.name = name
    host.save(update_fields=["name"])
    record(by, "host.rename", host_subject(host), {"name": before}, {"name": name})
    return host


def _refuse_name_of_another(host: Host, name: str) -> None:
    """Raise `EditConflict` where another host is listed by the name, or gets its uploads."""
    listed = Host.objects.filter(name=name, published=host.published).exclude(pk=host.pk).first()
    alias = None
    if host.machine_id is None:
        aliases = HostAlias.objects.filter(machine_id=None, name=name, published=host.published)
        alias = aliases.exclude(host=host).select_related("host").first()
    other = alias.host if alias else listed
    if other is not None:
        raise EditConflict(
            f"The name “{name}” leads to the host {other.name} ({other.slug}): if they are one "
            "machine, merge them.",
            "name",
        )


def _free_name(host: Host, name: str) -> None:
    """Have uploads of this name reach the host itself, which has no machine id."""
    own = {"machine_id": None, "name": name, "published": host.published}
    HostAlias.objects.filter(host=host, **own).delete()
