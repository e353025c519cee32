import json
import re
import urllib.error
import urllib.request
from email.message import Message
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

from tests.end_to_end.conftest import PATH
from tests.live_site import LiveSite
from tests.sample_documents import run_document

# URLs of this host that are outside CIPHERMARK_PATH=/bench
ELSEWHERE = re.compile(r"""["'](/(?!bench[/"']|/)[\w.-]+/?[\w./-]*)""")


class Links(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        for name in ("href", "src") if tag != "form" else ():
            address = known.get(name)
            if address and not address.startswith(("#", "data:", "mailto:")):
                self.found.add(address)


def opened(url: str, cookie: str = "") -> tuple[int, str, str, Message]:
    request = urllib.request.Request(url, headers={"Cookie": cookie} if cookie else {})
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            is_text = "html" in answer.headers["Content-Type"]
            text = answer.read().decode() if is_text else ""
            return answer.status, answer.url, text, answer.headers
    except urllib.error.HTTPError as error:
        with error:
            return error.code, url, "", error.headers


def shape(url: str) -> str:
    # One page of each kind is enough.
    parts = urlsplit(url)
    path = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d+", "N", parts.path)
    names = sorted(re.findall(r"(\w+)=", parts.query))
    return f"{path}?{'&'.join(names[:2])}"


def test_every_link_of_every_page_leads_into_the_site(below_path: LiveSite) -> None:
    document = run_document()
    request = urllib.request.Request(
        f"{below_path.url}/api/v1/runs/",
        data=json.dumps(document).encode(),
        headers={
            "Authorization": f"Bearer {below_path.token('upload')}",
            "Content-Type": "application/json",
        },
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert json.load(answer)["url"] == f"{below_path.url}/api/v1/runs/{document['run_id']}/"
    below_path.wait_until_ready(document["run_id"])

    cookie = f"sessionid={below_path.session_key()}"
    waiting, seen, wrong = [f"{below_path.url}/"], set[str](), list[str]()
    while waiting:
        url = waiting.pop()
        if shape(url) in seen:
            continue
        seen.add(shape(url))
        status, final, text, _ = opened(url, cookie)
        if status not in (200, 400) or not f"{final}/".startswith(f"{below_path.url}/"):
            wrong.append(f"{url}: {status} at {final}")
        wrong += [f"{url} has {address}" for address in ELSEWHERE.findall(text)]
        for link in Links(text).found:
            address = urljoin(final, link).partition("#")[0]
            if urlsplit(address).netloc != urlsplit(below_path.url).netloc:
                continue
            if not f"{address}/".startswith(f"{below_path.url}/"):
                wrong.append(f"{url} leads to {address}")
            elif not re.search("logout|oidc", address):
                waiting.append(address)
    assert wrong == []
    assert len(seen) > 60


def test_commands_files_and_cookies_carry_the_path(below_path: LiveSite) -> None:
    cookie = f"sessionid={below_path.session_key()}"
    _, _, tokens, _ = opened(f"{below_path.url}/tokens/", cookie)
    assert f"{below_path.url}/agent.py" in tokens
    assert f"--server {below_path.url} " in tokens
    _, _, _, headers = opened(f"{below_path.url}/accounts/login/")
    assert "; Path=/bench/" in headers["Set-Cookie"]
    csv = f"{below_path.url}/api/v1/exports/measurements.csv?source=published"
    with urllib.request.urlopen(csv, timeout=60) as answer:
        assert f"{below_path.url}/runs/" in answer.read().decode()
    assert below_path.get("/api/v1/openapi.json")["servers"] == [{"url": PATH}]
    assert below_path.get("/api/v1/runs/?page_size=1")["next"].startswith(
        f"{below_path.url}/api/v1/runs/?"
    )
