"""Change runs on behalf of editors, with an entry in the audit log.

Run documents are never changed. Derived data are recomputed in the same transaction
(`runs.recompute`). Lock a host before its runs.
"""

from typing import Any

from django.db import transaction

from accounts.audit import Actor, Subject, record
from runs.models import Host, Run
from runs.recompute import delete_runs, pairs_of, recompute_for


class EditRefused(Exception):
    """Raised when a change is invalid; `attr` is the invalid field, if any."""

    def __init__(self, sentence: str, attr: str | None = None) -> None:
        super().__init__(sentence)
        self.sentence, self.attr = sentence, attr


class EditConflict(EditRefused):
    """Raised when the state of the run or host does not allow a change."""


def _locked_run(pk: int) -> Run:
    Host.objects.select_for_update().filter(runs=pk).first()
    return Run.objects.select_for_update(of=("self",)).get(pk=pk)


def _run_subject(run: Run) -> Subject:
    return Subject("run", run.run_id, f"{run.host_name}, run {run.run_id}")


@transaction.atomic
def set_hidden(run_pk: int, hidden: bool, by: Actor) -> Run:
    """Hide a run from all lists and statistics, or unhide it."""
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
    """Delete a run with its document, and its imported text if no other run uses it.

    Raises `EditConflict` for published runs, because the site would load them again at startup.
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
