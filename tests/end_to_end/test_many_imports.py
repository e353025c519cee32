"""Eight large texts at once: two are read, six are told to come back, and the site goes on."""

import http.client
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from random import Random
from statistics import quantiles

import pytest

from tests.live_site import READY_WITHIN, LiveSite, live_site

AT_ONCE = 8
LINES = 49_000
BAR_SECONDS = 0.1
ROUNDS = 5
"""The machines that run the tests are shared: one round of these has to be within the bar."""

CIPHERS = ("aes128-ctr", "aes256-gcm@openssh.com", "3des-cbc", "chacha20-poly1305@openssh.com")


@pytest.fixture(scope="module")
def site() -> Iterator[LiveSite]:
    with live_site("imports") as running:
        yield running


def hostile_list() -> bytes:
    """Lines of a list that each look a little different."""
    dice = Random(16)
    unit = ("MB/s", "MiB/s", "kB/s", "Mbit/s", "M", "")
    rate = (f"{dice.uniform(1, 900):.{dice.randrange(4)}f} {dice.choice(unit)}" for _ in range(300))
    rates = list(rate)
    lines = (
        f"{dice.choice(CIPHERS)}{dice.choice((': ', ' | ', '  ', ' = '))}"
        f"{' '.join(dice.choices(rates, k=dice.randrange(1, 4)))}"
        for _ in range(LINES)
    )
    return "\n".join(lines).encode()


def preview(site: LiveSite, token: str, text: bytes) -> int:
    """The status of a preview; 0 for a refusal that does not say when to come back."""
    host = site.url.removeprefix("http://")
    connection = http.client.HTTPConnection(host, timeout=READY_WITHIN)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "text/plain"}
    connection.request("POST", "/api/v1/imports/?preview=1", text, headers)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status if answer.status == 200 or answer.headers["Retry-After"] else 0


def seconds_of_a_probe(site: LiveSite) -> float:
    begun = time.monotonic()
    connection = http.client.HTTPConnection(site.url.removeprefix("http://"), timeout=60)
    connection.request("GET", "/healthz")
    answer = connection.getresponse()
    assert (answer.status, answer.read()) == (200, b"ok\n")
    connection.close()
    return time.monotonic() - begun


def one_round(site: LiveSite, tokens: list[str], text: bytes) -> tuple[list[float], Counter[int]]:
    """How long probes took while the previews were under way, and what these were answered."""
    probes = []
    with ThreadPoolExecutor(AT_ONCE) as pool:
        sent = [pool.submit(preview, site, token, text) for token in tokens]
        while wait(sent, timeout=0.02).not_done:
            probes.append(seconds_of_a_probe(site))
        return probes, Counter(one.result() for one in sent)


def test_probes_are_answered_in_a_tenth_of_a_second_beside_eight_hostile_texts(
    site: LiveSite,
) -> None:
    text, tokens = hostile_list(), [site.token("upload") for _ in range(AT_ONCE)]
    assert preview(site, tokens[0], text[:100]) == 200, "a first request loads half the program"
    found = []
    for _ in range(ROUNDS):
        probes, answers = one_round(site, tokens, text)
        assert set(answers) == {200, 429}, "some are read, the others come back later"
        assert answers[429] >= 1
        p50, p95, p99 = (quantiles(probes, n=100)[rank - 1] for rank in (50, 95, 99))
        found.append(f"p50 {p50:.3f} s, p95 {p95:.3f} s, p99 {p99:.3f} s, most {max(probes):.3f} s")
        if p99 < BAR_SECONDS:
            break
    else:
        pytest.fail("; ".join(found))
