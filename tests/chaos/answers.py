"""What a site answers, as JSON: `python -m tests.chaos.answers [DOCUMENTS]`.

With a file of documents and edits these are first stored, processed and made one after the other,
in a site where nothing goes wrong. Two sites that have the same runs print the same; only a host's
key in addresses may be another one, which follows from the first of its names.
"""

import hashlib
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import django

from tests.chaos.edits import replay

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
    """Store and process every document of a file, in order; then make its edits."""
    from ingest.arrival.acceptance import accept_run
    from ingest.processing.run_processing import process_run

    known = json.loads(path.read_text())
    for document in known["documents"]:
        body = json.dumps(document).encode()
        process_run(accept_run(body, document, source="agent").run.pk)
    replay(known["edits"])


def comparisons(groupings: Iterable[str] | None = None) -> dict[str, Any]:
    """The comparison by these groupings (all but host when not given) in every metric."""
    from django.test import Client

    from results.selection import GROUPINGS, METRICS

    client, found = Client(), {}
    for tool in ("ssh", "openssl"):
        for metric in METRICS:
            for grouping in groupings or (one for one in GROUPINGS if one != "host"):
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
