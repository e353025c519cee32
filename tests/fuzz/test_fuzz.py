"""The short forms of `make fuzz`."""

import pytest

from access.tokens import create_token
from tests.fuzz.documents import fuzz, processed_at_once
from tests.fuzz.mutations import cases


@pytest.mark.django_db(transaction=True)
def test_mutated_documents_are_taken_whole_or_refused_by_name() -> None:
    with processed_at_once():
        report = fuzz(cases(300, seed=2), create_token("fuzz", "upload"))
    assert report.findings == []
    assert report.ready
    assert report.rejected
    assert report.answers[400]
    assert report.answers[413]
