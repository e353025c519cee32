import threading

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from compare import engine
from tests.conftest import StoreRun
from tests.sample_documents import run_document


@pytest.mark.django_db(transaction=True)
def test_a_page_asks_again_until_the_figures_are_there(
    store_run: StoreRun, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CIPHERMARK_PUBLIC = True
    client = Client(raise_request_exception=False)
    store_run(run_document())
    may_read = threading.Event()
    read_all = engine.read_all

    def slowly() -> engine.Copy:
        may_read.wait(60)
        return read_all()

    monkeypatch.setattr(engine, "read_all", slowly)
    monkeypatch.setattr(engine, "PATIENCE_SECONDS", 0.1)
    engine.ENGINE.forget()
    try:
        page = client.get("/?group_by=os")
        assert (page.status_code, page["Retry-After"]) == (503, "10")
        assert b"The results are being prepared" in page.content
        assert b'<meta http-equiv="refresh" content="10">' in page.content
        answer = client.get("/api/v1/comparison/")
        assert (answer.status_code, answer["Retry-After"]) == (503, "10")
        assert client.get("/runs/").status_code == 200  # runs come from PostgreSQL
    finally:
        may_read.set()  # otherwise the next test would wait for it
    monkeypatch.undo()
    assert client.get("/?group_by=os").status_code == 200
