"""Two clones with one machine id, over HTTP through a real worker: flagged, split, kept apart."""

import json
import re
import threading
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg

from tests.live_site import READY_WITHIN, LiveSite
from tests.sample_documents import run_document, ssh_measurement

MACHINE = "5" * 64
START = datetime(2026, 3, 1, 3, tzinfo=UTC)
NAMES = ("clone-a", "clone-b")
RATES = {"clone-a": 1e8, "clone-b": 3e8}


def document(name: str, day: int) -> dict[str, Any]:
    """What a clone's agent sends: both run at three in the morning of each day."""
    started = START + timedelta(days=day)
    return run_document(
        ssh_measurement("aes128-ctr", RATES[name]),
        host={"name": name, "machine_id": MACHINE},
        started_at=started.isoformat(),
        finished_at=(started + timedelta(minutes=4)).isoformat(),
    )


def call(site: LiveSite, path: str, body: Any, **headers: str) -> Any:
    request = urllib.request.Request(
        f"{site.url}/api/v1/{path}",
        json.dumps(body).encode(),
        {"Content-Type": "application/json", **headers},
    )
    with urllib.request.urlopen(request, timeout=READY_WITHIN) as answer:
        return json.load(answer)


def upload(site: LiveSite, token: str, documents: Sequence[Mapping[str, Any]]) -> None:
    """Send them one after the other; each is acknowledged."""
    for one in documents:
        answer = call(site, "runs/", one, Authorization=f"Bearer {token}")
        assert answer["run_id"] == one["run_id"]


def at_once(site: LiveSite, token: str, days: Sequence[int]) -> list[dict[str, Any]]:
    """Both clones send their runs of these days at the same time; all are processed."""
    sent = {name: [document(name, day) for day in days] for name in NAMES}
    threads = [
        threading.Thread(target=upload, args=(site, token, documents))
        for documents in sent.values()
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    documents = [one for each in sent.values() for one in each]
    for one in documents:
        assert site.wait_until_ready(one["run_id"])["status"] == "ready"
    return documents


def hosts(site: LiveSite) -> dict[str, dict[str, Any]]:
    """The clones by name."""
    rows = site.get("/api/v1/hosts/?page_size=200")["results"]
    return {row["name"]: row for row in rows if row["name"] in NAMES}


def medians(site: LiveSite) -> dict[str, float]:
    answer = site.get("/api/v1/comparison/?group_by=host&cipher=aes128-ctr&source=agent")
    medians = {group["label"]: group["values"]["aes128-ctr"] for group in answer["groups"]}
    return {name: one["median"] for name, one in medians.items() if name in NAMES}


def names_by_host(site: LiveSite) -> dict[int, set[str]]:
    found: dict[int, set[str]] = {}
    with psycopg.connect(site.environment["DATABASE_URL"]) as server:
        for host, name in server.execute(
            "SELECT host_id, host_name FROM runs_run WHERE host_name LIKE 'clone-%'"
        ).fetchall():
            found.setdefault(host, set()).add(name)
    return found


def test_clones_are_flagged_split_and_kept_apart(site: LiveSite) -> None:
    token, sent = site.token("upload"), []
    for day in range(2):
        for name in NAMES:  # in turn
            one = document(name, day)
            upload(site, token, [one])
            site.wait_until_ready(one["run_id"])
            sent.append(one)
    sent += at_once(site, token, range(2, 8))
    (host,) = hosts(site).values()
    assert sorted(one["name"] for one in host["alternating_names"]) == list(NAMES)
    assert sum(one["runs"] for one in host["alternating_names"]) == len(sent)
    assert len(medians(site)) == 1

    # Split while both go on uploading.
    beside = threading.Thread(target=lambda: sent.extend(at_once(site, token, range(8, 14))))
    beside.start()
    split(site, host["id"], "clone-b")
    beside.join()
    sent += at_once(site, token, range(14, 17))

    found = hosts(site)
    assert set(found) == set(NAMES)
    assert [row["alternating_names"] for row in found.values()] == [[], []]
    assert medians(site) == RATES
    assert sorted(map(sorted, names_by_host(site).values())) == [["clone-a"], ["clone-b"]]
    assert {name: row["runs"] for name, row in found.items()} == dict.fromkeys(NAMES, 17)
    assert len(sent) == 34


def split(site: LiveSite, host: int, name: str) -> None:
    """As an administrator does it, whose browser got its CSRF token from the page."""
    path, cookie = f"/hosts/{host}/split/", f"sessionid={site.session_key()}"
    request = urllib.request.Request(site.url + path, headers={"Cookie": cookie})
    with urllib.request.urlopen(request, timeout=READY_WITHIN) as page:
        assert f'value="{name}"' in page.read().decode()
        (secret,) = re.findall(r"csrftoken=(\w+)", str(page.headers))
    headers = {"Cookie": f"{cookie}; csrftoken={secret}", "X-CSRFToken": secret}
    for again in (True, True, False):
        try:
            answer = call(site, path.lstrip("/"), {"name": name}, **headers)
        except urllib.error.HTTPError as refused:  # a run was just being begun
            with refused:
                if not (again and refused.code == 409):
                    raise
            continue
        assert answer["name"] == name
        return
