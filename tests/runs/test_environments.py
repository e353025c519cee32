"""After an update that names things differently, a machine still counts once."""

from io import StringIO

from django.core.management import call_command

from documents.environment import FINGERPRINT_VERSION
from runs.models import Environment, Run
from tests.conftest import StoreRun
from tests.sample_documents import run_document


def test_runs_of_an_older_recipe_get_their_environment_of_today(store_run: StoreRun) -> None:
    run = store_run(run_document())
    today = run.environment
    assert today is not None
    assert today.fingerprint_version == FINGERPRINT_VERSION
    old = Environment.objects.get(pk=today.pk)
    old.pk, old.fingerprint, old.fingerprint_version = None, "0" * 64, FINGERPRINT_VERSION - 1
    old.save()
    Run.objects.filter(pk=run.pk).update(environment=old)
    said = StringIO()
    call_command("renew_environments", stdout=said)
    assert said.getvalue() == "1 runs have their environment of today.\n"
    run.refresh_from_db()
    assert run.environment == today
    assert list(Environment.objects.all()) == [today]


def test_where_nothing_is_outdated_nothing_is_done(store_run: StoreRun) -> None:
    store_run(run_document())
    said = StringIO()
    call_command("renew_environments", stdout=said)
    assert said.getvalue() == ""
