"""Keep a run and send it: files, request, retries, answer in words."""

import contextlib
import email.utils
import errno
import glob
import gzip
import http.client
import json
import os
import random
import re
import signal
import socket
import ssl
import stat
import sys
import tempfile
import time
import urllib.error
import urllib.request
from typing import Any, Callable, Iterator, List, NamedTuple, Optional

from ciphermark_agent import __version__
from ciphermark_agent.common import (
    MIB,
    Interrupted,
    Json,
    UsageError,
    decode,
    dumps,
    finite,
    parse_object,
    printable,
    reading,
    say,
    verbose,
)


def is_special(path: str) -> bool:
    """Whether there is a device, a FIFO or the like, which is written to and not replaced."""
    return os.path.exists(path) and not os.path.isfile(path)


def write_output(path: str, text: str) -> None:
    """Write what --output names: a file whole or not at all, also where a link points to."""
    if is_special(path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        write_atomically(os.path.realpath(path), text)


def write_atomically(path: str, text: str) -> None:
    """Write a whole file or nothing; permissions by the umask."""
    part = "%s.part-%d" % (path, os.getpid())
    try:
        with open(part, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except (OSError, Interrupted):
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise


def state_folders() -> List[str]:
    """Where runs are kept: in the home or, where that cannot be written, a temporary directory."""
    home = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local/state")
    folders = [os.path.join(home, "ciphermark")]
    with contextlib.suppress(OSError):  # there may be no temporary directory either
        folders.append(os.path.join(tempfile.gettempdir(), "ciphermark-%d" % os.getuid()))
    return folders


def spool_folders() -> List[str]:
    return [os.path.join(folder, "spool") for folder in state_folders()]


def is_private(folder: str) -> bool:
    """Whether nobody else can have put something there; in the home the owner decides that."""
    if folder == state_folders()[0]:
        return True
    status = os.lstat(folder)
    return (
        stat.S_ISDIR(status.st_mode)
        and status.st_uid == os.getuid()
        and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    )


class NotKept(Exception):
    """The run could not be written anywhere; the text says where and why not."""


def keep_in_spool(document: Json) -> str:
    """Path of the kept run."""
    reasons = []
    for folder in state_folders():
        try:
            os.makedirs(os.path.dirname(folder), exist_ok=True)
            with contextlib.suppress(FileExistsError):
                os.mkdir(folder, 0o700)
            if not is_private(folder):
                raise OSError(errno.EPERM, "others can write there")
            path = os.path.join(folder, "spool", "run-%s.json" % document["run_id"])
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            write_atomically(path, dumps(document))
            return path
        except OSError as error:
            reasons.append("%s: %s" % (folder, error.strerror or error))
    raise NotKept("the run could not be kept (%s)" % "; ".join(reasons))


def keep_or_print(document: Json) -> str:
    """Keep a run that was not delivered in the spool, else print it; says where it is now."""
    try:
        return "the run is kept in %s" % keep_in_spool(document)
    except NotKept as error:
        say(dumps(document), sys.stdout)
        return "%s: here it is, on standard output" % error


def spooled_runs() -> List[str]:
    """The runs that wait in the spool, the oldest first."""
    found: List[str] = []
    for folder in state_folders():
        with contextlib.suppress(OSError):
            if is_private(folder):
                found += glob.glob(os.path.join(glob.escape(folder), "spool", "run-*.json"))
    return sorted(found, key=lambda path: reading(lambda: os.path.getmtime(path), 0.0))


def is_spooled(path: str) -> bool:
    return os.path.dirname(os.path.abspath(path)) in spool_folders()


def remove_sent(path: str) -> None:
    """Another agent may have sent and removed it at the same time."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def set_aside(path: str, answer: str) -> str:
    """Move a refused run from spool/ to rejected/, with the answer beside it; the new path."""
    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(path))), "rejected")
    moved = os.path.join(folder, os.path.basename(path))
    os.makedirs(folder, mode=0o700, exist_ok=True)
    write_atomically(os.path.splitext(moved)[0] + ".answer.txt", answer)
    os.replace(path, moved)
    return moved


EXCHANGE_SECONDS = 60.0  # for a whole request and its answer, however slowly they trickle
CHECK_SECONDS = 5.0  # the same for the question before the measurement
RETRY_DELAYS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)  # seconds between the attempts of an upload
JITTER = 0.5  # share of a delay that is left to chance, so that many hosts do not come at once
RETRY_AFTER_LIMIT = 60.0
REFUSED_FOR_GOOD = (400, 409, 413)  # sent again, the same run gets the same answer


class UploadFailed(Exception):
    """The server did not take the run; the text says why, a line each."""


class Refused(UploadFailed):
    """The server will never take this run; `answer` is what it said."""

    def __init__(self, why: str, answer: str) -> None:
        super().__init__(why)
        self.answer = answer


class PlainAnswers(urllib.request.HTTPErrorProcessor):
    """Every answer as it is: no exception for a status, no redirect followed with our token."""

    def http_response(self, request: Any, response: Any) -> Any:
        return response

    https_response = http_response


class Answer(NamedTuple):
    """An HTTP answer; status 0 means that no connection came about, body then says why."""

    status: int
    body: str
    retry_after: Optional[str]


class Site(NamedTuple):
    """Where to upload, with which token, and whom to believe that it is there."""

    server: str
    token: str
    trust: Optional[ssl.SSLContext] = None  # None: the system's certificates
    again: str = ""  # the command that sends there what waits in the spool
    say: Callable[[str], None] = verbose  # for what happens on the way


def trust_of(ca_file: Optional[str]) -> Optional[ssl.SSLContext]:
    """Certificates of this file, and only these; UsageError when it holds none."""
    if ca_file is None:
        return None
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:  # ssl.SSLError is one
        reason = "it holds no certificates" if isinstance(error, ssl.SSLError) else error.strerror
        raise UsageError("--ca-file %s cannot be used: %s" % (ca_file, reason))


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise OSError after so long, whatever is waited for: a name, a handshake, one more byte."""

    def end(_signum: int, _frame: object) -> None:
        raise socket.timeout("no whole answer within %g s" % seconds)

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)  # again, should a destructor swallow it
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def ask(site: Site, url: str, body: Optional[bytes] = None, seconds: float = 0) -> Answer:
    """POST this gzipped body, or GET without one."""
    headers = {
        "Authorization": "Bearer " + site.token,
        "Accept": "application/json",
        "User-Agent": "ciphermark-agent/" + __version__,
    }
    if body is not None:
        headers.update({"Content-Type": "application/json", "Content-Encoding": "gzip"})
    method = "GET" if body is None else "POST"
    request = urllib.request.Request(url, data=body, headers=headers, method=method)
    tls = urllib.request.HTTPSHandler(context=site.trust)
    opener = urllib.request.build_opener(PlainAnswers, tls)
    try:
        with time_limit(seconds or EXCHANGE_SECONDS), opener.open(request) as answer:
            found = Answer(
                answer.status, decode(answer.read(MIB)), answer.headers.get("Retry-After")
            )
            location = answer.headers.get("Location")
    except urllib.error.URLError as error:
        return Answer(0, str(error.reason), None)
    except (OSError, ValueError, http.client.HTTPException) as error:
        return Answer(0, "the answer broke off: %s" % error, None)
    if 300 <= found.status < 400 and location:
        words = "the server redirects to %s; if that is right, give it as --server"
        raise UploadFailed(words % location.split("?")[0])
    return found


def upload(site: Site, document: Json) -> str:
    """Send a run; returns what to tell the user. The run_id makes sending twice harmless."""
    url = site.server.rstrip("/") + "/api/v1/runs/"
    body = gzip.compress(json.dumps(finite(document), allow_nan=False).encode("utf-8"))
    for number, delay in enumerate(RETRY_DELAYS + (0.0,)):
        answer = ask(site, url, body)
        if not delay or not worth_retrying(answer):
            break
        wait = pause(answer, delay)
        site.say(retry_words(answer, wait, number + 2))
        time.sleep(wait)
    if answer.status in REFUSED_FOR_GOOD and is_ciphermark_error(answer):
        raise Refused(
            explain_answer(url, answer), "HTTP status %d\n\n%s" % (answer.status, answer.body)
        )
    if not is_receipt(answer, document):
        raise UploadFailed(explain_answer(url, answer))
    # The page for people; the answer's own url is the API's.
    words = "uploaded: %s/runs/%s/" % (site.server.rstrip("/"), document["run_id"])
    return words + name_words(answer, document) + update_words(answer, site)


def update_words(answer: Answer, site: Site) -> str:
    """A line when the server hands out a newer agent than this one."""
    newer = parse_object(answer.body).get("newer_agent")
    words = "\nagent %s is out, this is %s: curl -fsO %s/agent.py"
    return words % (newer, __version__, site.server.rstrip("/")) if newer else ""


def name_words(answer: Answer, document: Json) -> str:
    """A line when the server lists this machine by another name than the one given."""
    host = parse_object(answer.body).get("host")
    shown = host.get("name") if isinstance(host, dict) else None
    own = document.get("host")
    given = own.get("name") if isinstance(own, dict) else None
    if shown in (None, given):
        return ""
    words = "\nthe server lists this machine as %s, not as %s: an editor can rename it there"
    return words % (shown, given)


def is_receipt(answer: Answer, document: Json) -> bool:
    """Whether this is Ciphermark saying that it has this run, and not a portal's page."""
    named = parse_object(answer.body).get("run_id")
    return answer.status in (200, 201, 202) and named == document["run_id"].lower()


def is_ciphermark_error(answer: Answer) -> bool:
    """Whether Ciphermark itself says no, and not a proxy before it."""
    said = parse_object(answer.body)
    return isinstance(said.get("type"), str) and isinstance(said.get("errors"), list)


def retry_words(answer: Answer, wait: float, attempt: int) -> str:
    said = "answered %d" % answer.status if answer.status else "does not answer (%s)" % answer.body
    words = "the server %s; trying again in %.0f s, %d of %d"
    return words % (said, wait, attempt, len(RETRY_DELAYS) + 1)


def foresee_refusal(site: Site) -> Optional[str]:
    """Why an upload to this site would fail as things are now, asked before minutes of measuring.

    An upload token may read nothing, so 403 is what a good one gets; a bad one gets 401.
    """
    url = site.server.rstrip("/") + "/api/v1/runs/"
    try:
        answer = ask(site, url, seconds=CHECK_SECONDS)
    except UploadFailed as error:
        return str(error)
    if answer.status == 401:
        way_out = "Press Ctrl-C and start again with a token from %s/tokens/"
        return explain_answer(url, answer) + "\n" + way_out % site.server.rstrip("/")
    foreign = answer.status == 200 and not parse_object(answer.body)
    return explain_answer(url, answer) if foreign or answer.status in (0, 404) else None


def worth_retrying(answer: Answer) -> bool:
    if distrusted(answer) or speaks_no_tls(answer):
        return False
    return answer.status in (0, 429) or answer.status >= 500


def distrusted(answer: Answer) -> bool:
    """Whether the server's certificate was refused: it will not change in a minute."""
    return answer.status == 0 and "CERTIFICATE_VERIFY_FAILED" in answer.body


def speaks_no_tls(answer: Answer) -> bool:
    """Whether https was asked of a server that answers in plain http (OpenSSL 1.0 to 3 words)."""
    signs = ("WRONG_VERSION_NUMBER", "UNKNOWN_PROTOCOL", "RECORD_LAYER_FAILURE")
    text = answer.body.upper().replace(" ", "_")
    return answer.status == 0 and any(sign in text for sign in signs)


def pause(answer: Answer, delay: float) -> float:
    """Seconds to wait: our own delay with some jitter, longer where the server asks for it."""
    asked = reading(lambda: asked_wait((answer.retry_after or "").strip()), 0.0)
    own = delay * random.uniform(1.0 - JITTER, 1.0)
    return max(own, min(float(asked), RETRY_AFTER_LIMIT))


def asked_wait(text: str) -> float:
    """Seconds of a Retry-After: a number, or the date until which to wait; 0 for none."""
    if re.match("[0-9]+$", text):
        return float(text)
    date = email.utils.parsedate_tz(text)
    return email.utils.mktime_tz(date) - time.time() if date else 0.0


def explain_answer(url: str, answer: Answer) -> str:
    """Why an upload failed, with every error that the server names."""
    if distrusted(answer):
        return (
            "%s shows a certificate that is not trusted here (%s); give the certificate of its "
            "authority with --ca-file" % (url, answer.body)
        )
    if speaks_no_tls(answer):
        return "%s does not speak TLS; if the address is right, write http:// for it" % url
    if answer.status == 0:
        return "%s cannot be reached: %s" % (url, answer.body)
    words = {
        200: "but not as Ciphermark does; is there a proxy or a sign-in page in between?",
        401: "the server does not know this token",
        403: "this token may not upload; make one with the scope `upload`",
        404: "there is no Ciphermark at this address",
        409: "the server has another run with the same run_id",
        413: "the run is too large for the server",
        429: "the server asks to come back later",
    }
    foreign = answer.status == 400 and not is_ciphermark_error(answer)
    known = words.get(200 if foreign or answer.status in (201, 202) else answer.status)
    lines = ["%s answered %d%s" % (url, answer.status, ": " + known if known else "")]
    errors = parse_object(answer.body).get("errors")
    for error in errors if isinstance(errors, list) else []:
        if isinstance(error, dict):
            lines.append("  %s: %s" % (error.get("attr") or error.get("code"), error.get("detail")))
    return printable("\n".join(lines))
