import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_safe
from django.views.generic import TemplateView
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from mdit_py_plugins.anchors import anchors_plugin

INDEX = "index"
AGENT = "agent"
BESIDE = {"../agent/README": AGENT}
"""Names of documentation pages outside `docs/`, by the link to the page without `.md`."""
BOX = '<div class="table-box" tabindex="0" role="group" aria-label="Table">'


@dataclass(frozen=True)
class Section:
    anchor: str
    title: str
    level: int


@dataclass(frozen=True)
class Page:
    """Store a rendered documentation page. `name`: path below `docs/` without `.md`."""

    name: str
    title: str
    html: str
    sections: tuple[Section, ...]


@dataclass(frozen=True)
class Library:
    """Store all documentation pages.

    `pages`: pages by name. `parts`: (heading, names of linked pages) for each section of the index.
    """

    pages: dict[str, Page]
    parts: tuple[tuple[str, tuple[str, ...]], ...]


class _Scrolled(RendererHTML):
    """Render tables and code blocks in scrollable boxes that accept keyboard focus."""

    def table_open(self, *arguments: Any) -> str:
        return BOX + self.renderToken(*arguments)

    def table_close(self, *arguments: Any) -> str:
        return f"{self.renderToken(*arguments)}</div>"

    def td_open(self, tokens: Sequence[Token], place: int, *arguments: Any) -> str:
        # The Content-Security-Policy forbids inline styles.
        if "right" in str(tokens[place].attrs.pop("style", "")):
            tokens[place].attrSet("class", "number")
        return self.renderToken(tokens, place, *arguments)

    th_open = td_open

    def fence(self, *arguments: Any) -> str:
        return _focusable(super().fence(*arguments))

    def code_block(self, *arguments: Any) -> str:
        return _focusable(super().code_block(*arguments))


def _focusable(block: str) -> str:
    return block.replace("<pre>", '<pre tabindex="0">', 1)


def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Scrolled).enable("table")
    return markdown.use(anchors_plugin, max_level=3)


@cache
def library() -> Library:
    folder: Path = settings.DOCS_DIR
    files = {
        path.relative_to(folder).with_suffix("").as_posix(): path for path in folder.rglob("*.md")
    }
    files[AGENT] = settings.AGENT_PACKAGE.parent / "README.md"
    markdown = _markdown()
    texts = {name: path.read_text("utf-8") for name, path in files.items()}
    parsed = {name: markdown.parse(text) for name, text in texts.items()}
    parts = tuple(_parts(parsed[INDEX])) if INDEX in parsed else ()
    in_order = [INDEX, *(name for _, members in parts for name in members)]
    pages = {}
    for name in sorted(parsed, key=lambda name: (name not in in_order, name)):
        tokens = parsed[name]
        sections = tuple(_sections(tokens))
        _rewrite_links(tokens, name, parsed)
        html = markdown.renderer.render(tokens, markdown.options, {})
        pages[name] = Page(name, sections[0].title if sections else name, html, sections)
    return Library({name: pages[name] for name in in_order if name in pages} | pages, parts)


def _sections(tokens: Sequence[Token]) -> Iterator[Section]:
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            anchor = str(token.attrGet("id") or "")
            yield Section(anchor, _plain(tokens[place + 1]), int(token.tag[1]))


def _plain(token: Token) -> str:
    if token.children is None:
        return token.content
    return "".join(
        " " if child.type in ("softbreak", "hardbreak") else child.content
        for child in token.children
        if child.type in ("text", "code_inline", "softbreak", "hardbreak")
    )


def _parts(tokens: Sequence[Token]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield (heading, names of linked pages) for each section of the index page."""
    title, names = "", list[str]()
    for place, token in enumerate(tokens):
        if token.type == "heading_open" and token.tag == "h2":
            if names:
                yield title, tuple(names)
            title, names = _plain(tokens[place + 1]), []
        for child in token.children or ():
            href = str(child.attrGet("href") or "") if child.type == "link_open" else ""
            if href.endswith(".md"):
                names.append(_name(href))
    if names:
        yield title, tuple(names)


def _rewrite_links(tokens: Sequence[Token], name: str, pages: dict[str, list[Token]]) -> None:
    """Replace relative links and image paths with URLs of this site.

    A relative link to a file that is not in `pages` becomes plain text. `name`: the linking page.
    """
    beside = posixpath.dirname(name)
    for token in tokens:
        children = token.children or []
        for place, child in enumerate(children):
            if child.type == "image":
                picture = posixpath.normpath(posixpath.join(beside, str(child.attrGet("src"))))
                child.attrSet("src", reverse("docs-picture", args=[posixpath.basename(picture)]))
            if child.type != "link_open":
                continue
            path, _, anchor = str(child.attrGet("href") or "").partition("#")
            if "://" in path or not path:
                continue
            target = _name(posixpath.normpath(posixpath.join(beside, path)))
            if target in pages:
                address = address_of(target)
                child.attrSet("href", f"{address}#{anchor}" if anchor else address)
            else:
                close = next(at for at in range(place, len(children)) if children[at].nesting < 0)
                child.type = children[close].type = "text"
                child.content = children[close].content = ""


def _name(path: str) -> str:
    name = path.removesuffix(".md")
    return BESIDE.get(name, name)


def address_of(name: str) -> str:
    return reverse("docs") if name == INDEX else reverse("docs-page", args=[name])


# The documentation is public, even if the site is not.
class DocsPage(TemplateView):
    template_name = "core/docs.html"
    http_method_names = ("get", "head")

    def get_context_data(self, name: str = INDEX, **context: Any) -> dict[str, Any]:
        known = library()
        page = known.pages.get(name)
        if page is None:
            raise Http404("Documentation page not found.")
        return super().get_context_data(
            page=page,
            html=mark_safe(page.html),  # noqa: S308 - of files of this program
            contents=[section for section in page.sections if section.level == 2],
            parts=[
                (title, [_link(known.pages[name], page) for name in names if name in known.pages])
                for title, names in known.parts
            ],
            **context,
        )


def _link(page: Page, shown: Page) -> tuple[str, str, bool]:
    return address_of(page.name), page.title, page is shown


@require_safe
def docs_picture(request: HttpRequest, name: str) -> HttpResponse:
    pictures: dict[str, Path] = {path.name: path for path in settings.DOCS_DIR.rglob("*.png")}
    if name not in pictures:
        raise Http404("Picture not found.")
    return HttpResponse(pictures[name].read_bytes(), content_type="image/png")
