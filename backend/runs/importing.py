import hashlib
import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from threading import Lock
from typing import Any, get_args
from uuid import NAMESPACE_URL, UUID, uuid5

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from accounts.models import ApiToken
from accounts.tokens import check_host
from cipherspeed.json_text import canonical_json
from runs.acceptance import RunConflict, accept_run, record_upload
from runs.models import ImportedText, Run
from runs.received import received_text
from texts.documents import Corrections, Documents, Selection, run_documents
from texts.read import read_text
from texts.types import PARSER_VERSION, Format, Hints, Reading, Remark

logger = logging.getLogger(__name__)

FORMATS: tuple[str, ...] = get_args(Format)
UNITS = ("MB", "MiB")
MOST_BYTES = 2**60
CIPHER_CHARACTERS = 100
FACTS = {"host": 160, "cpu": 200, "os": 200, "openssl": 200}
"""Maximum number of characters of each property that users can correct."""
# Parsing holds the GIL: two texts at once would delay all requests.
_one_at_a_time = Lock()
NAMESPACE = uuid5(NAMESPACE_URL, "urn:ciphermark:import")


class NoFigures(ValueError):
    pass


class RunTaken(Exception):
    def __init__(self, run_id: UUID) -> None:
        super().__init__(f"Another upload has already stored run {run_id}.")
        self.run_id = run_id


@dataclass(frozen=True)
class ImportRequest:
    """Store an uploaded text and the choices of the user.

    `corrections`: by section key; the key "" applies to all sections. `joined`: key of an
    earlier section with the same host, by section key.
    """

    body: bytes
    hints: Hints = field(default_factory=Hints)
    selection: Selection = "certain"
    corrections: Mapping[str, Corrections] = field(default_factory=dict)
    joined: Mapping[str, str] = field(default_factory=dict)

    @property
    def asked(self) -> dict[str, Any]:
        """Return the choices of the user as JSON, without the text, for `ImportedText.asked`."""
        said = {key: words for key, words in self.corrections.items() if words != Corrections()}
        return {
            "hints": asdict(self.hints),
            "take": self.selection if isinstance(self.selection, str) else sorted(self.selection),
            "corrections": {key: asdict(words) for key, words in said.items()},
            "joined": dict(self.joined),
        }

    @property
    def import_id(self) -> UUID:
        """Return an ID for the text and the choices. Equal texts and choices have the same ID."""
        asked = hashlib.sha256(canonical_json(self.asked)).hexdigest()
        return uuid5(NAMESPACE, f"{hashlib.sha256(self.body).hexdigest()} {asked}")


@dataclass(frozen=True)
class Understood:
    text: str
    reading: Reading
    made: Documents
    remarks: tuple[Remark, ...]
    """Warnings from decoding, parsing and building documents."""


@dataclass(frozen=True)
class Imported:
    """Store the result of an import. `created`: False if the text was already imported."""

    import_id: UUID
    runs: tuple[Run, ...]
    understood: Understood
    created: bool


def understand(request: ImportRequest, now: datetime | None = None) -> Understood:
    """Parse a text without storing any results. Raise `NotAText` for binary data."""
    text, encoding = received_text(request.body)
    with _one_at_a_time:
        reading = read_text(text, request.hints)
    made = run_documents(
        reading,
        import_id=request.import_id,
        now=(now or timezone.now()).strftime("%Y-%m-%dT%H:%M:%SZ"),
        selection=request.selection,
        corrections=request.corrections,
        joined=request.joined,
    )
    for remark in reading.remarks:
        if remark.code == "parser_failed":
            logger.error("Text %s, line %d: %s", request.import_id, remark.line, remark.detail)
    remarks = (*reading.remarks, *made.remarks)
    if encoding == "latin-1":
        latin = "The text is not UTF-8 and was read as Latin-1."
        remarks = (Remark(1, "encoding", latin), *remarks)
    return Understood(text, reading, made, remarks)


def store_import(
    request: ImportRequest, *, token: ApiToken | None = None, person: User | None = None
) -> Imported:
    """Store a text, and the runs that the text contains, in one transaction.

    A text can be imported again after all runs of the text are deleted. Raise `NoFigures`,
    `NotAText` or `RunTaken`. Raise `OtherHost` if the token is for another host.
    """
    now = timezone.now()
    understood = understand(request, now)
    documents = understood.made.documents
    if not documents:
        raise NoFigures(_why_nothing(understood.reading, request.selection))
    if token and token.host_name:
        for document in documents:
            check_host(token, document["host"])
    texts = ImportedText.objects.select_for_update(of=("self",))
    given = {"body": request.body, "asked": request.asked, "token": token, "person": person}
    read: dict[str, Any] = {
        "sections": list(understood.made.keys),
        "parser_version": PARSER_VERSION,
    }
    read["format"] = understood.reading.format or ""
    with transaction.atomic():
        stored, is_new = texts.get_or_create(
            import_id=request.import_id, defaults={**given, **read, "received_at": now}
        )
        created = is_new or not stored.runs.exists()
        if created:
            texts.filter(pk=stored.pk).update(**read)
            for document in documents:
                _accept(document, stored)
        runs = tuple(stored.runs.select_related("document").order_by("id"))
        if created and person:
            record_upload(runs, person)
    return Imported(request.import_id, runs, understood, created)


def stored_request(import_id: UUID) -> ImportRequest | None:
    stored = ImportedText.objects.filter(import_id=import_id).first()
    if stored is None:
        return None
    body, asked = bytes(stored.body), stored.asked
    taken = asked["take"]
    selection: Selection = frozenset(taken) if isinstance(taken, list) else taken
    corrections = {key: Corrections(**values) for key, values in asked["corrections"].items()}
    return ImportRequest(body, Hints(**asked["hints"]), selection, corrections, asked["joined"])


def _why_nothing(reading: Reading, selection: Selection) -> str:
    count = sum(1 for _ in reading.figures())
    if count and isinstance(selection, frozenset):
        return "Select at least one result."
    if count:
        results = "1 uncertain result was" if count == 1 else f"{count:,} uncertain results were"
        return f"{results} skipped. Send accept=all to import them."
    nearest = (f"Line {remark.line}: {remark.detail}" for remark in reading.remarks[:3])
    return " ".join(("No cipher results found.", *nearest))


def _accept(document: Mapping[str, Any], stored: ImportedText) -> None:
    body = json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False).encode()
    origin: dict[str, Any] = {
        "source": Run.Source.IMPORT,
        "token": stored.token,
        "imported_text": stored,
    }
    try:
        is_new = accept_run(body, document, **origin).created
    except RunConflict:
        is_new = False
    if not is_new:
        raise RunTaken(UUID(document["run_id"]))
