from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.live_site import LiveSite, live_site
from tests.oidc_provider import CLIENT_ID, CLIENT_SECRET, Provider, oidc_provider

PATH = "/bench"


@pytest.fixture(scope="session")
def site() -> Iterator[LiveSite]:
    variables = {
        "CIPHERMARK_LOG_FORMAT": "json",
        "CIPHERMARK_PROXIES": "1",
        "CIPHERMARK_METRICS_TOKEN": "for-prometheus-alone",
    }
    with live_site("shared", **variables) as running:
        yield running


@pytest.fixture(scope="session")
def provider() -> Iterator[Provider]:
    with oidc_provider() as running:
        running.set_person("u-1", preferred_username="ada", groups=("bench-editors", "staff"))
        yield running


@pytest.fixture(scope="session")
def below_path(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveSite]:
    """Start a site below the path `PATH` ("/bench"). The attribute `url` includes the path."""
    secret = tmp_path_factory.mktemp("secrets") / "client"
    secret.write_text(f"{CLIENT_SECRET}\n")
    variables = {
        "CIPHERMARK_PATH": PATH,
        "CIPHERMARK_OIDC_ISSUER": provider.url,
        "CIPHERMARK_OIDC_CLIENT_ID": CLIENT_ID,
        "CIPHERMARK_OIDC_CLIENT_SECRET_FILE": str(secret),
        "CIPHERMARK_ROLES": "bench-admins=administrator,bench-editors=editor",
    }
    with live_site("sub_path", **variables) as running:
        yield replace(running, url=running.url + PATH)
