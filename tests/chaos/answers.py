"""What a site answers, as JSON: `python -m tests.chaos.answers [DOCUMENTS]`.

With a file of documents they are first stored and processed one after the other, in a site where
nothing goes wrong. Two sites that have the same runs print the same.
"""

import hashlib
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import django

COLUMNS = (
    "median, minimum, maximum, n, spread, noisy, implausible, cpu_seconds_per_gb,"
    " cpu_seconds_per_gb_spread, cpu_bound_throughput, cpu_bound_throughput_spread"
)

MEASUREMENTS = f"""
SELECT r.run_id, s.key, {COLUMNS} FROM runs_measurement m JOIN runs_run r ON r.id = m.run_id
JOIN runs_series s ON s.id = m.series_id ORDER BY r.run_id, s.key
"""  # noqa: S608 - constants

INDICES = """
SELECT r.run_id, p.name, i.tool, i.index, i.uncertainty FROM runs_runspeedindex i
JOIN runs_run r ON r.id = i.run_id JOIN runs_referenceprofile p ON p.id = i.profile_id
ORDER BY r.run_id, p.name, i.tool
"""

VERDICTS = """
SELECT run_id, status, hidden, acceleration, acceleration_factor FROM runs_run ORDER BY run_id
"""


def store(path: Path) -> None:
    """Store and process every document of a file, in order."""
    from runs.acceptance import accept_run
    from runs.processing import process_run

    for document in json.loads(path.read_text()):
        body = json.dumps(document).encode()
        process_run(accept_run(body, document, source="agent").run.pk)


def comparisons(groupings: Iterable[str] | None = None) -> dict[str, Any]:
    """The comparison by these groupings (every one when not given) in every metric."""
    from django.test import Client

    from runs.queries.selection import GROUPINGS, METRICS

    client, found = Client(), {}
    for tool in ("ssh", "openssl"):
        for metric in METRICS:
            for grouping in groupings or GROUPINGS:
                path = f"/api/v1/comparison/?tool={tool}&metric={metric}&group_by={grouping}"
                found[path] = client.get(path).json()
    return found


def rows(statement: str) -> dict[str, Any]:
    """How many rows a statement has, and their digest."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(statement)
        found = cursor.fetchall()
    return {"rows": len(found), "sha256": hashlib.sha256(repr(found).encode()).hexdigest()}


def main() -> None:
    """Print it all."""
    django.setup()
    if sys.argv[1:]:
        store(Path(sys.argv[1]))
    answers = {
        "comparisons": comparisons(),
        "measurements": rows(MEASUREMENTS),
        "speed indices": rows(INDICES),
        "runs": rows(VERDICTS),
    }
    json.dump(answers, sys.stdout, sort_keys=True)


if __name__ == "__main__":
    main()
