from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, cast

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator

from cipherspeed.environment import os_version
from runs.importing import CIPHER_CHARACTERS, FACTS, FORMATS, MOST_BYTES, UNITS
from runs.views.upload_rows import Row
from texts.documents import Corrections
from texts.types import Hints, Section

FORMAT_LABELS = {
    "openssl-speed": "openssl speed",
    "cipher-list": "list of cipher speeds",
    "dd": "dd",
    "time": "time",
    "sbc-bench": "sbc-bench",
}
UNIT_LABELS = {"MB": "1,000,000 bytes", "MiB": "1,048,576 bytes (MiB)"}
SECTIONS_OFFERED = 30
PLAIN = {"autocomplete": "off", "spellcheck": "false"}


class OptionsForm(forms.Form):
    format = forms.ChoiceField(
        choices=[("", "Detect automatically"), *((name, FORMAT_LABELS[name]) for name in FORMATS)],
        required=False,
        label="Format",
    )
    unit = forms.ChoiceField(
        choices=[("", "Detect automatically"), *((name, UNIT_LABELS[name]) for name in UNITS)],
        required=False,
        label="MB means",
    )
    transferred = forms.IntegerField(
        min_value=1,
        max_value=MOST_BYTES,
        required=False,
        label="Bytes per transfer",
        widget=forms.TextInput({**PLAIN, "inputmode": "numeric", "maxlength": 20}),
    )
    cipher = forms.CharField(
        max_length=CIPHER_CHARACTERS,
        required=False,
        label="Default cipher",
        widget=forms.TextInput(PLAIN),
    )

    def hints(self) -> Hints:
        return Hints(**{name: answer or None for name, answer in self.cleaned_data.items()})


class SectionForm(forms.Form):
    host = forms.CharField(label="Host (required)", required=False)
    cpu = forms.CharField(label="CPU", required=False)
    os = forms.CharField(label="Operating system", required=False)
    openssl = forms.CharField(label="OpenSSL", required=False)
    same_as = forms.ChoiceField(label="Same host as", required=False)

    def __init__(
        self,
        section: Section,
        earlier: Mapping[str, str],
        initial: Mapping[str, str | None],
        **options: Any,
    ) -> None:
        """Create the form for a section of an imported text.

        `earlier`: labels of the earlier sections, by key. The field "Same host as" offers these
        sections.
        `initial`: choices that were stored with the text.
        """
        self.section = section
        self.label = section.label or f"from line {section.line}"
        self.stated = _stated(section)
        self.rows: Sequence[Row] = ()
        self.rest = Row(())
        known = {name: answer for name, answer in initial.items() if answer is not None}
        super().__init__(initial=self.stated | known, **options)
        for name, longest in FACTS.items():
            field = self.fields[name]
            field.widget.attrs |= {**PLAIN, "maxlength": longest}
            field.validators += [_check_printable, MaxLengthValidator(longest)]
        if earlier:
            same_as = cast(forms.ChoiceField, self.fields["same_as"])
            same_as.choices = [("", "–"), *list(earlier.items())[-SECTIONS_OFFERED:]]
        else:
            del self.fields["same_as"]

    def corrections(self) -> Corrections:
        """Return the properties that the user changed. An empty string means unknown."""
        answers = {name: self.cleaned_data[name] for name in FACTS}
        changed = {name: said for name, said in answers.items() if said != self.stated[name]}
        return Corrections(**changed)

    @property
    def method(self) -> str:
        formats = dict.fromkeys(figure.format for figure in self.section.figures)
        return ", ".join(FORMAT_LABELS[name] for name in formats)

    @cached_property
    def assumed(self) -> tuple[str, ...]:
        first, *others = (figure.assumed for figure in self.section.figures)
        shared = set(first).intersection(*others)
        return tuple(words for words in first if words in shared)


def _check_printable(text: str) -> None:
    if not text.isprintable():
        raise ValidationError("Use printable characters only.")


def _stated(section: Section) -> dict[str, str]:
    environment = section.environment
    facts = {
        "host": section.host,
        "cpu": environment.get("cpu", {}).get("model"),
        "os": os_version(environment.get("os", {})),
        "openssl": environment.get("openssl", {}).get("version_text"),
    }
    lines = {name: " ".join((text or "").split()) for name, text in facts.items()}
    printable = {name: "".join(filter(str.isprintable, line)) for name, line in lines.items()}
    return {name: text[: FACTS[name]].strip() for name, text in printable.items()}
