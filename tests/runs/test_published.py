import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from runs import published
from runs.models import Host, Measurement, Run

FIGURES = json.loads(
    (Path(published.__file__).parent / "data" / "published.json").read_text("utf-8")
)["runs"]


@pytest.mark.django_db
def test_loading_twice_changes_nothing() -> None:
    out = StringIO()
    call_command("load_published", stdout=out)
    call_command("load_published", stdout=out)
    first, second = out.getvalue().splitlines()
    assert "23 runs loaded, 0 unchanged, 2 results skipped" in first
    assert "0 runs loaded, 23 unchanged, 2 results skipped" in second
    assert Run.objects.filter(status="ready", source="published").count() == 23


@pytest.mark.django_db
@pytest.mark.usefixtures("published")
def test_every_named_figure_is_stored_at_its_rate() -> None:
    assert {run.provenance["page"]["title"] for run in Run.objects.all()} == {
        entry["page"]["title"] for entry in FIGURES
    }
    named = [
        measurement
        for entry in FIGURES
        for measurement in entry["measurements"]
        if measurement["cipher"]
    ]
    assert Measurement.objects.count() == len(named) == 107
    assert not Measurement.objects.filter(implausible=True).exists()


@pytest.mark.django_db
@pytest.mark.usefixtures("published")
def test_every_run_carries_its_page_and_nothing_invented() -> None:
    for run in Run.objects.all():
        page = run.provenance["page"]
        assert page["title"]
        assert (run.started_at is None) == (page["date"] is None)
        assert run.host is not None
        assert run.host.published


@pytest.mark.django_db
@pytest.mark.usefixtures("published")
def test_printed_rates_were_read_in_their_unit() -> None:
    host = Host.objects.get(name="Proxmox guest (M. Turecki)")
    gcm = Measurement.objects.get(run__host=host, series__cipher="aes128-gcm@openssh.com")
    assert gcm.median == pytest.approx(370.37 * 1048576)
    workstation = Host.objects.get(name="Workstation (ossman)")
    cbc = Measurement.objects.get(
        run__host=workstation,
        series__cipher="aes-128-cbc",
        series__block_size=16,
        series__acceleration="default",
    )
    assert cbc.median == 703274.51 * 1000


@pytest.mark.django_db
@pytest.mark.usefixtures("published")
def test_a_corrected_figure_replaces_its_run(monkeypatch: pytest.MonkeyPatch) -> None:
    corrected = json.loads(json.dumps(FIGURES))
    corrected[-1]["measurements"][0]["samples"] = [{"bytes_per_second": 123.0}]
    monkeypatch.setattr(published, "_published_runs", lambda: corrected)
    done = published.load_published()
    assert (done.loaded, done.unchanged) == (1, 22)
    assert Measurement.objects.filter(median=123.0).count() == 1
    assert Run.objects.count() == 23


@pytest.mark.django_db
@pytest.mark.usefixtures("published")
def test_what_an_administrator_hid_stays_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    Run.objects.update(hidden=True)
    corrected = json.loads(json.dumps(FIGURES))
    corrected[-1]["measurements"][0]["samples"] = [{"bytes_per_second": 123.0}]
    monkeypatch.setattr(published, "_published_runs", lambda: corrected)
    published.load_published()
    assert not Run.objects.filter(hidden=False).exists()
