import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any
from uuid import uuid4

import pytest

from runs import tasks
from tests.conftest import ApiClient, StoreRun, accepted
from tests.sample_documents import run_document, ssh_measurement

BACKEND = Path(__file__).parent.parent / "backend"


def files_of(action: Callable[[Any], object], prepare: Callable[[], Any]) -> list[str]:
    files: set[str] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        files.add(frame.f_code.co_filename)

    action(prepare())  # import modules and fill caches
    prepared = prepare()
    sys.setprofile(note)
    try:
        action(prepared)
    finally:
        sys.setprofile(None)
    return sorted(
        str(Path(name).relative_to(BACKEND)) for name in files if name.startswith(str(BACKEND))
    )


def new_document() -> dict[str, Any]:
    cipher, rates = "aes128-gcm@openssh.com", (9e8, 1e8)
    modes = ("default", "masked")
    measured = (
        ssh_measurement(cipher, rate, acceleration=mode)
        for rate, mode in zip(rates, modes, strict=True)
    )
    return run_document(*measured, run_id=str(uuid4()))


def test_an_upload(uploader: ApiClient) -> None:
    files = files_of(uploader.upload, new_document)
    assert len(files) <= 8, "\n".join(files)


def test_processing(db: None) -> None:
    files = files_of(lambda run: tasks.process_run(run.pk), lambda: accepted(new_document()))
    assert len(files) <= 12, "\n".join(files)


WAYS = {
    "comparison/": 12,
    "exports/comparison.csv": 14,
    "exports/measurements.csv": 10,
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("way", WAYS)
def test_an_answer(reader: ApiClient, store_run: StoreRun, way: str) -> None:
    store_run(new_document())
    address = f"/api/v1/{way}?tool=ssh"
    files = files_of(lambda _: b"".join(reader.get(address)), lambda: None)
    assert len(files) <= WAYS[way], "\n".join(files)
