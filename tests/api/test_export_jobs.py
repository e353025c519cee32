"""/api/v1/exports/jobs/: large files made in the background, fetched in parts, and no remains."""

import io
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.utils import timezone
from openpyxl import load_workbook
from pytest_django.fixtures import Settings

from access import export_quota
from access.export_quota import MOST_UNFINISHED, TooManyExports
from access.tokens import create_token
from reports import export_jobs
from reports.export_jobs import MOST_ATTEMPTS, make, open_job
from reports.rows import export_rows
from reports.tasks import sweep_exports
from store.models import ApiToken, ExportJob, Measurement, Run
from store.roles import ADMINISTRATOR
from tests.cases import each
from tests.conftest import ApiClient, StoreRun, csv_rows, signed_in
from tests.sample_documents import run_document, ssh_measurement

URL = "/api/v1/exports/jobs/"


@pytest.fixture(autouse=True)
def folder(db: None, exports_folder: Path) -> Iterator[Path]:
    """Where the files are."""
    yield exports_folder
    for job in ExportJob.objects.all():
        cache.delete_many([job.pulse_key, job.stop_key, job.network_key])


@pytest.fixture
def stored(store_run: StoreRun) -> None:
    """Two runs of three measurements."""
    ciphers = ("aes128-ctr", "aes256-ctr", "3des-cbc")
    for host in ("a", "b"):
        measured = [ssh_measurement(cipher, 1e8, 2e8) for cipher in ciphers]
        store_run(run_document(*measured, host={"name": host}))


def asked(client: Client, query: str = "kind=measurements&format=csv") -> dict[str, Any]:
    response = client.post(f"{URL}?{query}")
    assert response.status_code == 202, response.content
    answer: dict[str, Any] = response.json()
    return answer


def made(client: Client, query: str = "kind=measurements&format=csv") -> dict[str, Any]:
    """A job after its task has run."""
    answer = asked(client, query)
    make(ExportJob.objects.get(job_id=answer["job_id"]).pk)
    state: dict[str, Any] = client.get(answer["url"]).json()
    return state


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


@pytest.mark.usefixtures("stored")
def test_a_file_is_asked_for_made_and_fetched(reader: ApiClient, folder: Path) -> None:
    waiting = asked(reader, "kind=measurements&format=csv&host=a")
    assert (waiting["status"], waiting["file_url"]) == ("waiting", None)
    assert reader.get(f"{waiting['url']}file").status_code == 409
    make(ExportJob.objects.get().pk)
    ready = reader.get(waiting["url"]).json()
    assert (ready["status"], ready["rows_total"], ready["rows_done"]) == ("ready", 3, 3)
    response = reader.get(ready["file_url"])
    content = response.getvalue()
    assert len(content) == ready["size_bytes"] == int(response["Content-Length"])
    assert "ciphermark-measurements-20" in response["Content-Disposition"]
    direct = reader.get("/api/v1/exports/measurements.csv", {"host": "a"}).getvalue()
    assert content == direct
    assert files(folder) == [f"{ready['job_id']}.csv"]


@pytest.mark.usefixtures("stored")
def test_workbooks_and_tries_are_made_too(reader: ApiClient) -> None:
    for query, sheets in (
        ("kind=measurements&format=xlsx", "Measurements"),
        ("kind=comparison&format=xlsx&group_by=host", "Comparison"),
    ):
        state = made(reader, query)
        content = reader.get(state["file_url"]).getvalue()
        assert sheets in load_workbook(io.BytesIO(content)).sheetnames
    assert len(csv_rows(reader.get(made(reader, "kind=samples")["file_url"]))) == 12


@pytest.mark.usefixtures("stored")
def test_an_interrupted_download_goes_on_where_it_stopped(reader: ApiClient) -> None:
    state = made(reader)
    whole = reader.get(state["file_url"])
    content = whole.getvalue()
    assert whole["Accept-Ranges"] == "bytes"
    rest = reader.get(state["file_url"], headers={"range": "bytes=100-", "if-range": whole["ETag"]})
    assert rest.status_code == 206
    assert rest["Content-Range"] == f"bytes 100-{len(content) - 1}/{len(content)}"
    assert rest.getvalue() == content[100:]
    other = reader.get(state["file_url"], headers={"range": "bytes=100-", "if-range": '"other"'})
    assert (other.status_code, other.getvalue()) == (200, content)
    for beyond in (f"bytes={len(content)}-", f"bytes={len(content)}-{len(content)}"):
        refused = reader.get(state["file_url"], headers={"range": beyond})
        assert refused.status_code == 416, beyond
        assert refused["Content-Range"] == f"bytes */{len(content)}"


@pytest.mark.usefixtures("stored")
def test_a_file_that_was_lost_is_a_404(reader: ApiClient, folder: Path) -> None:
    state = made(reader)
    (folder / files(folder)[0]).unlink()
    answer = reader.get(state["file_url"])
    assert answer.status_code == 404
    assert "ask for it again" in answer.json()["errors"][0]["detail"]


@pytest.mark.usefixtures("stored")
def test_a_range_may_be_one_byte(reader: ApiClient) -> None:
    state = made(reader)
    content = reader.get(state["file_url"]).getvalue()
    last = len(content) - 1
    asked_for = (
        ("0-0", 0),
        ("5-5", 5),
        ("-1", last),
        (f"{last}-", last),
        (f"{last}-{2 * last}", last),
    )
    for byte_range, position in asked_for:
        part = reader.get(state["file_url"], headers={"range": f"bytes={byte_range}"})
        assert (part.status_code, part.getvalue()) == (206, content[position : position + 1])
        assert part["Content-Range"] == f"bytes {position}-{position}/{len(content)}"
        assert part["Content-Length"] == "1"


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize("form", ("csv", "xlsx"))
def test_cancelled_while_it_is_made_leaves_nothing(
    reader: ApiClient, folder: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    answer = asked(reader, f"kind=measurements&format={form}")
    monkeypatch.setattr(export_rows, "CHUNK_BYTES", 1)
    monkeypatch.setattr(export_jobs, "PULSE_SECONDS", 0)
    show_life = export_jobs._show_life
    seen: list[int] = []

    def stop_in_between(job: ExportJob, done: int) -> None:
        if not seen:
            assert files(folder) == [f"{answer['job_id']}.1.part"]
            # What DELETE leaves for the maker, which is another process with its own connection.
            cache.set(job.stop_key, 1, 60)
        seen.append(done)
        show_life(job, done)

    monkeypatch.setattr(export_jobs, "_show_life", stop_in_between)
    make(ExportJob.objects.get().pk)
    assert len(seen) == 1
    assert files(folder) == []
    assert reader.delete(answer["url"]).status_code == 204
    monkeypatch.setattr(export_jobs, "_show_life", show_life)
    # The connection, whose COPY was broken off, serves the next one.
    assert made(reader)["status"] == "ready"


@pytest.mark.usefixtures("stored")
def test_deleted_when_all_but_its_name_was_done_leaves_nothing(
    reader: ApiClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = asked(reader)
    write = export_jobs._write

    def write_and_delete(job: ExportJob) -> None:
        write(job)
        reader.delete(answer["url"])

    monkeypatch.setattr(export_jobs, "_write", write_and_delete)
    make(ExportJob.objects.get().pk)
    assert (files(folder), ExportJob.objects.count()) == ([], 0)


@pytest.mark.usefixtures("stored")
def test_a_disk_that_is_nearly_full_is_left_to_the_database_and_the_failure_told(
    reader: ApiClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_jobs, "LEAST_FREE_BYTES", 1 << 62)
    state = made(reader)
    assert state["status"] == "failed"
    assert state["failure"] == "The file could not be written: No space left on device."
    assert files(folder) == []
    assert "No space left" in reader.get(f"{state['url']}file").json()["errors"][0]["detail"]


@pytest.mark.usefixtures("stored")
def test_what_expires_goes_with_its_file(reader: ApiClient, folder: Path) -> None:
    state = made(reader)
    others = ["somebody's own.csv", f"{uuid4()}.1.part", f"{uuid4()}.csv"]
    for left in (*others, *(f"{uuid4()}.{ending}" for ending in ("part", "2.part", "csv", "xlsx"))):
        (folder / left).write_bytes(b"x")
        if left not in others[1:]:
            os.utime(folder / left, (0, 0))
    sweep_exports()
    assert files(folder) == sorted([f"{state['job_id']}.csv", *others])
    ExportJob.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    sweep_exports()
    assert (files(folder), ExportJob.objects.count()) == (sorted(others), 0)


@pytest.mark.usefixtures("stored")
def test_a_maker_that_was_given_up_changes_nothing_of_the_next_ones_file(
    reader: ApiClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = asked(reader)
    write = export_jobs._write

    def write_while_another_one_does(job: ExportJob) -> None:
        write(job)
        monkeypatch.setattr(export_jobs, "_write", write)
        ExportJob.objects.update(status=ExportJob.Status.WAITING)  # as the sweep does
        make(job.pk)

    monkeypatch.setattr(export_jobs, "_write", write_while_another_one_does)
    make(ExportJob.objects.get().pk)
    state = reader.get(answer["url"]).json()
    assert state["status"] == "ready"
    assert len(reader.get(state["file_url"]).getvalue()) == state["size_bytes"]
    assert (files(folder), ExportJob.objects.get().attempts) == ([f"{state['job_id']}.csv"], 2)


@pytest.mark.usefixtures("stored")
def test_a_job_whose_worker_died_is_begun_again_but_not_for_ever(reader: ApiClient) -> None:
    asked(reader)
    early = timezone.now() - timedelta(minutes=5)
    running = {"status": ExportJob.Status.RUNNING, "begun_at": early, "created_at": early}
    ExportJob.objects.update(**running, attempts=1)
    job = ExportJob.objects.get()
    cache.set(job.pulse_key, 1, 60)
    sweep_exports()
    assert ExportJob.objects.get().status == ExportJob.Status.RUNNING
    cache.delete(job.pulse_key)
    sweep_exports()
    assert ExportJob.objects.get().status == ExportJob.Status.WAITING
    ExportJob.objects.update(**running, attempts=MOST_ATTEMPTS)
    sweep_exports()
    job = ExportJob.objects.get()
    assert (job.status, "never ended" in job.failure) == (ExportJob.Status.FAILED, True)


@pytest.mark.usefixtures("stored")
def test_the_same_task_twice_makes_one_file(reader: ApiClient) -> None:
    state = made(reader)
    job = ExportJob.objects.get()
    make(job.pk)
    job.refresh_from_db()
    assert (job.attempts, job.status) == (1, "ready")
    assert len(reader.get(state["file_url"]).getvalue()) == job.size_bytes


def test_the_same_question_under_way_is_one_job_and_their_number_is_limited(
    reader: ApiClient,
) -> None:
    assert asked(reader)["job_id"] == asked(reader)["job_id"]
    for host in range(MOST_UNFINISHED - 1):
        asked(reader, f"kind=measurements&host={host}")
    refused = reader.post(f"{URL}?kind=measurements&host=one-more")
    assert refused.status_code == 429
    assert int(refused["Retry-After"]) > 0


@pytest.mark.django_db(transaction=True)
def test_requests_of_one_moment_find_no_more_room_than_there_is() -> None:
    create_token("report", "read")
    token = ApiToken.objects.get()

    def ask(number: int) -> bool:
        try:
            job = ExportJob(kind="samples", format="csv", query=f"{number}", token=token)
            open_job(job, "", ExportJob.objects.filter(token=token))
        except TooManyExports:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(ask, range(16))) == MOST_UNFINISHED
    assert ExportJob.objects.count() == MOST_UNFINISHED


def test_visitors_without_an_account_do_not_take_each_others_room(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CIPHERMARK_PUBLIC = True
    here, there = (Client(REMOTE_ADDR=address) for address in ("192.0.2.1", "192.0.2.2"))
    network = [Client(REMOTE_ADDR=f"2001:db8::{number}") for number in range(1, 6)]
    for number in range(MOST_UNFINISHED):
        asked(here, f"kind=measurements&host=h{number}")
        asked(network[number], f"kind=measurements&host=n{number}")
    for full in (here, network[-1]):
        refused = full.post(f"{URL}?kind=measurements&host=more")
        assert refused.status_code == 429
        assert "exports of yours" in refused.json()["errors"][0]["detail"]
    asked(there, "kind=measurements&host=t")
    monkeypatch.setattr(export_quota, "MOST_UNFINISHED_OF_STRANGERS", 2 * MOST_UNFINISHED + 1)
    refused = there.post(f"{URL}?kind=measurements&host=more")
    assert refused.status_code == 429
    assert "or sign in" in refused.json()["errors"][0]["detail"]


@pytest.mark.usefixtures("stored")
def test_a_visitors_files_do_not_go_for_another_visitors(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CIPHERMARK_PUBLIC = True
    monkeypatch.setattr(export_quota, "MOST_KEPT", 1)
    monkeypatch.setattr(export_quota, "MOST_KEPT_OF_STRANGERS", 3)
    here, there = (Client(REMOTE_ADDR=address) for address in ("192.0.2.1", "192.0.2.2"))
    first = made(here)["url"]
    theirs = [made(there)["url"] for _ in range(2)]
    asked(there)
    assert [here.get(url).status_code for url in (first, *theirs)] == [200, 404, 200]
    monkeypatch.setattr(export_quota, "MOST_KEPT_OF_STRANGERS", 1)
    asked(there, "kind=samples")
    assert here.get(first).status_code == 404, "a disk has an end"


def test_a_visitor_neither_joins_nor_cancels_another_visitors_export(settings: Settings) -> None:
    settings.CIPHERMARK_PUBLIC = True
    visitor, stranger = Client(), Client()
    mine, theirs = asked(visitor), asked(stranger)
    assert asked(visitor)["job_id"] == mine["job_id"] != theirs["job_id"]
    assert [one["job_id"] for one in visitor.get(URL).json()["results"]] == [mine["job_id"]]
    for someone in (stranger, Client()):
        assert someone.get(mine["url"]).status_code == 200
        assert someone.delete(mine["url"]).status_code in (401, 403)
        someone.post(f"/exports/{mine['job_id']}/delete/")
    assert ExportJob.objects.filter(job_id=mine["job_id"]).exists()
    assert visitor.delete(mine["url"]).status_code == 204


def test_what_is_not_said_of_a_job_is_its_kinds_default(reader: ApiClient) -> None:
    kinds = {"": "csv", "kind=&format=": "csv", "kind=samples": "csv", "kind=comparison": "xlsx"}
    for query, form in kinds.items():
        job = asked(reader, query)
        assert job["kind"] == (query.removeprefix("kind=").partition("&")[0] or "measurements")
        assert job["format"] == form


@pytest.mark.usefixtures("stored")
def test_old_files_go_when_new_ones_come(
    reader: ApiClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_quota, "MOST_KEPT", 2)
    ids = [made(reader)["job_id"] for _ in range(3)]
    newest = asked(reader)["job_id"]
    kept = [one["job_id"] for one in reader.get(URL).json()["results"]]
    assert kept == [newest, *reversed(ids[1:])]
    assert files(folder) == sorted(f"{one}.csv" for one in ids[1:])


@each(
    ("query", "attr"),
    (
        ("kind=everything", "kind"),
        ("kind=samples&format=xlsx", "format"),
        ("kind=comparison&format=csv", "format"),
        ("kind=measurements&format=pdf", "format"),
        ("kind=measurements&columns=none", "columns"),
        ("kind=measurements&tool=gpg", "tool"),
    ),
)
def test_what_cannot_be_made_is_refused_at_once(reader: ApiClient, query: str, attr: str) -> None:
    response = reader.post(f"{URL}?{query}")
    assert response.status_code == 400
    assert response.json()["errors"][0]["attr"] == attr
    assert ExportJob.objects.count() == 0


def test_others_see_no_list_of_mine_and_delete_nothing(
    reader: ApiClient, settings: Settings
) -> None:
    answer = asked(reader)
    other = ApiClient(create_token("other", "read"))
    assert [one["job_id"] for one in reader.get(URL).json()["results"]] == [answer["job_id"]]
    assert other.get(URL).json()["results"] == []
    assert other.delete(answer["url"]).status_code == 403
    assert Client().get(answer["url"]).status_code == 401
    assert ApiClient(create_token("agent", "upload")).post(URL).status_code == 403
    settings.CIPHERMARK_PUBLIC = True
    assert Client().get(URL).json()["results"] == []
    assert Client().delete(answer["url"]).status_code in (401, 403)
    assert signed_in("eve").delete(answer["url"]).status_code == 403
    assert ExportJob.objects.count() == 1
    assert signed_in("ada", ADMINISTRATOR).delete(answer["url"]).status_code == 204
    assert ExportJob.objects.count() == 0


@pytest.mark.usefixtures("stored")
def test_a_workbook_too_large_to_wait_for_leads_here(
    reader: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reports.exporting.AT_ONCE_ROWS", 2)
    address = "/api/v1/exports/measurements.xlsx?host=a&columns=cipher"
    response = reader.get(address)
    assert response.status_code == 400
    (error,) = response.json()["errors"]
    named = error["detail"].partition("POST to ")[2].partition(",")[0]
    assert error["code"] == "too_many_rows"
    assert reader.get("/api/v1/exports/measurements.csv").status_code == 200
    first = reader.post(named).json()
    response = reader.get(address, headers={"prefer": "wait=10, Respond-Async; x=1"})
    assert (response.status_code, response["Preference-Applied"]) == (202, "respond-async")
    # The same question under way is the same job.
    assert response["Location"] == response.json()["url"] == first["url"]
    assert (first["kind"], first["format"]) == ("measurements", "xlsx")
    make(ExportJob.objects.get().pk)
    content = reader.get(reader.get(first["url"]).json()["file_url"]).getvalue()
    assert [row[0] for row in load_workbook(io.BytesIO(content))["Measurements"].values] == [
        "cipher",
        "3des-cbc",
        "aes128-ctr",
        "aes256-ctr",
    ]


@pytest.mark.usefixtures("stored")
def test_a_workbook_of_long_texts_leads_there_too(
    admin_client: Client, reader: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = "/api/v1/exports/measurements.xlsx?columns=cipher"
    assert reader.get(f"{address},tags").getvalue().startswith(b"PK")
    rows = Measurement.objects.count()
    Run.objects.update(tags={"long": "€" * 100})
    monkeypatch.setattr("reports.exporting.AT_ONCE_BYTES", 300 * rows)
    refused = reader.get(f"{address},tags")
    assert [one["code"] for one in refused.json()["errors"]] == ["too_many_rows"]
    page = admin_client.get("/exports/download/?kind=measurements&format=xlsx&columns=cipher,tags")
    assert b"This is a large file" in page.content
    # What is not in the file does not count, nor what streams.
    assert reader.get(address).getvalue().startswith(b"PK")
    stream = "/exports/download/?kind=measurements&format=csv&columns=cipher,tags"
    assert admin_client.get(stream).status_code == 302


def test_a_file_is_what_its_address_says_whatever_is_accepted(reader: ApiClient) -> None:
    for name, kind in (("measurements.csv", "text/csv"), ("comparison.csv", "text/csv")):
        response = reader.get(f"/api/v1/exports/{name}", headers={"accept": kind})
        assert (response.status_code, response["Content-Type"][:8]) == (200, kind)
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    response = reader.get("/api/v1/exports/comparison.xlsx", headers={"accept": kind})
    assert (response.status_code, response["Content-Type"]) == (200, kind)
    assert response.getvalue().startswith(b"PK")
