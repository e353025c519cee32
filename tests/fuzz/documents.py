"""Mutated documents and texts through the real endpoints and the real processing, in one process.

`python -m tests.fuzz.documents COUNT SEED` in a database of its own.
"""

import json
import logging
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from unittest import mock

import django
import psutil

from launch.console import say

if TYPE_CHECKING:
    from tests.fuzz.mutations import Case

WARM_UP = 500
"""Cases until caches are filled: memory is measured from there."""

TOLD_EVERY = 5_000
"""Cases after which it is said how far it is."""

MOST_GROWTH = 100_000_000
"""Bytes that the process may grow by, however many cases come."""

ALLOWED = (200, 202, 400, 409, 413, 415)

WITHOUT_PLACE = ("parse_error", "too_large", "not_a_text", "no_figures", "unsupported_media_type")
"""Errors of a body as a whole; their sentences say where, as far as there is a where."""


@dataclass
class Report:
    """What came of the cases."""

    answers: Counter[int] = field(default_factory=Counter)
    ready: int = 0
    rejected: int = 0
    growth: int = 0
    findings: list[str] = field(default_factory=list)


def fuzz(wanted: "Iterable[Callable[[], Case]]", token: str) -> Report:
    """Send every case; stop for nothing."""
    from django.test import Client

    client = Client(raise_request_exception=False, headers={"authorization": f"Bearer {token}"})
    report, process, before = Report(), psutil.Process(), 0
    for number, make in enumerate(wanted):
        if number == WARM_UP:
            before = process.memory_info().rss
        if number and number % TOLD_EVERY == 0:
            say(f"documents: {number:,} sent, {len(report.findings)} findings")
        fault = _send(client, make(), report)
        if fault:
            report.findings.append(f"case {number}: {fault}")
    report.growth = process.memory_info().rss - before if before else 0
    return report


def _send(client: Any, case: "Case", report: Report) -> str | None:
    answer = client.post(case.path, case.body, content_type=case.content_type, **case.headers)
    report.answers[answer.status_code] += 1
    if answer.status_code not in ALLOWED:
        return f"{case.path} answered {answer.status_code} to {case.body[:100]!r}"
    if answer.status_code >= 400:
        return _unclear(answer.content)
    content = answer.json()
    if "parser_failed" in {one["code"] for one in content.get("warnings", ())}:
        return f"{case.path}: a parser failed on {case.body[:100]!r}"
    return _unfinished(content, report)


def _unclear(content: bytes) -> str | None:
    """An error that does not say what is wrong, or where."""
    for error in json.loads(content)["errors"]:
        whole = error["code"] in WITHOUT_PLACE or error["attr"]
        if not (error["detail"] and whole):
            return f"an error without its place: {error}"
    return None


def _unfinished(content: dict[str, Any], report: Report) -> str | None:
    """A run that was taken and neither became ready nor was rejected with a reason."""
    from store.models import Run

    ids = [content["run_id"]] if "run_id" in content else []
    ids += [one["run_id"] for one in content.get("runs", [])]
    for run in Run.objects.filter(run_id__in=set(ids)):
        report.ready += run.status == "ready"
        report.rejected += run.status == "rejected"
        if run.status == "accepted" or (run.status == "rejected") != bool(run.rejection):
            return f"the run {run.run_id} is {run.status}: {run.rejection!r}"
    return None


@contextmanager
def processed_at_once() -> Iterator[None]:
    """Uploads are processed within their request, where a failure is one of the request."""
    from ingest import tasks

    def send(task: Any, *arguments: int) -> bool:
        task.apply(arguments, throw=True)
        return True

    def enqueue_once(task: Any) -> bool:
        return send(task)

    with mock.patch.multiple(tasks, send=send, enqueue_once=enqueue_once):
        yield


def main() -> int:
    """Print one line of figures, and every finding."""
    django.setup()
    logging.disable(logging.WARNING)  # each refusal is one
    from django.core.management import call_command

    from access.tokens import create_token
    from tests.fuzz.mutations import cases

    call_command("migrate", verbosity=0)
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    with processed_at_once():
        report = fuzz(cases(count, seed), create_token("fuzz", "upload"))
    answers = ", ".join(f"{status}: {times}" for status, times in sorted(report.answers.items()))
    say(
        f"{sum(report.answers.values())} mutated documents and imports ({answers}),"
        f" {report.ready} ready, {report.rejected} rejected, memory grew by"
        f" {report.growth / 1e6:.0f} MB, {len(report.findings)} findings"
    )
    for finding in report.findings[:50]:
        say(f"  {finding}")
    return 1 if report.findings or report.growth > MOST_GROWTH else 0


if __name__ == "__main__":
    sys.exit(main())
