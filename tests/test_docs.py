import re
from pathlib import Path

from django.urls import URLPattern, URLResolver, get_resolver

from cipherspeed.groups import UNITS, Comparison, Group, GroupSummary, Reference
from compare.files import MEASUREMENT_COLUMNS, comparison_rows
from compare.question import GROUPINGS, METRICS, ComparisonQuery
from runs.filters import FILTERS
from tests.cases import each

PROJECT = Path(__file__).parent.parent
API = (PROJECT / "docs" / "api.md").read_text("utf-8")


def settings_read() -> set[str]:
    text = (PROJECT / "backend" / "config" / "settings.py").read_text("utf-8")
    return set(re.findall(r'env\.\w+\(\s*"([A-Z_]+)"', text))


@each("name", sorted(settings_read()))
def test_every_setting_is_explained(name: str) -> None:
    assert name in (PROJECT / "docs" / "operations.md").read_text("utf-8")
    assert name in (PROJECT / ".env.example").read_text("utf-8")


def addresses(patterns: list[URLPattern | URLResolver], prefix: str = "/") -> list[str]:
    found = []
    for pattern in patterns:
        path = prefix + re.sub(r"<\w+:(\w+)>", r"{\1}", str(pattern.pattern))
        path = path.replace(r"[\s\S]", "{rest}")
        if isinstance(pattern, URLResolver):
            found += addresses(pattern.url_patterns, path)
        else:
            found.append(path)
    return found


def api_addresses() -> list[str]:
    all_of_them = addresses(get_resolver().url_patterns)
    return [page for page in all_of_them if page.startswith("/api/")] + [
        "/healthz",
        "/readyz",
        "/metrics",
        "/agent.py",
    ]


@each("path", api_addresses())
def test_every_address_of_the_api_is_documented(path: str) -> None:
    assert f"`{path}`" in API


@each("name", (*GROUPINGS, *METRICS, *FILTERS))
def test_every_choice_of_the_comparison_is_documented(name: str) -> None:
    assert f"`{name}`" in API


EXPORTS = (PROJECT / "docs" / "exports.md").read_text("utf-8")


@each("name", MEASUREMENT_COLUMNS)
def test_every_column_of_measurements_is_documented(name: str) -> None:
    assert f"| `{name}` |" in EXPORTS


@each("metric", METRICS)
def test_every_column_of_a_comparison_is_documented(metric: str) -> None:
    group = Group("a", "A", 1, {"aes": GroupSummary(1, 1, 1, 1, 1, n=1)}, ())
    query = ComparisonQuery(metric=metric, split_by="os", matched=True)
    comparison = Comparison(
        *("ssh", "cpu", metric, UNITS[metric], None, ("aes",), (group,), {}),
        split_by="os",
        relative_to=Reference("a", "A"),
    )
    for name in next(comparison_rows(query, comparison)):
        assert f"`{re.sub(r'_(q1|q3|min|max)$', '', name)}`" in EXPORTS


@each("page", sorted((PROJECT / "docs").glob("*.md")))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


def test_links_of_the_readme_lead_somewhere() -> None:
    for name in ("README.md", "CONTRIBUTING.md"):
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", (PROJECT / name).read_text("utf-8")):
            assert (PROJECT / target).exists(), target


def test_every_file_that_the_architecture_names_is_there() -> None:
    # A bare file name is in the folder of the previous file.
    beside = PROJECT / "backend"
    for line in (PROJECT / "docs" / "architecture.md").read_text("utf-8").splitlines():
        for name in re.findall(r"`([\w./-]+\.(?:py|json|md|ts))`", line):
            found = [folder / name for folder in (PROJECT / "backend", PROJECT, beside)]
            there = [path for path in found if path.exists()]
            assert there, f"{name} in: {line}"
            beside = there[0].parent
