"""Hide, show and delete runs, and record each change in the audit log.

Run documents never change. Derived data is recomputed in the same transaction (`runs.recompute`).
To prevent deadlocks, lock a host before the runs of the host.
"""

from typing import Any

from django.db import transaction

from accounts.audit import Actor, Subject, record
from runs.models import Host, Run
from runs.recompute import delete_runs, pairs_of, recompute_for


class EditRefused(Exception):
    """Report an invalid change. `attr`: name of the invalid field, or None."""

    def __init__(self, sentence: str, attr: str | None = None) -> None:
        super().__init__(sentence)
        self.sentence, self.attr = sentence, attr


class EditConflict(EditRefused):
    """Report a change that the current state of the run or host does not allow."""


def _locked_run(pk: int) -> Run:
    Host.objects.select_for_update().filter(runs=pk).first()
    return Run.objects.select_for_update(of=("self",)).get(pk=pk)


def _run_subject(run: Run) -> Subject:
    return Subject("run", run.run_id, f"{run.host_name}, run {run.run_id}")


@transaction.atomic
def set_hidden(run_pk: int, hidden: bool, by: Actor) -> Run:
    run = _locked_run(run_pk)
    if run.hidden == hidden:
        return run
    run.hidden = hidden
    run.save(update_fields=["hidden"])
    action = "run.hide" if hidden else "run.show"
    record(by, action, _run_subject(run), {"hidden": not hidden}, {"hidden": hidden})
    recompute_for(pairs_of([run]))
    return run


@transaction.atomic
def remove_run(run_pk: int, by: Actor) -> None:
    """Delete a run. Also delete the imported text of the run if no other run uses the text.

    Raise `EditConflict` for a published run, because the site would load the run again at startup.
    """
    run = _locked_run(run_pk)
    if run.source == Run.Source.PUBLISHED:
        raise EditConflict("Published runs cannot be deleted. Hide the run instead.")
    before: dict[str, Any] = {
        "host_name": run.host_name,
        "host_key": run.host_id,
        "source": run.source,
        "status": run.status,
        "started_at": run.started_at,
        "received_at": run.received_at,
        "content_digest": run.document.content_digest,
    }
    record(by, "run.remove", _run_subject(run), before)
    text = run.imported_text
    delete_runs([run])
    if text and not text.runs.exists():
        text.delete()
