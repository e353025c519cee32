"""What a site must answer: `python -m tests.chaos.truth FILE` for the addresses in a JSON file.

By the definition of a comparison, in plain Python, from what PostgreSQL has.
"""

import http.client
import json
import random
import sys
import urllib.error
import urllib.request
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import django

from tests.chaos.parts import wait_until
from tests.chaos.site import Site

TOOLS = ("ssh", "openssl")
METRICS = (
    *("throughput", "normalised", "vs_arcfour", "vs_blowfish", "vs_3des"),
    *("cpu_seconds_per_gb", "cpu_bound_throughput", "cpu_bound_normalised"),
)
GROUPINGS = ("cpu", "os", "openssl", "acceleration", "host", "tag:rack")
FILTERS: tuple[dict[str, str], ...] = (
    *({}, {"tag": "rack:r1"}, {"cpu_vendor": "amd"}, {"host": "machine-3"}),
    *({"since": "2025-10-01T12:00:00Z"}, {"until": "2025-10-01T12:00:00Z"}, {"source": "agent"}),
)
QUESTION = "/api/v1/comparison/?group_by=host"
ANSWER_SECONDS = 60.0


def every_path() -> list[str]:
    """Each metric by each grouping for both tools, and each filter by each metric."""
    asked = [
        {"tool": tool, "metric": metric, "group_by": grouping, **chosen}
        for tool in TOOLS
        for metric in METRICS
        for grouping in GROUPINGS
        for chosen in (FILTERS if grouping == "cpu" else FILTERS[:1])
    ]
    return [f"/api/v1/comparison/?{urlencode(one)}" for one in asked]


def sample(dice: random.Random, count: int) -> list[str]:
    """Some of these."""
    return dice.sample(every_path(), count)


def wrong_answers(site: Site, paths: list[str]) -> list[str]:
    """Those of these addresses at which a site that nobody changes answers something else."""
    found = {path: _answer(site, path) for path in paths}
    file = site.folder / "paths.json"
    file.write_text(json.dumps(paths))
    expected = json.loads(site.program("-m", "tests.chaos.truth", str(file)))
    return [path for path in paths if found[path] != expected[path]]


def _answer(site: Site, path: str) -> Any:
    """As soon as it has one: a copy that is being built says "come back later"."""
    answers: list[Any] = []

    def has_answered() -> bool:
        try:
            with urllib.request.urlopen(site.url + path, timeout=ANSWER_SECONDS) as answer:
                answers.append(without_doubts(json.load(answer)))
        except (OSError, http.client.HTTPException):
            return False
        return True

    wait_until(has_answered, ANSWER_SECONDS, f"{path} has no answer")
    return answers[0]


def status_of(site: Site, path: str) -> int:
    """Of one answer; 0 where there is none."""
    try:
        with urllib.request.urlopen(site.url + path, timeout=ANSWER_SECONDS) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except (OSError, http.client.HTTPException):
        return 0


def without_doubts(answer: dict[str, Any]) -> dict[str, Any]:
    """Without the counts of doubtful votes, which the reference does not make."""
    for group in answer["groups"]:
        group.pop("doubtful", None)
    return answer


def main() -> None:
    """Print address -> answer."""
    django.setup()
    from django.http import QueryDict

    from api.comparison_json import comparison_json
    from questions.comparison_parameters import comparison_query
    from store.statements import one_moment
    from tests.results import comparison_reference

    # All answers from one state, which is read once.
    comparison_reference.counted_runs = cache(comparison_reference.counted_runs)
    found = {}
    with one_moment():
        for path in json.loads(Path(sys.argv[1]).read_text()):
            query = comparison_query(QueryDict(path.partition("?")[2]))
            compared = comparison_reference.compare_in_python(query)
            found[path] = without_doubts(json.loads(comparison_json(compared)))
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
