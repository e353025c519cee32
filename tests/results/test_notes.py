"""Notes on groups stand in the history of the hosts that are in them."""

import pytest
from django.utils import timezone

from results.hosts.notes import notes_of_host
from store.models import Note
from tests.conftest import StoreRun
from tests.sample_documents import environment, run_document


@pytest.mark.django_db
def test_a_run_without_a_date_does_not_say_in_which_groups_its_host_is(store_run: StoreRun) -> None:
    dated = store_run(run_document(environment=environment(model="Xeon 1")))
    undated = store_run(run_document(environment=environment(model="Xeon 2")))
    type(undated).objects.filter(pk=undated.pk).update(started_at=None)
    assert dated.host_id == undated.host_id
    for group in ("xeon-1", "xeon-2"):
        Note.objects.create(text=group, group_by="cpu", group=group, at=timezone.now())
    assert dated.host_id is not None
    assert [note.text for note in notes_of_host(dated.host_id)] == ["xeon-1"]
