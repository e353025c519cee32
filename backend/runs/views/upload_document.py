from collections.abc import Sequence
from statistics import median
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone

from cipherspeed.run_document import DocumentRejected, parse_run_document
from cipherspeed.summary import throughput
from cipherspeed.types import Measurement, RunDocument
from cipherspeed.validation import Fault, InvalidDocument, checked_document
from runs.acceptance import accept_run, record_upload
from runs.models import Run
from runs.views.environment_facts import environment_facts
from runs.views.receiving import pack
from runs.views.upload_rows import Row, grouped
from texts.types import Figure

UTF8_BOM = b"\xef\xbb\xbf"
ROWS_SHOWN = 400
OF_SERIES = (
    *("block_size", "operation", "threads", "acceleration", "mac", "compression"),
    *("target_kind", "target_name"),
)


def is_run_document(body: bytes) -> bool:
    """Return whether a text looks like a run document. The document can be invalid."""
    start = body[:1024].removeprefix(UTF8_BOM).lstrip()
    return start.startswith(b"{") and (b"ciphermark/run" in body or b'"measurements"' in body)


class DocumentPreview:
    """Preview an uploaded run document. The class has the same interface as `TextPreview`."""

    fields = 1

    def __init__(self, name: str, number: int, body: bytes, is_ticked: bool) -> None:
        self.name, self.number, self.body, self.is_ticked = name, number, body, is_ticked
        self.take = f"{number}-take"
        self.raw: Any = None
        self.document: RunDocument | None = None
        self.faults = self._parse()
        self.problem = "Invalid run document" if self.faults else ""
        self.packed = "" if self.faults else pack(body)

    def _parse(self) -> Sequence[Fault]:
        most = settings.RUN_DOCUMENT_MAX_BYTES
        if len(self.body) > most:
            return [Fault("", "too_large", f"The run document exceeds {most >> 20} MiB.")]
        try:
            self.raw = checked_document(self.body, timezone.now())
            self.document = parse_run_document(self.raw)
        except InvalidDocument as error:
            return error.faults
        except DocumentRejected as error:
            return [Fault("", "rejected", str(error))]
        return []

    @property
    def rows(self) -> list[Row]:
        measurements = self.document.measurements if self.document else ()
        return [Row(figures) for figures in grouped(map(_median, measurements))][:ROWS_SHOWN]

    @property
    def results(self) -> int:
        measurements = self.document.measurements if self.document else ()
        return sum(len(measurement.samples) for measurement in measurements)

    @property
    def facts(self) -> list[tuple[str, str]]:
        started = str(self.raw.get("started_at") or "undated")
        facts = environment_facts(self.raw["environment"])
        return [("Host", self.raw["host"]["name"]), ("Measured", started), *facts]

    def is_valid(self) -> bool:
        return not self.faults

    @property
    def chosen(self) -> frozenset[str]:
        return frozenset({"document"} if self.is_ticked else ())

    def save(self, person: User) -> UUID:
        accepted = accept_run(self.body, self.raw, source=Run.Source.AGENT)
        if accepted.created:
            record_upload([accepted.run], person)
        return accepted.run.run_id


def _median(measurement: Measurement) -> Figure:
    series = measurement.series
    rate = median(map(throughput, measurement.samples))
    shared: dict[str, Any] = {name: getattr(series, name) for name in OF_SERIES}
    return Figure(0, series.tool, series.cipher, "openssl-speed", bytes_per_second=rate, **shared)
