"""The short forms of `make fuzz`."""

from collections.abc import Iterator

import pytest

from runs.tokens import create_token
from tests.fuzz.documents import fuzz, process_at_once
from tests.fuzz.mutations import cases


@pytest.fixture
def processed_at_once() -> Iterator[None]:
    """Uploads are processed within their request, where a failure is one of the request."""
    process_at_once()
    yield
    process_at_once(False)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("processed_at_once")
def test_mutated_documents_are_taken_whole_or_refused_by_name() -> None:
    report = fuzz(cases(300, seed=2), create_token("fuzz", "upload"))
    assert report.findings == []
    assert report.ready
    assert report.rejected
    assert report.answers[400]
    assert report.answers[413]
