"""The documentation, `/docs/`: for everybody, whoever may read the figures."""

from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_safe

from pages.docs.library import INDEX, MOST_FOUND, Page, address_of, library

LONGEST_SEARCH = 200


@require_safe
def docs_page(request: HttpRequest, name: str = INDEX) -> HttpResponse:
    """A page of the documentation, or with `q` the sections that have these words."""
    known = library()
    page = known.pages.get(name)
    if page is None:
        raise Http404("There is no such page of the documentation.")
    text = request.GET.get("q", "").strip()[:LONGEST_SEARCH]
    context = {
        "page": page,
        "html": mark_safe(page.html),  # noqa: S308  # nosec B308 B703 - of files of this program
        "contents": [one for one in page.sections if one.level == 2],
        "parts": [
            (title, [_link(known.pages[one], page) for one in names if one in known.pages])
            for title, names in known.parts
        ],
        "text": text,
        "most": MOST_FOUND,
        "found": [(address_of(one.page.name), one) for one in known.search(text)],
    }
    return render(request, "pages/docs.html", context)


def _link(page: Page, shown: Page) -> tuple[str, str, bool]:
    """Address, title, and whether it is the page shown."""
    return address_of(page.name), page.title, page is shown


@require_safe
def docs_picture(request: HttpRequest, name: str) -> HttpResponse:
    """A picture of the documentation."""
    pictures: dict[str, Path] = {one.name: one for one in settings.DOCS_DIR.rglob("*.png")}
    if name not in pictures:
        raise Http404("There is no such picture.")
    return HttpResponse(pictures[name].read_bytes(), content_type="image/png")
