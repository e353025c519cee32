import gzip
import http.client
import random
import ssl
import time
import urllib.error
import urllib.request
from typing import Any, Callable, NamedTuple, Optional

from ciphermark_agent import __version__, common
from ciphermark_agent.children import time_limit
from ciphermark_agent.common import Json, dumps, parse_object, printable, verbose

EXCHANGE_SECONDS = 60.0  # for a request and its complete response
CHECK_SECONDS = 5.0  # the same for the check before measuring
RETRY_DELAYS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)  # seconds between the attempts of an upload
JITTER = 0.5  # random share of a delay, to spread the retries of many hosts
RETRY_AFTER_LIMIT = 60.0
REFUSED_FOR_GOOD = (400, 409, 413)  # a retry would get the same response
ANSWERS = {
    200: "not a Ciphermark response; check for a proxy or sign-in page at %s",
    401: "the token is unknown, expired or revoked",
    403: "the token does not permit uploads; create one with the upload scope",
    404: "no Ciphermark server found at %s",
    409: "the server has another run with the same run_id",
    413: "the run exceeds the server's size limit",
    429: "the server's rate limit is exceeded; retry later",
}
NO_TRUST = "cannot verify the certificate of %s (%s); for a private CA, set SSL_CERT_FILE"


class UploadFailed(Exception):
    pass


class Refused(UploadFailed):
    """Report that the server permanently rejects the run."""


class Site(NamedTuple):
    server: str
    token: str
    again: str = ""  # the command that uploads the spool
    say: Callable[[str], None] = verbose  # reports retries

    def url(self, path: str) -> str:
        return self.server.rstrip("/") + path


class Answer(NamedTuple):
    status: int  # 0 without a response; the body then contains the reason
    body: str
    retry_after: Optional[str] = None


class PlainAnswers(urllib.request.HTTPErrorProcessor):
    """Return error responses. Redirects are not followed, to keep the token from other sites."""

    def http_response(self, request: Any, response: Any) -> Any:
        return response

    https_response = http_response


def ask(site: Site, body: Optional[bytes], seconds: float) -> Answer:
    """Send the gzipped run, or request the list of runs if `body` is None."""
    headers = {
        "Authorization": "Bearer " + site.token,
        "Accept": "application/json",
        "User-Agent": "ciphermark-agent/" + __version__,
    }
    if body is not None:
        headers.update({"Content-Type": "application/json", "Content-Encoding": "gzip"})
    request = urllib.request.Request(site.url("/api/v1/runs/"), data=body, headers=headers)
    opener = urllib.request.build_opener(PlainAnswers)
    late = "timed out after %g s" % seconds
    try:
        with time_limit(seconds, late), opener.open(request) as answer:
            text = answer.read(common.MIB).decode("utf-8", "replace")
            location = (answer.headers.get("Location") or "").split("?")[0]
            if 300 <= answer.status < 400 and location:
                raise UploadFailed(f"the server redirects to {location}; use that URL as --server")
            return Answer(answer.status, text, answer.headers.get("Retry-After"))
    except urllib.error.URLError as error:
        if isinstance(error.reason, ssl.SSLError):  # a retry would also fail
            raise UploadFailed(NO_TRUST % (site.server, error.reason))
        return Answer(0, common.reason_of(error.reason))
    except (OSError, ValueError, http.client.HTTPException) as error:
        return Answer(0, "no valid response (%s)" % common.reason_of(error))


def upload(site: Site, document: Json) -> str:
    """Upload a run, and return a message for the user. Retries cannot store a run twice."""
    body = gzip.compress(dumps(document, indent=None).encode("utf-8"))
    for number, delay in enumerate(RETRY_DELAYS + (0.0,)):
        answer = ask(site, body, EXCHANGE_SECONDS)
        if not delay or (answer.status not in (0, 429) and answer.status < 500):
            break
        wait = pause(answer, delay)
        fault = "status %d" % answer.status if answer.status else answer.body
        words = "upload failed (%s); retrying in %.0f s (attempt %d of %d)"
        site.say(words % (fault, wait, number + 2, len(RETRY_DELAYS) + 1))
        time.sleep(wait)
    receipt = parse_object(answer.body)  # a portal's page has neither run_id nor errors
    if answer.status in REFUSED_FOR_GOOD and isinstance(receipt.get("errors"), list):
        raise Refused(explain_answer(site, answer))
    if answer.status not in (200, 201, 202) or receipt.get("run_id") != document["run_id"].lower():
        raise UploadFailed(explain_answer(site, answer))
    page = site.url("/runs/%s/" % document["run_id"])
    if receipt.get("status") == "rejected":
        raise Refused("the server rejected the run; %s shows the reason" % page)
    lines = ["uploaded: " + page]
    if receipt.get("newer_agent"):
        words = "agent %s is available (this is %s); to update, run: curl -fsO %s"
        lines.append(words % (receipt["newer_agent"], __version__, site.url("/agent.py")))
    return "\n".join(lines)


def pause(answer: Answer, delay: float) -> float:
    requested = common.real(answer.retry_after or "") or 0.0  # a date is ignored
    return max(delay * random.uniform(1.0 - JITTER, 1.0), min(requested, RETRY_AFTER_LIMIT))


def foresee_refusal(site: Site) -> Optional[str]:
    try:
        answer = ask(site, None, CHECK_SECONDS)
    except UploadFailed as error:
        return str(error)
    if answer.status == 401:  # a valid token gets 200 or 403
        remedy = "Press Ctrl-C and start again with a token from " + site.url("/tokens/")
        return explain_answer(site, answer) + "\n" + remedy
    foreign = answer.status == 200 and not parse_object(answer.body)
    return explain_answer(site, answer) if foreign or answer.status in (0, 404) else None


def explain_answer(site: Site, answer: Answer) -> str:
    if answer.status == 0:
        return "cannot reach %s: %s" % (site.server, answer.body)
    errors = parse_object(answer.body).get("errors")
    errors = errors if isinstance(errors, list) else []
    foreign = answer.status in (201, 202) or (answer.status == 400 and not errors)
    known = ANSWERS.get(200 if foreign else answer.status, "see the server's log")
    known = known % site.server if "%s" in known else known
    lines = ["cannot upload (status %d): %s" % (answer.status, known)]
    for error in errors:
        if isinstance(error, dict) and answer.status != 401:
            lines.append("  %s: %s" % (error.get("attr") or error.get("code"), error.get("detail")))
    return printable("\n".join(lines))
