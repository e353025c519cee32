from dataclasses import dataclass

import pytest

from tests.browser.conftest import OpenPage
from tests.browser.open_to_all import assert_open_to_all
from tests.browser.site_tools import processed, upload
from tests.histories import run_of_day, with_openssl
from tests.live_site import LiveSite
from tests.sample_documents import openssl_measurement, ssh_measurement

GCM = "aes128-gcm@openssh.com"
HOSTILE = "<b>changing</b> \u202eright to left\u202c " + "W" * 120
OLD, NEW = "OpenSSL 3.0.15 3 Sep 2024", "OpenSSL 3.0.19 27 Jan 2026"
RATES = (400e6, 404e6, 396e6, 401e6, 300e6, 302e6, 299e6, 500e6)


@dataclass(frozen=True)
class Changing:
    host_id: int
    other_id: int
    first: str
    last: str

    def address(self, state: str) -> str:
        host, runs = f"/hosts/{self.host_id}", f"/runs/{self.last}"
        return {
            "changes": f"{host}/",
            "a break": f"{host}/?series=openssl/16/aes-128-gcm",
            "no value": f"{host}/?metric=normalised",
            "no such series": f"{host}/?series=ssh/pipeline/nobody",
            "refused": f"{host}/?metric=vs_3des",
            "two runs": f"/runs/{self.first}/diff/{self.last}/",
            "across": f"/runs/{self.first}/diff/{self.last}/?across=1",
            "two hosts": f"{host}/diff/{self.other_id}/",
            "choose a run": f"{runs}/diff/",
            "choose a host": f"{host}/diff/",
            "nothing found": f"{host}/diff/?q=nobody-has-this-name",
        }[state]


STATES = (
    "changes",
    "a break",
    "no value",
    "no such series",
    "refused",
    "two runs",
    "across",
    "two hosts",
    "choose a run",
    "choose a host",
    "nothing found",
)


@pytest.fixture(scope="session")
def changing(site: LiveSite) -> Changing:
    token = site.token("upload")
    runs = []
    for day, rate in enumerate(RATES):
        busy = [{"code": "busy", "detail": "12 %"}] if day == 1 else []
        document = run_of_day(
            day,
            ssh_measurement(GCM, rate, rate, rate),
            openssl_measurement("aes-128-gcm", *[8e8 if day < 4 else 1e8] * 3, block_size=16),
            openssl_measurement("aes-128-gcm", 5e9, 5e9, 5e9),
            host={"name": HOSTILE},
            conditions=busy,
            environment=with_openssl(OLD if day < 4 else NEW),
        )
        runs.append(upload(site, document, token))
    other = upload(site, run_of_day(0, ssh_measurement(GCM, 1e8), host={"name": "calm"}), token)
    ids = [processed(site, run)["host_id"] for run in (*runs, other)]
    return Changing(ids[0], ids[-1], runs[0], runs[-1])


@pytest.mark.parametrize("state", STATES)
def test_every_state_is_open_to_all(open_state: OpenPage, changing: Changing, state: str) -> None:
    expected = "the server responded with a status of 400" if state == "refused" else ""
    assert_open_to_all(open_state(changing.address(state), expected=expected))


def test_the_chart_draws_every_run_and_speaks_of_each(
    open_page: OpenPage, changing: Changing
) -> None:
    page = open_page(changing.address("changes"))
    assert page.locator("figure[data-history]").get_attribute("data-drawn") == str(len(RATES))
    page.locator("figure[data-history] canvas").focus()
    page.keyboard.press("End")
    said = page.locator("#history-reading")
    assert "500 MB/s, 3 tries" in (said.text_content() or "")
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    assert "300 MB/s" in (said.text_content() or "")
    assert "slower than the median of the previous 3 runs" in (said.text_content() or "")
    page.keyboard.press("Escape")
    assert said.text_content() == ""


def test_two_runs_are_reached_from_a_run_in_two_clicks(
    open_page: OpenPage, changing: Changing
) -> None:
    page = open_page(f"/runs/{changing.last}/")
    page.get_by_role("link", name="Compare with …").click()
    page.locator(f"a[href='/runs/{changing.first}/diff/{changing.last}/']").click()
    page.wait_for_url(f"**/runs/{changing.first}/diff/{changing.last}/")
    assert page.get_by_text("tool changed").count() > 0
    page.get_by_role("link", name="Show anyway").click()
    page.get_by_text("across the change are shown").or_(
        page.get_by_text("across the change is shown")
    ).first.wait_for()
