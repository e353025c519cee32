"""After an update that derives rows differently, runs are derived again and machines count once."""

from io import StringIO

from django.core.management import call_command

from ingest.processing.run_processing import DERIVED_VERSION
from store.models import Environment, Measurement, Run
from tests.conftest import StoreRun
from tests.sample_documents import run_document


def renew() -> str:
    said = StringIO()
    call_command("renew_runs", stdout=said)
    return said.getvalue()


def test_a_run_of_an_older_version_is_derived_anew(store_run: StoreRun) -> None:
    run = store_run(run_document())
    today = run.environment
    assert today is not None
    old = Environment.objects.get(pk=today.pk)
    old.pk, old.fingerprint = None, "0" * 64
    old.save()
    Run.objects.filter(pk=run.pk).update(environment=old, derived_version=1, hidden=True)
    Measurement.objects.filter(run=run).update(median=1.0)
    assert renew() == "1 run was derived again.\n"
    run.refresh_from_db()
    assert (run.environment, run.derived_version) == (today, DERIVED_VERSION)
    assert run.hidden
    assert list(Environment.objects.all()) == [today]
    assert Measurement.objects.get(run=run).median == 410e6


def test_where_nothing_is_outdated_nothing_is_done(store_run: StoreRun) -> None:
    store_run(run_document())
    assert renew() == ""
