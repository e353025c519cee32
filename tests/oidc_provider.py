"""Run a real OpenID Connect provider (oidc_provider_program.py) in a separate process."""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from tests.launch.tools import free_port
from tests.live_site import PROJECT, wait_for_answer

CLIENT_ID, CLIENT_SECRET = "ciphermark", "the-secret-of-the-client-in-tests"


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


@dataclass(frozen=True)
class Provider:
    url: str

    def set_person(self, subject: str, **claims: Any) -> None:
        self._send("PUT", f"/users/{subject}", claims)

    def spoil(self, fault: str) -> None:
        """Add a fault, such as "expired", to every response. An empty string removes the fault."""
        self._send("PUT", "/fault", {"fault": fault})

    def sign_in(self, address: str, subject: str) -> str:
        """Sign in at a URL of the provider as user `subject`. Return the URL of the redirect."""
        form = urllib.request.Request(address, f"sub={subject}".encode(), method="POST")
        try:
            urllib.request.build_opener(_NoRedirect).open(form, timeout=60)
        except urllib.error.HTTPError as answer:
            with answer:
                if answer.code == 302:
                    return str(answer.headers["Location"])
        raise AssertionError("the provider led nowhere")

    def _send(self, method: str, path: str, body: dict[str, Any]) -> None:
        request = urllib.request.Request(
            self.url + path,
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=60):
            pass


@contextmanager
def oidc_provider() -> Iterator[Provider]:
    port = free_port()
    command = [sys.executable, str(PROJECT / "tests/oidc_provider_program.py"), str(port)]
    # Otherwise, its library requires HTTPS.
    environment = {**os.environ, "AUTHLIB_INSECURE_TRANSPORT": "1"}
    with (settings.DATA_DIR / "oidc-provider.log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        url = f"http://127.0.0.1:{port}"
        wait_for_answer(f"{url}/.well-known/openid-configuration")
        yield Provider(url)
    finally:
        process.terminate()
        process.wait(60)
