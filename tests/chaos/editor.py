"""An editor who hides, removes, merges and splits, again and again until the site has done it."""

import http.client
import json
import time
from typing import Any

from tests.chaos.site import Site
from tests.sign_in import SIGN_IN

CSRF = "c" * 32
GIVE_UP_SECONDS = 180.0
PAUSE_SECONDS = 0.3
DONE, REFUSED = (200, 201, 204), (400, 404, 409)


class Editor:
    """An administrator who has signed in; `port` is where the site is asked."""

    def __init__(self, site: Site, port: int) -> None:
        session = site.manage("shell", "--no-imports", "-c", SIGN_IN).strip()
        self._port = port
        self._headers = {
            "Content-Type": "application/json",
            "Cookie": f"sessionid={session}; csrftoken={CSRF}",
            "X-CSRFToken": CSRF,
        }

    def change(self, method: str, path: str, body: dict[str, Any]) -> None:
        """Ask until the answer says that it is done; "come back later" and silence are no answers.

        An edit whose answer was cut off may have been made, and is then refused as impossible.
        """
        deadline, cut_off = time.monotonic() + GIVE_UP_SECONDS, False
        while time.monotonic() < deadline:
            status, said = self.ask(method, path, body)
            if status == 409 and b"try again" in said:
                status = 503
            if status in DONE or (cut_off and status in REFUSED):
                return
            assert status in (0, 503), f"{method} {path} {body} is answered {status}: {said!r}"
            cut_off = cut_off or status == 0
            time.sleep(PAUSE_SECONDS)
        raise AssertionError(f"{method} {path}: not done within {GIVE_UP_SECONDS:.0f} s")

    def ask(self, method: str, path: str, body: dict[str, Any]) -> tuple[int, bytes]:
        """Status and body of one answer; 0 where there is none."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        try:
            connection.request(method, f"/api/v1/{path}", json.dumps(body), self._headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            return 0, b""
        finally:
            connection.close()
