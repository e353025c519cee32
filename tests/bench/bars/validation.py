"""3: validation of a document of 120 measurements, against a DRF nested serializer; CPU time."""

import json
import time

from documents.validation import validate_run_document
from tests.bench.bars.nested_serializer import RunDocumentSerializer
from tests.bench.bars.upload import sample_body
from tests.bench.clients import PLACE
from tests.bench.figures import Figure, at_most
from tests.bench.fleet.size import Size
from tests.bench.timing import p50_ms

TIMES = 1 / 15
RUN_ID = b"0b8f3c1e-6d0e-4c3f-9c7e-1f2a3b4c5d6e"


def figures(_size: Size) -> list[Figure]:
    """Both get the document as Python values, after the same reading of its JSON."""
    document = json.loads(sample_body().replace(PLACE, RUN_ID))

    def program() -> None:
        if validate_run_document(document):
            raise AssertionError("the program refuses the bench's document")

    def floor() -> None:
        RunDocumentSerializer(data=document).is_valid(raise_exception=True)

    pair = p50_ms(program, floor, clock=time.process_time)
    return [at_most("3 validation, 120 measurements", "ms CPU", pair, TIMES)]
