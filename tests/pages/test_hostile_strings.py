import csv
import re
import zipfile
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from io import BytesIO, StringIO
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.http.response import HttpResponseBase
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from accounts.models import ApiToken
from accounts.tokens import create_token
from runs.importing import ImportRequest, store_import
from runs.models import Host, Run
from runs.processing import derive_run
from runs.published import load_published
from tests.conftest import StoreRun
from tests.sample_documents import environment, openssl_measurement, run_document, ssh_measurement

MARK = "x-hostile"
HOSTILE = (
    f"\"'><{MARK} onload=alert(1)></script></title></textarea><{MARK} src=javascript:alert(1)>"
    f"{{{{7*7}}}}<!--{MARK}"
)
FORMULAS = (f'=HYPERLINK("http://{MARK}/")', f"+{MARK}", f"-{MARK}", f"@{MARK}", f"\t={MARK}")
NAMES = (HOSTILE, *FORMULAS, f"javascript:alert('{MARK}')", f"{MARK}\u202e\u2066")

PARAMETERS = re.findall(
    r"\S+",
    "q host cpu os openssl openssh cipher group_by metric tool mac tag client server"
    " policy link next sort since cursor page run name find-cpu more chart scale view",
)
EVERYTHING = dict.fromkeys(PARAMETERS, HOSTILE)
FOUND = {"q": MARK, "host": HOSTILE, "tag": f"rack:{HOSTILE}"}


def document(name: str, number: int) -> dict[str, Any]:
    target = {"kind": "remote", "name": name[:200]}
    facts = environment(model=name, vendor=name)
    facts["os"] = {"id": name, "name": name, "version": name, "kernel": name}
    facts["openssl"] = {"version_text": name, "platform": name, "compiler": name, "options": name}
    facts["openssh"] = {"client": name, "server": name, "default_cipher": name}
    facts["virtualization"] = name
    return run_document(
        *(
            ssh_measurement(cipher, 1e8, 2e8, target=target)
            for cipher in ("aes128-ctr", "3des-cbc")
        ),
        ssh_measurement("arcfour", 1e8),
        openssl_measurement("aes-128-gcm", 1e9),
        host={"name": name[:150], "machine_id": f"{number:064x}"},
        agent={"name": name[:90], "version": name[:90]},
        tags={"rack": name[:190]},
        environment=facts,
        conditions=[{"code": name, "detail": name}],
        skipped=[{"tool": "ssh", "cipher": name, "reason": name}],
    )


@pytest.fixture
def person(db: None, store_run: StoreRun) -> Client:
    load_published()
    for number, name in enumerate(NAMES):
        store_run(document(name, number))
        create_token(name[:100], "read")
    text = f"{HOSTILE}\naes128-ctr: 104.167 MB/s\n{HOSTILE} {MARK}: 1 MB/s\n"
    for run in store_import(ImportRequest(text.encode())).runs:
        derive_run(run.pk)
    user = User.objects.create_superuser("root", first_name=HOSTILE[:150])
    client = Client(raise_request_exception=True)
    client.force_login(user)
    return client


def addresses(patterns: Any, prefix: str = "/") -> Iterator[str]:
    for pattern in patterns:
        path = prefix + str(pattern.pattern).removeprefix("^").removesuffix("$").removesuffix("\\Z")
        if isinstance(pattern, URLResolver):
            yield from addresses(pattern.url_patterns, path)
        elif isinstance(pattern, URLPattern) and "(?P" not in path:
            yield re.sub(r"<(?:\w+:)?(\w+)>", partial(filling, path), path)


def filling(path: str, found: re.Match[str]) -> str:
    nobody = UUID(int=0)
    run = Run.objects.order_by("-id").first()
    hosts = [*Host.objects.filter(name__contains=MARK).values_list("pk", flat=True)[:2], 1, 1]
    token = ApiToken.objects.last()
    known: dict[str, Any] = {
        "run_id": run.run_id if run else nobody,
        "host_id": hosts[0],
        "pk": hosts[0],
        "other_id": hosts[1],
        "app_label": "runs",
        "job_id": nobody,
    }
    if token and path.startswith("/tokens/"):
        known["pk"] = token.pk
    return str(known.get(found[1], 1))


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == MARK:
            self.found.append(f"an element <{tag}>")
        if tag == "script" and not values.get("src") and "json" not in (values.get("type") or ""):
            self.found.append("a script in the page")
        for name, value in attrs:
            self._look_at(tag, name, value or "")

    def _look_at(self, tag: str, name: str, value: str) -> None:
        if name.startswith("on") or name in ("style", "srcdoc", MARK):
            self.found.append(f"<{tag} {name}={value[:60]!r}>")
        if name in ("href", "src", "action", "formaction", "data", "poster"):
            place = urlsplit(value.strip())
            foreign = place.scheme not in ("", "http", "https") or (
                place.netloc not in ("", "testserver") and tag != "a"
            )
            if foreign and not value.startswith("data:image/") and value != "data:,":
                self.found.append(f"<{tag} {name}={value[:60]!r}>")


def dangers(address: str, response: Any) -> list[str]:
    kind = response.headers.get("Content-Type", "").partition(";")[0]
    body = b"".join(response.streaming_content) if response.streaming else response.content
    if kind == "text/html":
        return html_dangers(address, body.decode(), response)
    if kind == "text/csv":
        cells = [cell for row in csv.reader(StringIO(body.decode("utf-8-sig"))) for cell in row]
        return [
            cell
            for cell in cells
            if cell.startswith(("=", "+", "-", "@", "\t", "\r")) and MARK in cell
        ]
    if "spreadsheetml" in kind:
        return workbook_dangers(body)
    if response.headers.get("X-Content-Type-Options") != "nosniff":
        return [f"{kind} may be taken for HTML"]
    return []


def html_dangers(address: str, text: str, response: HttpResponseBase) -> list[str]:
    reader = Reader()
    reader.feed(text)
    policy = response.headers.get("Content-Security-Policy", "")
    own = not address.startswith("/api/docs/")
    if own and ("script-src 'self'" not in policy or "unsafe" in policy):
        reader.found.append(f"the policy {policy!r}")
    return reader.found


def workbook_dangers(body: bytes) -> list[str]:
    with zipfile.ZipFile(BytesIO(body)) as book:
        sheets = [book.read(name).decode() for name in book.namelist() if "worksheets" in name]
    return [match for sheet in sheets for match in re.findall(r"<f>[^<]*", sheet) if MARK in match]


def test_no_name_becomes_code_on_any_address(person: Client) -> None:
    asked, pages = 0, 0
    for address in sorted(set(addresses(get_resolver().url_patterns))):
        own = not address.startswith("/admin/")
        for query in ({}, EVERYTHING, FOUND) if own else ({},):
            response = person.get(address, query)
            assert response.status_code < 500 or address == "/readyz", address
            assert dangers(address, response) == [], f"{address} {sorted(query)}"
            asked += 1
            pages += MARK.encode() in getattr(response, "content", b"")
    assert asked > 100
    assert pages > 20, "the names are nowhere to be seen: this test tests nothing"
