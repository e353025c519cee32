import time
from concurrent.futures import ThreadPoolExecutor
from statistics import median

import httpx

from tests.live_site import READY_WITHIN, LiveSite

LINES = 49_000
BAR_SECONDS = 0.1


def preview(site: LiveSite, token: str, text: str) -> int:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "text/plain"}
    address = f"{site.url}/api/v1/imports/?preview=1"
    return httpx.post(address, content=text, headers=headers, timeout=READY_WITHIN).status_code


def seconds_of_a_probe(site: LiveSite) -> float:
    time.sleep(0.02)
    begun = time.monotonic()
    assert httpx.get(f"{site.url}/healthz", timeout=60).status_code == 200
    return time.monotonic() - begun


def test_probes_wait_no_tenth_of_a_second_for_a_large_text(site: LiveSite) -> None:
    token = site.token("upload")
    text = "\n".join(f"aes128-ctr: {n % 900 + 1}.{n % 7} MB/s" for n in range(LINES))
    assert preview(site, token, text[:100]) == 200, "a first request loads half the program"
    idle = median(seconds_of_a_probe(site) for _ in range(20))
    with ThreadPoolExecutor() as pool:
        sent = pool.submit(preview, site, token, text)
        beside = []
        while not sent.done():
            beside.append(seconds_of_a_probe(site))
    assert sent.result() == 200
    assert median(beside) < BAR_SECONDS + idle
