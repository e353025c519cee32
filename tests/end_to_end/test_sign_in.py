"""Signing in through a provider on the real site, in a browser: at the top and below a path."""

import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import ConsoleMessage, Page, expect, sync_playwright

from tests.browser.conftest import CHROMIUM_ARGUMENTS, PATIENCE_MS, chromium_path
from tests.end_to_end.test_doctor import doctor
from tests.live_site import LiveSite, live_site, web_server
from tests.oidc_provider import CLIENT_ID, CLIENT_SECRET, Provider, oidc_provider

GROUPS = ("bench-editors", "staff")


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with oidc_provider() as running:
        running.set_person("u-1", preferred_username="ada", groups=GROUPS)
        yield running


@pytest.fixture(scope="module")
def site(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveSite]:
    secret = tmp_path_factory.mktemp("secrets") / "client"
    secret.write_text(f"{CLIENT_SECRET}\n")
    variables = {
        "CIPHERMARK_PUBLIC": "0",
        "CIPHERMARK_OIDC_ISSUER": provider.url,
        "CIPHERMARK_OIDC_CLIENT_ID": CLIENT_ID,
        "CIPHERMARK_OIDC_CLIENT_SECRET_FILE": str(secret),
        "CIPHERMARK_ROLES": "bench-admins=administrator,bench-editors=editor",
    }
    with live_site("sign_in", **variables) as running:
        yield running


@pytest.fixture
def page(provider: Provider) -> Iterator[Page]:
    """A browser that has never been here, with nothing wrong on our pages."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium_path(), args=list(CHROMIUM_ARGUMENTS)
        )
        opened = browser.new_page()
        opened.set_default_timeout(PATIENCE_MS)
        opened.set_default_navigation_timeout(PATIENCE_MS)
        # The provider's page would load a style sheet from elsewhere.
        opened.route(lambda url: not url.startswith("http://127.0.0.1:"), lambda one: one.abort())
        faults: list[str] = []
        opened.on("console", lambda said: faults.extend(_faults(said, provider)))
        yield opened
        browser.close()
    assert faults == []


def _faults(said: ConsoleMessage, provider: Provider) -> list[str]:
    where = said.location["url"]
    is_ours = where.startswith("http://127.0.0.1:") and not where.startswith(provider.url)
    return [said.text] if said.type == "error" and is_ours and "of 403" not in said.text else []


def sign_in(page: Page, url: str, wanted: str) -> None:
    """From the page that somebody wanted, over the provider, back to it."""
    page.goto(url + wanted)
    page.get_by_role("link", name="Sign in with 127.0.0.1").click()
    page.get_by_placeholder("sub").fill("u-1")
    page.get_by_role("button", name="Authorize").click()
    page.wait_for_url(url + wanted)


def test_somebody_signs_in_and_out(site: LiveSite, provider: Provider, page: Page) -> None:
    sign_in(page, site.url, "/runs/?q=a")
    expect(page.get_by_role("link", name="Tokens")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url(f"{site.url}/accounts/login/?next=/")
    page.get_by_role("link", name="Sign in with 127.0.0.1").click()
    page.get_by_role("button", name="Deny").click()
    expect(page.get_by_text("127.0.0.1 did not sign you in: access_denied.")).to_be_visible()


def test_a_role_that_was_taken_away_shuts_the_door(
    site: LiveSite, provider: Provider, page: Page
) -> None:
    provider.set_person("u-1", preferred_username="ada", groups=["staff"])
    page.goto(f"{site.url}/accounts/login/")
    page.get_by_role("link", name="Sign in with 127.0.0.1").click()
    page.get_by_placeholder("sub").fill("u-1")
    page.get_by_role("button", name="Authorize").click()
    expect(page.get_by_text("none of your groups has a role on this site")).to_be_visible()
    provider.set_person("u-1", preferred_username="ada", groups=GROUPS)


def test_below_a_path_of_its_host(site: LiveSite, page: Page) -> None:
    with web_server("web-below", {**site.environment, "CIPHERMARK_PATH": "/bench"}) as top:
        sign_in(page, f"{top}/bench", "/hosts/")
        expect(page.get_by_role("button", name="Sign out")).to_be_visible()
        assert {one.get("path") for one in page.context.cookies()} >= {"/bench/"}


def log(site: LiveSite, name: str) -> Path:
    return Path(site.environment["CIPHERMARK_DATA_DIR"]) / f"{name}.log"


def test_no_code_and_no_secret_is_in_the_log(site: LiveSite, page: Page) -> None:
    sign_in(page, site.url, "/runs/")
    written = log(site, "web").read_text()
    assert "/accounts/oidc/callback/?code=[secret]&state=" in written
    assert CLIENT_SECRET not in written


def test_tokens_and_probes_need_no_provider(site: LiveSite) -> None:
    headers = {"Authorization": f"Bearer {site.token('read')}"}
    for path, sent in (("/api/v1/runs/", headers), ("/healthz", {})):
        request = urllib.request.Request(site.url + path, headers=sent)
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert answer.status == 200


def test_doctor_names_a_provider_that_is_away_or_another(
    site: LiveSite, provider: Provider
) -> None:
    assert doctor(site)[2]["sign-in"]["found"] == f"by password, through {provider.url}"
    for issuer, found in (
        ("http://127.0.0.1:1", "openid-configuration: cannot be reached"),
        (f"{provider.url}/realms/main", "answers with HTTP status 404"),
        (provider.url.replace("127.0.0.1", "localhost") + "/.", "not the discovery document"),
    ):
        status, _, checks = doctor(site, CIPHERMARK_OIDC_ISSUER=issuer)
        assert (status, checks["sign-in"]["state"]) == (1, "wrong")
        assert issuer in checks["sign-in"]["found"]
        assert found in checks["sign-in"]["found"]
        assert "CIPHERMARK_OIDC_ISSUER" in checks["sign-in"]["to_do"]
