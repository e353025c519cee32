from typing import Any

import pytest

from runs.models import Run
from tests.conftest import ApiClient, StoreRun
from tests.histories import run_of_day, with_openssl
from tests.sample_documents import environment, openssl_measurement, ssh_measurement

URL = "/api/v1/trends/"
GCM = "aes128-gcm@openssh.com"
SSH = {"host": "nas", "tool": "ssh", "cipher": GCM}
OPENSSL = {"host": "nas", "tool": "openssl", "cipher": "aes-128-gcm"}
OLD, NEW = "OpenSSL 3.0.15 3 Sep 2024", "OpenSSL 3.0.19 27 Jan 2026"


def store_days(store_run: StoreRun, *rates: float, first: int = 0, **changes: Any) -> list[Run]:
    return [
        store_run(run_of_day(first + day, ssh_measurement(GCM, rate, rate, rate), **changes))
        for day, rate in enumerate(rates)
    ]


def ask(reader: ApiClient, query: dict[str, Any], expect: int = 200, **more: Any) -> Any:
    response = reader.get(URL, {**query, **more})
    assert response.status_code == expect, response.content
    return response.json()


def test_a_history_lists_the_runs_oldest_first_with_what_is_known_of_each(
    reader: ApiClient, store_run: StoreRun
) -> None:
    late = store_run(run_of_day(5, ssh_measurement(GCM, 400e6, 410e6, 420e6)))
    busy = [{"code": "busy", "detail": "12 %"}]
    early = store_run(run_of_day(2, ssh_measurement(GCM, 1e8, 2e8, 3e8), conditions=busy))
    found = ask(reader, SSH)
    assert [point["run_id"] for point in found["points"]] == [str(early.run_id), str(late.run_id)]
    first, last = found["points"]
    assert (first["median"], first["n"], first["noisy"]) == (2e8, 3, True)
    assert first["spread"] == pytest.approx(0.7413)
    assert first["conditions"] == busy
    assert first["started_at"] == "2025-03-03T06:00:00Z"
    assert (last["median"], last["noisy"]) == (410e6, False)
    assert last["environment"] == (
        "OpenSSL 3.0.19, OpenSSH 9.2p1, Debian GNU/Linux 12, AMD EPYC 9R14"
    )
    assert (found["unit"], found["cut"], found["undated"]) == ("B/s", False, 0)
    assert found["series"]["method"] == "pipeline"


def test_a_change_is_told_with_what_changed_in_the_environment(
    reader: ApiClient, store_run: StoreRun
) -> None:
    before = store_days(store_run, 400e6, 404e6, 396e6)
    newer = {**environment(microcode="0xa1"), "openssl": {"version_text": OLD}}
    after = store_days(store_run, 300e6, 302e6, first=3, environment=newer)
    (change,) = ask(reader, SSH)["changes"]
    assert (change["run_id"], change["previous_run_id"]) == (
        str(after[0].run_id),
        str(before[-1].run_id),
    )
    assert (change["direction"], change["confidence"]) == ("slower", "high")
    assert (change["before"], change["after"], change["window"]) == (400e6, 301e6, 3)
    assert change["ratio"] == pytest.approx(0.7525)
    assert change["threshold"] == pytest.approx(0.0593, rel=1e-2)
    assert "24.8 % slower than the median of the previous 3 runs" in change["words"]
    assert [difference["words"] for difference in change["environment_changes"]] == [
        "OpenSSL 3.0.19 → 3.0.15"
    ]


def test_a_disturbed_run_neither_starts_nor_sizes_a_change(
    reader: ApiClient, store_run: StoreRun
) -> None:
    store_days(store_run, 400e6, 401e6, 399e6, 400e6)
    busy = [{"code": "busy", "detail": "31 %"}]
    store_days(store_run, 330e6, first=4, conditions=busy)
    (first, _) = store_days(store_run, 377e6, 378e6, first=5)
    (change,) = ask(reader, SSH)["changes"]
    assert change["run_id"] == str(first.run_id)
    assert change["words"].startswith("5.6 % slower than the median of the previous 4 runs")


def test_a_change_of_openssl_speed_is_a_break_and_no_change(
    reader: ApiClient, store_run: StoreRun
) -> None:
    for day, (version, rate) in enumerate([(OLD, 8e8)] * 3 + [(NEW, 1e8)] * 3):
        store_run(
            run_of_day(
                day,
                openssl_measurement("aes-128-gcm", rate, block_size=16),
                openssl_measurement("aes-128-cbc", rate, block_size=16),
                environment=with_openssl(version),
            )
        )
    found = ask(reader, OPENSSL)
    assert found["changes"] == []
    (broken,) = found["breaks"]
    assert broken["run_id"] == found["points"][3]["run_id"]
    assert broken["previous_run_id"] == found["points"][2]["run_id"]
    assert (broken["before"], broken["after"]) == ("OpenSSL 3.0.15", "OpenSSL 3.0.19")
    assert "not compared" in broken["words"]
    assert broken["sources"][0]["url"].startswith("https://github.com/openssl/")
    # The cipher that `openssl speed` measures as before did become slower.
    cbc = ask(reader, OPENSSL, cipher="aes-128-cbc")
    assert (len(cbc["changes"]), cbc["breaks"]) == (1, [])


def test_normalised_rates_need_a_baseline_and_say_how_many_runs_have_none(
    reader: ApiClient, store_run: StoreRun
) -> None:
    store_run(run_of_day(0, ssh_measurement(GCM, 4e8), ssh_measurement("3des-cbc", 38.252e6)))
    store_run(run_of_day(1, ssh_measurement(GCM, 4e8)))
    found = ask(reader, SSH, metric="normalised")
    assert found["profile"] == "2015"
    (point,) = found["points"]
    assert point["median"] == pytest.approx(2e8, rel=1e-3)
    assert found["without_value"] == 1


def test_one_history_is_one_series(reader: ApiClient, store_run: StoreRun) -> None:
    target = {"kind": "remote", "name": "backup"}
    store_run(
        run_of_day(
            0,
            ssh_measurement(GCM, 1e8),
            ssh_measurement(GCM, 2e8, method="steady", pinned=True),
            ssh_measurement(GCM, 3e8, method="steady"),
            ssh_measurement(GCM, 4e8, target=target),
            ssh_measurement(GCM, 5e8, acceleration="masked"),
            ssh_measurement(GCM, 6e8, compression=True),
            ssh_measurement(GCM, 7e8, mac="hmac-sha2-256"),
        )
    )
    remote = {"target_kind": "remote", "target_name": "backup"}
    expected: tuple[tuple[float, dict[str, Any]], ...] = (
        (1e8, {}),
        (3e8, {"method": "steady"}),
        (2e8, {"method": "steady", "pinned": "1"}),
        (4e8, remote),
        (5e8, {"acceleration": "masked"}),
        (6e8, {"compression": "1"}),
        (7e8, {"mac": "hmac-sha2-256"}),
    )
    for rate, more in expected:
        assert [point["median"] for point in ask(reader, SSH, **more)["points"]] == [rate], more
    assert ask(reader, SSH, target_kind="remote")["points"] == []


def test_a_history_is_cut_to_its_latest_runs_and_says_so(
    reader: ApiClient, store_run: StoreRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hosts.history.LATEST_POINTS", 2)
    store_days(store_run, 1e8, 2e8, 3e8)
    found = ask(reader, SSH)
    assert [point["median"] for point in found["points"]] == [2e8, 3e8]
    assert found["cut"] is True


@pytest.mark.parametrize(
    ("wrong", "attr"),
    (
        ({"host": ""}, "host"),
        ({"host": ["a", "b"]}, "host"),
        ({"cipher": ""}, "cipher"),
        ({"cipher": [GCM, "aes128-ctr"]}, "cipher"),
        ({"tool": ""}, "tool"),
        ({"tool": "gpg"}, "tool"),
        ({"metric": "vs_3des"}, "metric"),
        ({"since": "never"}, "since"),
        ({"pinned": "maybe"}, "pinned"),
        ({"target_name": "x" * 600}, "target_name"),
    ),
)
def test_a_wrong_parameter_is_named(
    reader: ApiClient, store_run: StoreRun, wrong: dict[str, Any], attr: str
) -> None:
    store_run(run_of_day(0))
    answer = ask(reader, {**SSH, **wrong}, expect=400)
    assert [error["attr"] for error in answer["errors"]] == [attr]


def test_an_unknown_host_is_a_404_and_a_series_it_has_not_is_empty(
    reader: ApiClient, store_run: StoreRun
) -> None:
    store_run(run_of_day(0))
    answer = ask(reader, {**SSH, "host": "no-such-host"}, expect=404)
    assert answer["errors"][0]["detail"] == "Unknown host 'no-such-host'."
    found = ask(reader, {**OPENSSL, "cipher": "rc4"})
    assert (found["points"], found["changes"], found["breaks"]) == ([], [], [])
