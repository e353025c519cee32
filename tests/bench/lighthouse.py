"""`python -m tests.bench.lighthouse`: what `make lighthouse` runs (docs/performance.md)."""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.bench.figures import Figure

ROUNDS = 3
BARS = {"performance": 95, "accessibility": 100, "best-practices": 100}
"""The least score of each category; of the rounds, the median counts."""

FORMS: Mapping[str, tuple[str, ...]] = {"mobile": (), "desktop": ("--preset=desktop",)}
CHROMIUM_FLAGS = "--headless --no-sandbox --disable-gpu --disable-background-networking"
TIMES = (
    "first-contentful-paint",
    "largest-contentful-paint",
    "total-blocking-time",
    "cumulative-layout-shift",
)
SECONDS = 300.0
"""A measurement that takes longer has failed."""

ATTEMPTS = 3
"""Lighthouse loses a page's trace now and then, and says so."""


class Failed(Exception):
    """Lighthouse could not measure a page; the message has its last words."""


@dataclass(frozen=True)
class Measured:
    """One page once: points of each category, and what it took in Lighthouse's own words."""

    points: Mapping[str, int]
    times: Mapping[str, str]


def main() -> int:
    """Measure, print, write the file; 1 when a score is too low."""
    import django

    django.setup()
    from tests.bench import figures, run
    from tests.bench.fleet import build
    from tests.bench.telling import say

    parser = argparse.ArgumentParser(prog="python -m tests.bench.lighthouse", description=__doc__)
    parser.add_argument("--json", type=Path, required=True, help="where the scores are written")
    path = parser.parse_args().json
    try:
        size = run.asked(os.environ).size
        build.provide(size)
        found = measure(chosen(_pages(), os.environ.get("LIGHTHOUSE_ONLY", "")))
    except (run.WrongSetting, Failed) as fault:
        say(str(fault))
        return 2
    figures.write_json(found, path)
    say(f"\n{figures.table(found)}")
    return 1 if any(one.ok is False for one in found) else 0


def measure(pages: Mapping[str, str]) -> list["Figure"]:
    """Every page in both forms; each page has been asked for once before."""
    from tests.bench import filter_change, serving
    from tests.bench.telling import Steps

    variables = {"DJANGO_SETTINGS_MODULE": "config.settings", "CIPHERMARK_PUBLIC": "1"}
    _collect_static(variables)
    found: list[Figure] = []
    steps = Steps(f"Lighthouse, medians of {ROUNDS}; load {os.getloadavg()[0]:.1f}")
    with serving.server(variables=variables) as server:
        for name, address in pages.items():
            for _ in range(2):  # both workers
                server.get(address)
            for form, options in FORMS.items():
                with steps.step(f"{name}, {form}"):
                    url = f"http://127.0.0.1:{server.port}{address}"
                    rounds = [_once(url, options) for _ in range(ROUNDS)]
                    found += figures_of(f"{name}, {form}", rounds)
        if "compare" in pages:
            with steps.step("filter change"):
                found += filter_change.measure(f"http://127.0.0.1:{server.port}")
    steps.end()
    return found


def _collect_static(variables: Mapping[str, str]) -> None:
    """Pages are served as `make run` serves them: hashed and compressed."""
    from launch import paths

    command = [sys.executable, str(paths.PROJECT / "manage.py"), "collectstatic", "--noinput"]
    subprocess.run(command, env={**os.environ, **variables}, check=True, capture_output=True)


def _pages() -> dict[str, str]:
    """The pages by their names; the host is the busiest one."""
    from django.db.models import Count

    from store.models import Host

    host = Host.objects.annotate(of_it=Count("runs")).order_by("-of_it")[0]
    return {
        "compare": "/",
        "openssl": "/?tool=openssl",
        "host": f"/hosts/{host.pk}/",
        "recommend": f"/recommend/?host={host.slug}",
    }


def chosen(pages: Mapping[str, str], names: str) -> Mapping[str, str]:
    """Those of the pages that LIGHTHOUSE_ONLY names; all when it is unset."""
    from tests.bench.run import WrongSetting

    wanted = [name.strip() for name in names.split(",") if name.strip()]
    unknown = [name for name in wanted if name not in pages]
    if unknown:
        raise WrongSetting(f"LIGHTHOUSE_ONLY: {unknown[0]!r} is none of {', '.join(pages)}.")
    return {name: pages[name] for name in wanted or pages}


def _once(url: str, options: Sequence[str]) -> Measured:
    command = [
        os.environ["LIGHTHOUSE"],
        url,
        *options,
        "--quiet",
        f"--only-categories={','.join(BARS)}",
        f"--chrome-flags={CHROMIUM_FLAGS}",
        "--output=json",
        "--output-path=stdout",
    ]
    for _ in range(ATTEMPTS):
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        if done.returncode == 0:
            break
    else:
        raise Failed(f"Lighthouse cannot measure {url}:\n{done.stderr[-1000:]}")
    report: dict[str, Any] = json.loads(done.stdout)
    return Measured(
        {name: round(100 * (report["categories"][name]["score"] or 0)) for name in BARS},
        {name: report["audits"][name].get("displayValue", "-") for name in TIMES},
    )


def figures_of(name: str, rounds: Sequence[Measured]) -> list["Figure"]:
    """A line for each category; of the rounds the median counts."""
    from tests.bench.figures import Figure

    found = []
    for category, least in BARS.items():
        points = [one.points[category] for one in rounds]
        value = median(points)
        note = _note(points, rounds) if category == "performance" else ""
        asked = f">= {least}"
        found.append(
            Figure(f"{name}: {category}", "points", value, None, asked, value >= least, note)
        )
    return found


def _note(points: Sequence[int], rounds: Sequence[Measured]) -> str:
    """All scores, and the times of the round that has the median."""
    chosen = sorted(rounds, key=lambda one: one.points["performance"])[len(rounds) // 2]
    times = ", ".join(
        f"{''.join(part[0] for part in name.split('-')).upper()} {said}"
        for name, said in chosen.times.items()
    ).replace("\xa0", " ")
    return f"{' '.join(map(str, points))}; {times}; load {os.getloadavg()[0]:.1f}"


if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.bench.settings"
    sys.exit(main())
