"""What an upload form says: texts, how to read them, and what the reader corrected."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from django import forms
from django.http import HttpRequest, QueryDict

from ingest.arrival.importing import CIPHER_CHARACTERS, FACTS, FORMATS, MOST_BYTES, UNITS
from pages.upload.receiving import FORM_BYTES, DamagedPacking, FormRefused, unpack
from parsers.read_text import HowToRead, Unit
from parsers.received_text import MAX_BYTES
from parsers.run_documents import Corrections
from parsers.types import Format

SECTIONS_SHOWN = 20
"""Runs of one text that are shown, and can be corrected one by one."""

NAME_LENGTH = 200

FORMAT_LABELS = {
    "openssl-speed": "openssl speed",
    "cipher-list": "List of ciphers and rates",
    "dd": "dd",
    "time": "time",
    "sbc-bench": "sbc-bench report",
}

UNIT_LABELS = {"MB": "1 000 000 bytes", "MiB": "1 048 576 bytes (MiB)"}

Answers = Mapping[str, str]
"""What stands in the four fields of one run: host, cpu, os, openssl."""


class HowForm(forms.Form):
    """What a text may not say itself."""

    format = forms.ChoiceField(
        choices=[("", "Auto-detect"), *((name, FORMAT_LABELS[name]) for name in FORMATS)],
        required=False,
        label="Format",
    )
    unit = forms.ChoiceField(
        choices=[("", "As the text suggests"), *((name, UNIT_LABELS[name]) for name in UNITS)],
        required=False,
        label="MB means",
    )
    bytes = forms.IntegerField(
        min_value=1, max_value=MOST_BYTES, required=False, label="Bytes of each transfer"
    )
    cipher = forms.CharField(
        max_length=CIPHER_CHARACTERS, required=False, label="Cipher, where none is named"
    )

    def how(self) -> HowToRead:
        """The answers; `FormRefused` names a field that holds something else."""
        if not self.is_valid():
            name, faults = next(iter(self.errors.items()))
            raise FormRefused(f"{self.fields[name].label}: {faults[0]}")
        said = self.cleaned_data
        return HowToRead(
            cast(Format, said["format"]) if said["format"] else None,
            cast(Unit, said["unit"]) if said["unit"] else None,
            said["bytes"],
            said["cipher"] or None,
        )


@dataclass(frozen=True)
class Draft:
    """One text as it came; `body` is cut where `size` says that there was more."""

    name: str
    body: bytes
    size: int
    how: HowToRead
    answers: tuple[Answers, ...] = ()

    @property
    def fault(self) -> str:
        """Why the text cannot be read at all; "" when it can be tried."""
        if self.size > MAX_BYTES:
            return f"This has {self.size / 2**20:.1f} MiB; {MAX_BYTES >> 20} are read at most."
        if len(self.body) < self.size:
            return (
                f"This was not read: one form takes {FORM_BYTES >> 20} MiB of files. "
                "Send it again, with fewer beside it."
            )
        return "" if self.body.strip() else "There is nothing in it."


def drafts(request: HttpRequest) -> list[Draft]:
    """Every text of a form, the pasted one first."""
    how = HowForm(request.POST).how()
    found = [
        Draft(file.name or "", file.read(), file.size or 0, how)
        for file in request.FILES.getlist("files")
    ]
    pasted = _pasted(request)
    if pasted.strip():
        found.insert(0, Draft("", pasted, len(pasted), how))
    return found


def _pasted(request: HttpRequest) -> bytes:
    """What stood in the text area; a script sends it as a file, which may be larger."""
    file = request.FILES.get("text")
    body: bytes = file.read() if file else request.POST.get("text", "").encode()
    return body


def draft_again(request: HttpRequest) -> Draft | None:
    """The text that a card carries, with what its fields say; None where there is no card."""
    file = request.FILES.get("packed")
    packed = file.read() if file else request.POST.get("packed")
    if packed is None:
        return None
    try:
        body = unpack(packed)
    except DamagedPacking:
        raise FormRefused("The text arrived damaged. Choose the file again.") from None
    name = request.POST.get("name", "")[:NAME_LENGTH]
    how = HowForm(request.POST).how()
    return Draft(name, body, len(body), how, _answers(request.POST))


def _answers(fields: QueryDict) -> tuple[Answers, ...]:
    found: list[Answers] = []
    while len(found) < SECTIONS_SHOWN and f"host-{len(found)}" in fields:
        number = len(found)
        found.append({fact: plain(fields.get(f"{fact}-{number}", "")) for fact in FACTS})
    return tuple(found)


def plain(text: str) -> str:
    """A text as a field of one line holds it; what cannot be printed stays, to be refused."""
    return " ".join(text.split())


NAMELESS = (
    "Name the machine that was measured: "
    "its results are stored, found and compared under that name."
)


def answer_faults(answer: Answers, stated: Answers, saving: bool) -> dict[str, str]:
    """What is wrong in the fields of one run, by field in their order.

    When `saving` the machine needs a name: from the field, or else from the text.
    """
    faults = {}
    for fact, limit in FACTS.items():
        changed = answer[fact] != stated[fact]
        if changed and (len(answer[fact]) > limit or not answer[fact].isprintable()):
            faults[fact] = f"At most {limit} printable characters."
        elif saving and fact == "host" and not (answer[fact] or stated[fact]):
            faults[fact] = NAMELESS
    return faults


def corrections(stated: Sequence[Answers], answers: Sequence[Answers]) -> tuple[Corrections, ...]:
    """What the reader changed, run by run; nothing for a text that was left as it is.

    Runs that were not shown get the name that all shown ones without one were given, if it is the
    same. The last correction counts for all that follow (`run_documents`), so that equal ones at
    the end are one: the same answers through the API are then the same import.
    """
    made = [_correction(*pair) for pair in zip(stated, answers, strict=False)]
    given = {pair[1]["host"] for pair in zip(stated, answers, strict=False) if not pair[0]["host"]}
    name = given.pop() or None if len(given) == 1 else None
    made += [Corrections(None if one["host"] else name) for one in stated[len(made) :]]
    while len(made) > 1 and made[-1] == made[-2]:
        made.pop()
    return () if made == [Corrections()] else tuple(made)


def _correction(stated: Answers, answer: Answers) -> Corrections:
    """An emptied field means "not known"; but every machine has some name."""
    changed = {fact: answer[fact] for fact in FACTS if answer[fact] != stated[fact]}
    if not changed.get("host"):
        changed.pop("host", None)
    return Corrections(**changed)
