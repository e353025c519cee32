import re
from html import unescape
from typing import Any

from django.test import Client


def text_of(html: str) -> str:
    without_code = re.sub(r"<script\b.*?</script>", " ", html, flags=re.S)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", without_code)).split())


def table_values(html: str) -> dict[str, dict[str, float]]:
    """Return the exact median of each group and cipher from the table of the compare page."""
    found: dict[str, dict[str, float]] = {}
    for group, body in re.findall(r'<tr data-group="([^"]*)">(.*?)</tr>', html, re.S):
        rows = re.findall(r'data-cipher="([^"]*)" data-value="([^"]*)"', body)
        found[unescape(group)] = {unescape(cipher): float(value) for cipher, value in rows}
    return found


def link(html: str, words: str) -> str:
    found = re.search(rf'<a [^>]*href="([^"]*)"[^>]*>{words}', html)
    assert found, words
    return unescape(found[1])


def beside(html: str, which: str) -> str | None:
    """Return the URL of the next or previous page, or None. `which`: "next" or "prev"."""
    found = re.search(rf'href="(\?[^"]*)" rel="{which}"', html)
    return unescape(found[1]) if found else None


def page(client: Client, address: str, expect: int = 200, **query: Any) -> str:
    response = client.get(address, query)
    assert response.status_code == expect, response.content
    return response.content.decode()
