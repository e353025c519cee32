import re
from html import unescape

import pytest
from django.test import Client

from core.views.docs import library
from tests.browser.docs_pictures import VIEWS, pasted
from tests.conftest import ApiClient
from tests.pages.conftest import page

# Expected numbers of runs and of series in the text of each page
PASTED = {
    "hidden-aes": (1, 7),
    "nas": (1, 2),
    "two-systems": (2, 10),
    "builds": (1, 10),
    "platforms": (3, 15),
}


def test_the_index_leads_to_every_page() -> None:
    known = library()
    listed = [name for _, names in known.parts for name in names]
    assert sorted([*listed, "index"]) == sorted(known.pages)


@pytest.mark.parametrize("name", sorted(library().pages))
def test_every_link_of_a_page_leads_somewhere(name: str, client: Client) -> None:
    html = page(client, "/docs/" if name == "index" else f"/docs/{name}/")
    assert html.count("<h1") == 1
    assert " style=" not in html, "the Content-Security-Policy forbids it"
    (article,) = re.findall(r"<article.*?</article>", html, re.S)
    for address in map(unescape, re.findall(r'(?:href|src)="([^"]*)"', article)):
        path, _, anchor = address.partition("#")
        if "://" in path:
            continue
        assert path or anchor, address
        there = client.get(path) if path else None
        assert there is None or there.status_code == 200, address
        if anchor:
            found = there.content.decode() if there else html
            assert f'id="{anchor}"' in found, address


@pytest.mark.parametrize("name", VIEWS)
def test_a_pasted_text_is_read_as_its_page_says(name: str, uploader: ApiClient) -> None:
    text = pasted(name)
    answer = uploader.post("/api/v1/imports/?preview=1", text, content_type="text/plain").json()
    series = [len(document["measurements"]) for document in answer["documents"]]
    assert (len(series), sum(series)) == PASTED[name]
    assert answer["unrecognised"] == []
