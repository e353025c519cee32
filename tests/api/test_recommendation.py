from typing import Any

import pytest

from accounts.audit import COMMAND
from runs.editing import set_hidden
from runs.models import HostAlias
from tests.cases import each
from tests.conftest import ApiClient, StoreRun
from tests.sample_documents import environment, openssl_measurement, run_document, ssh_measurement

URL = "/api/v1/recommendation/"
GCM128, GCM256 = "aes128-gcm@openssh.com", "aes256-gcm@openssh.com"
CHACHA = "chacha20-poly1305@openssh.com"
OPENSSH = "OpenSSH_9.9p1, OpenSSL 3.4.0 22 Oct 2024"
LATE = {"started_at": "2025-11-22T09:00:00Z", "finished_at": "2025-11-22T09:01:00Z"}


def series(cipher: str, megabytes: float, cpu: float = 0, **changes: Any) -> dict[str, Any]:
    """Return an ssh series of nine equal tries.

    `megabytes`: 10^6 bytes per second. `cpu`: CPU seconds per 10^9 bytes, half for the client and
    half for the server.
    """
    one: dict[str, Any] = {"bytes": round(megabytes * 2e6), "seconds": 2.0}
    if cpu:
        one |= dict.fromkeys(("client_cpu_seconds", "server_cpu_seconds"), cpu * megabytes / 1e3)
    return ssh_measurement(cipher, **{"samples": [one] * 9, **changes})


def facts(client: str | None = OPENSSH, default: str | None = CHACHA, **more: Any) -> Any:
    openssh = {"client": client, "server": client, "default_cipher": default, **more}
    return {**environment(), "openssh": openssh}


def machine(name: str, *measurements: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return run_document(
        *measurements, **{"host": {"name": name}, "environment": facts(), **changes}
    )


def usual(name: str = "nas", gcm: float = 600, chacha: float = 300, **changes: Any) -> Any:
    return machine(
        name, series(GCM256, gcm, 2.0), series(CHACHA, chacha, 4.5), series("aes128-ctr", 400),
        **changes,
    )  # fmt: skip


def names(answer: dict[str, Any]) -> list[str]:
    return [place["cipher"] for place in answer["order"]]


def why(answer: dict[str, Any]) -> dict[str, str]:
    return {entry["cipher"]: entry["reason"] for entry in answer["unranked"]}


def test_a_host_is_told_the_order_the_gain_and_what_they_rest_on(
    reader: ApiClient, store_run: StoreRun
) -> None:
    run = store_run(usual())
    answer = reader.get(URL, {"host": "nas"}).json()
    assert (answer["kind"], answer["method"], answer["nothing"]) == ("host", "pipeline", None)
    assert names(answer) == [GCM256, CHACHA]
    first = answer["order"][0]
    assert (first["status"], first["reference"]) == ("recommended", "RFC 5647")
    assert first["measured"] == [
        {
            "median": 600e6,
            "n": 9,
            "spread": 0.0,
            "noise": 0.01,
            "method": "pipeline",
            "cpu_seconds_per_gb": pytest.approx(2.0),
            "doubtful": True,
        }
    ]
    gain = answer["today"]["gain"]
    assert first["gain"] == gain
    assert (gain["over"], gain["ratio"], gain["percent"]) == (CHACHA, 2.0, 100.0)
    assert gain["lowest"] == pytest.approx(2 * 0.99 / 1.01)
    assert gain["highest"] == pytest.approx(2 * 1.01 / 0.99)
    assert gain["cpu_seconds_saved_per_gb"] == pytest.approx(2.5)
    assert why(answer)["aes128-ctr"].endswith("excludes it because it is rated acceptable")
    assert why(answer)[GCM128] == "not measured on nas"
    assert answer["hosts"][0]["client"] == OPENSSH
    assert [run["run_id"] for run in answer["runs"]] == [str(run.run_id)]
    assert answer["measured"] == f"SSH pipeline run {str(run.run_id)[:8]} (2025-11-21)"
    assert answer["rules_version"] in answer["ssh_config"]
    assert answer["ssh_config"].endswith(f"Host *\n    Ciphers {GCM256},{CHACHA}\n")
    assert answer["sshd_config"].endswith(f"\nCiphers {GCM256},{CHACHA}\n")


def test_a_host_speaks_for_its_latest_environment(reader: ApiClient, store_run: StoreRun) -> None:
    store_run(usual(gcm=100, chacha=900, environment=facts("OpenSSH_9.8p1")))
    first = store_run(usual(gcm=610, chacha=300) | LATE)
    evening = {"started_at": "2025-11-22T20:00:00Z", "finished_at": "2025-11-22T20:01:00Z"}
    second = store_run(machine("nas", series(GCM256, 640), **evening))
    answer = reader.get(URL, {"host": "nas"}).json()
    assert {place["cipher"]: place["median"] for place in answer["order"]} == {
        GCM256: 640e6,
        CHACHA: 300e6,
    }
    assert [run["run_id"] for run in answer["runs"]] == [str(second.run_id), str(first.run_id)]
    earlier = reader.get(URL, {"host": "nas", "until": "2025-11-21"}).json()
    assert names(earlier) == [CHACHA, GCM256]
    assert "9.8" in earlier["hosts"][0]["client"]


def test_of_a_host_with_two_systems_one_is_taken(reader: ApiClient, store_run: StoreRun) -> None:
    # The environment is that of the latest run or, of undated runs, of the run with more ciphers.
    undated: dict[str, Any] = {"started_at": None, "finished_at": None}
    linux, mac = facts("OpenSSH_9.9p1"), facts("OpenSSH_9.8p1")
    store_run(usual("laptop", gcm=328, environment=linux, **undated), "import")
    store_run(machine("laptop", series(GCM256, 87), environment=mac, **undated), "import")
    store_run(usual("nas", gcm=500, chacha=450))
    for query in ({"host": "laptop"}, {"client": "laptop", "server": "nas"}):
        answer = reader.get(URL, query).json()
        assert answer["hosts"][0]["client"] == "OpenSSH_9.9p1"
        assert [place["median"] for place in answer["order"]] == [328e6, 300e6]
    store_run(machine("laptop", series(GCM256, 87), environment=mac))
    answer = reader.get(URL, {"client": "laptop", "server": "nas"}).json()
    assert {place["cipher"]: place["median"] for place in answer["order"]} == {GCM256: 87e6}


def test_what_is_not_known_is_said(reader: ApiClient, store_run: StoreRun) -> None:
    store_run(machine("quiet", series(GCM256, 600), environment=facts(None, None, server=None)))
    answer = reader.get(URL, {"host": "quiet"}).json()
    today = answer["today"]
    assert (today["cipher"], today["gain"]) == (None, None)
    assert today["gain_unknown"] == "no run reports the default cipher"
    assert answer["hosts"][0]["server"] is None


def test_nothing_measured_is_an_answer(reader: ApiClient, store_run: StoreRun) -> None:
    store_run(machine("bare", openssl_measurement("aes-256-gcm", 5e9)))
    store_run(machine("weak", series("3des-cbc", 9)))
    bare = reader.get(URL, {"host": "bare"}).json()
    assert bare["order"] == []
    assert bare["nothing"] == "bare has no loopback SSH results."
    assert (bare["ssh_config"], bare["sshd_config"], bare["measured"]) == (None, None, None)
    weak = reader.get(URL, {"host": "weak"}).json()
    assert weak["nothing"] == "No cipher allowed by the policy “modern” was measured on weak."
    unmatched = reader.get(URL, {"tag": "rack:nowhere"}).json()
    assert unmatched["nothing"] == "No matching host has loopback SSH results."
    pair = reader.get(URL, {"client": "bare", "server": "weak"}).json()
    assert pair["nothing"] == "bare has no loopback SSH results."


def test_a_pair_is_as_fast_as_its_slower_end_and_its_link(
    reader: ApiClient, store_run: StoreRun
) -> None:
    store_run(usual("laptop", gcm=500, chacha=450))
    store_run(usual("server", gcm=900, chacha=130))
    pair = {"client": "laptop", "server": "server"}
    answer = reader.get(URL, pair).json()
    assert (answer["kind"], answer["link"]) == ("pair", None)
    first, second = answer["order"]
    assert (first["cipher"], first["median"], first["limited_by"]) == (GCM256, 500e6, "client")
    assert (second["cipher"], second["median"], second["limited_by"]) == (CHACHA, 130e6, "server")
    assert (first["fills"], second["fills"]) == (["1 GbE", "2.5 GbE"], ["1 GbE"])
    assert [speed["median"] for speed in first["measured"]] == [500e6, 900e6]
    assert answer["today"]["gain"]["ratio"] == pytest.approx(500 / 130)
    assert [host["host"] for host in answer["hosts"]] == ["laptop", "server"]
    for link in ("1GbE", "1 gbe", "1000000000"):
        slow = reader.get(URL, {**pair, "link": link}).json()
        assert (slow["link"], slow["order"][0]["limited_by"]) == (1e9, "link")
        assert slow["order"][0]["median"] == pytest.approx(117.68e6, rel=1e-4)
        assert "&link=1" in slow["permalink"]


def test_a_pair_is_told_what_safety_costs_and_gets_lines_for_one_server(
    reader: ApiClient, store_run: StoreRun
) -> None:
    store_run(usual("laptop", gcm=62, chacha=100))
    run = store_run(usual("My NAS", gcm=900, chacha=500, environment=facts("OpenSSH_9.2p1")))
    assert run.host is not None
    HostAlias.objects.create(host=run.host, name="nas.lan")
    answer = reader.get(URL, {"client": "laptop", "server": run.host.slug}).json()
    assert names(answer) == [GCM256]
    assert answer["order"][0]["slower_than_default"] == (
        "38 % slower than chacha20-poly1305, the OpenSSH 9.9 default, "
        "which the modern policy excludes "
        "because of Terrapin (OpenSSH 9.2 on My NAS)"
    )
    assert answer["order"][0]["gain"] == answer["today"]["gain"]
    assert answer["ssh_config"].endswith(f"Host nas.lan\n    Ciphers {GCM256}\n")
    assert "This applies to every client." in answer["sshd_config"]
    alone = reader.get(URL, {"host": "laptop"}).json()
    assert "Host *\n" in alone["ssh_config"]
    assert [ranked["slower_than_default"] for ranked in alone["order"]] == [None, None]


def test_a_group_has_one_order_and_each_host_its_loss(
    reader: ApiClient, store_run: StoreRun
) -> None:
    store_run(usual("one", gcm=600, chacha=300))
    store_run(usual("two", gcm=600, chacha=310))
    store_run(usual("arm", gcm=200, chacha=400, tags={"rack": "c1"}))
    store_run(machine("mute", openssl_measurement("aes-256-gcm", 5e9)))
    answer = reader.get(URL, {"host": ["one", "two", "arm", "mute"]}).json()
    assert (answer["kind"], names(answer)) == ("group", [GCM256, CHACHA])
    assert answer["order"][0]["share"] == pytest.approx((1 * 1 * 0.5) ** (1 / 3))
    losses = {loss["host"]: loss["loss"] for loss in answer["losses"]}
    assert losses == {"one": 0.0, "two": 0.0, "arm": 0.5}
    assert answer["left_out"] == ["mute"]
    rack = reader.get(URL, {"tag": "rack:b2", "policy": "compatible"}).json()
    assert [host["host"] for host in rack["hosts"]] == ["one", "two"]
    assert "for 2 hosts (tag rack:b2)" in rack["ssh_config"]
    both = reader.get(URL, {"os": "debian-gnu-linux", "tag": "rack:c1"}).json()
    assert [host["host"] for host in both["hosts"]] == ["arm"]


def test_a_group_is_of_hosts_whose_latest_run_passes_the_filters(
    reader: ApiClient, store_run: StoreRun
) -> None:
    store_run(usual("stays", environment=facts(library="OpenSSL 3.4.0 22 Oct 2024")))
    store_run(usual("moves"))
    store_run(usual("moves", tags={"rack": "c1"}) | LATE)
    of_rack = {rack: {"tag": f"rack:{rack}"} for rack in ("b2", "c1")}
    for query, hosts in (
        (of_rack["b2"], ["stays"]),
        (of_rack["c1"], ["moves"]),
        ({**of_rack["b2"], "until": "2025-11-21"}, ["moves", "stays"]),
        ({"openssl": "openssl-3.4.0"}, ["stays"]),
        ({"openssl": "openssl-3.0.19"}, ["moves"]),  # not matched by the openssl program of "stays"
    ):
        answer = reader.get(URL, query).json()
        assert [host["host"] for host in answer["hosts"]] == hosts, query


def test_two_hosts_of_one_name_are_told_apart_by_their_keys(
    reader: ApiClient, store_run: StoreRun
) -> None:
    for machine_id in ("a" * 64, "b" * 64):
        store_run(usual(host={"name": "nas", "machine_id": machine_id}))
    answer = reader.get(URL, {"tag": "rack:b2"}).json()
    assert [host["name"] for host in answer["hosts"]] == ["nas", "nas-2"]


REFUSED: tuple[tuple[dict[str, str], str, str], ...] = (
    ({}, "host", "host=HOST"),
    ({"host": "nas", "policy": "lax"}, "policy", "use modern, compatible or everything"),
    ({"client": "nas"}, "server", "A pair requires"),
    ({"server": "nas"}, "client", "A pair requires"),
    ({"client": "nas", "server": "nas", "link": "fast"}, "link", "use 1GbE, 2.5GbE"),
    ({"client": "nas", "server": "nas", "link": "0"}, "link", "or a number of bits"),
    ({"host": "nas", "link": "1GbE"}, "link", "A link requires"),
    ({"host": "nas", "client": "nas", "server": "nas"}, "host", "either client and server"),
    ({"tag": "rack"}, "tag", "use KEY:VALUE"),
    ({"host": "nas", "until": "soon"}, "until", "Enter a date"),
    ({"client": "a\x00", "server": "nas"}, "client", "Null characters are not"),
    ({"host": "a\x00"}, "host", "Null characters are not"),
)


@pytest.fixture
def stored(store_run: StoreRun) -> None:
    store_run(usual())


@pytest.mark.usefixtures("stored")
@each(("query", "parameter", "words"), REFUSED)
def test_nonsense_is_refused_in_words(
    reader: ApiClient, query: dict[str, str], parameter: str, words: str
) -> None:
    response = reader.get(URL, query)
    assert response.status_code == 400
    (error,) = response.json()["errors"]
    assert error["attr"] == parameter
    assert words in error["detail"]


def test_hidden_runs_say_nothing(reader: ApiClient, store_run: StoreRun) -> None:
    run = store_run(usual())
    store_run(usual("other"))
    set_hidden(run.pk, True, COMMAND)
    assert reader.get(URL, {"host": "nas"}).status_code == 404
    assert [host["host"] for host in reader.get(URL, {"tag": "rack:b2"}).json()["hosts"]] == [
        "other"
    ]
