"""The site that the tests share; those that end or measure it have one of their own."""

from collections.abc import Iterator

import pytest

from tests.live_site import LiveSite, live_site


@pytest.fixture(scope="session")
def site() -> Iterator[LiveSite]:
    variables = {
        "CIPHERMARK_LOG_FORMAT": "json",
        "CIPHERMARK_PROXIES": "1",
        "CIPHERMARK_METRICS_TOKEN": "for-prometheus-alone",
    }
    with live_site("shared", **variables) as running:
        yield running
