from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime, time
from difflib import get_close_matches
from itertools import islice
from typing import Any, ClassVar, TypeVar, cast

from django import forms
from django.core.exceptions import ValidationError
from django.utils.datastructures import MultiValueDict
from django_filters import Filter, FilterSet
from django_filters.utils import translate_validation
from drf_spectacular.utils import OpenApiParameter

from cipherspeed.cipher_catalogue import cipher_catalogue
from runs.models import Host, Series

MAX_VALUES = 200
MAX_LENGTH = 260
"""Maximum length of a parameter value. The longest values are tags (KEY:VALUE), with a key of up to
50 characters and a value of up to 200 characters.
"""

MOST = 999_999_999
OF_ALL = frozenset({"format"})
"""Names of parameters that the API ignores. Clients of Django REST framework send `format`."""

OF_LISTS = OF_ALL | {"cursor", "page_size"}

NOT_REPEATABLE = "Use this parameter only once."

MOST_NAMED = 20
LONGEST_NAMED = 50
IGNORED_PREFIXES = ("utm_", "find-", "format")
"""Prefixes of parameter names that are never reported as misspelt filters, such as `utm_source`."""

LOOSE_MATCH, CLOSE_MATCH = 0.6, 0.75
"""Minimum similarity of two names, as the ratio of difflib.
Examples: 0.91 for `ciper` and `cipher`, 0.75 for `hots` and `host`.
"""


def fault(sentence: str, code: str = "invalid") -> ValidationError:
    """Return a `ValidationError`. The message `sentence` may contain percent signs."""
    return ValidationError("%(sentence)s", code, {"sentence": sentence})


def alike(name: str, known: Iterable[str], ratio: float = LOOSE_MATCH) -> list[str]:
    """Return up to three names of `known` that are similar to `name`, most similar first."""
    return get_close_matches(name[:LONGEST_NAMED].lower(), sorted(known), n=3, cutoff=ratio)


def none_of(name: str, known: Collection[str], *others: str) -> str:
    """Return the error message for an unknown value.

    The message suggests similar values of `known`, and lists all values of `known` and `others`.
    """
    near = alike(name, known)
    # No suggestion if all values are similar.
    meant = f"did you mean {' or '.join(near)}? Use" if 0 < len(near) < len(known) else "use"
    *first, last = *known, *others
    return f"{name[:LONGEST_NAMED]!r} is not valid; {meant} {', '.join(first)} or {last}."


def unmeasured(tool: str, ciphers: Iterable[str]) -> Iterator[str]:
    """Yield an error message for each cipher that is neither in the catalogue nor in any result.

    Messages suggest a similar cipher, such as aes128-gcm@openssh.com for aes128-gcm.
    """
    catalogue = {cipher.name for cipher in cipher_catalogue().ciphers}
    unknown = set(ciphers) - catalogue
    measured = set(Series.objects.values_list("tool", "cipher").distinct()) if unknown else set()
    of_tool = {cipher for own, cipher in measured if own == tool}
    plain = {name.partition("@")[0]: name for name in sorted(of_tool or catalogue)}
    for cipher in sorted(unknown - {cipher for _, cipher in measured}):
        near = alike(cipher.partition("@")[0], plain, CLOSE_MATCH)[:1]
        meant = f"; did you mean {plain[near[0]]}?" if near else "."
        yield f"Unknown cipher {cipher[:LONGEST_NAMED]!r}{meant}"


class Text(forms.CharField):
    schema: Mapping[str, Any] = {"type": "string"}

    def __init__(self, *, max_length: int = MAX_LENGTH, **more: Any) -> None:
        super().__init__(max_length=max_length, **{"required": False, **more})


class Line(Text):
    def validate(self, value: str) -> None:
        super().validate(value)
        if not value.isprintable():
            raise fault("Use one line of printable characters.")


class Tag(Text):
    def validate(self, value: str) -> None:
        super().validate(value)
        if ":" not in value:
            raise fault(f"{value[:LONGEST_NAMED]!r} is not valid; use KEY:VALUE.")


class Choice(Text):
    def __init__(self, known: Collection[str], **more: Any) -> None:
        super().__init__(**more)
        self.known = tuple(known)
        self.schema = {"type": "string", "enum": list(known)}

    def validate(self, value: str) -> None:
        super().validate(value)
        if value and value not in self.known:
            raise fault(none_of(value, self.known), "invalid_choice")


class Switch(Text):
    schema = {"type": "boolean"}
    values: ClassVar[dict[str, bool]] = {
        **dict.fromkeys(("1", "true", "yes"), True),
        **dict.fromkeys(("0", "false", "no"), False),
    }

    def validate(self, value: str) -> None:
        super().validate(value)
        if value and value.lower() not in self.values:
            raise fault(f"{value[:LONGEST_NAMED]!r} is not valid; use 0 or 1.")

    def clean(self, value: str) -> bool | None:
        return self.values.get(super().clean(value).lower())


class Number(forms.IntegerField):
    def __init__(self, *, max_value: int = MOST, **more: Any) -> None:
        super().__init__(min_value=1, max_value=max_value, **{"required": False, **more})
        self.schema = {"type": "integer", "minimum": 1, "maximum": max_value}


class RunId(forms.UUIDField):
    schema: ClassVar = {"type": "string", "format": "uuid"}


class Moment(forms.DateTimeField):
    """Parse a date and time, by default in UTC. A date without a time gets the time `at`."""

    schema: ClassVar = {
        "anyOf": [{"type": "string", "format": form} for form in ("date", "date-time")]
    }
    default_error_messages: ClassVar = {
        "invalid": "Enter a date (2026-11-21) or a date and time (2026-11-21T14:30:00Z)."
    }

    def __init__(self, at: time = time.min, **more: Any) -> None:
        super().__init__(input_formats=(), **{"required": False, **more})
        self.at = at

    def to_python(self, value: Any) -> datetime | None:
        moment = super().to_python(value)
        if moment is None:
            return None
        if not any(mark in value.strip() for mark in "T "):
            moment = datetime.combine(moment, self.at, UTC)
        try:
            # PostgreSQL accepts offsets up to 16 hours.
            return moment.astimezone(UTC)
        except OverflowError:
            raise ValidationError(self.error_messages["invalid"], "invalid") from None


class Values(forms.Field):
    """Parse a repeatable URL parameter into a tuple of values.

    `item`: form field that parses each value. `one`: allow only one value.
    """

    widget = forms.MultipleHiddenInput

    def __init__(self, item: Any = None, *, one: bool = False, **more: Any) -> None:
        super().__init__(**{"required": False, **more})
        self.item, self.most = item or Text(), 1 if one else MAX_VALUES
        schema = self.item.schema
        self.schema = schema if one else {"type": "array", "items": schema}

    def clean(self, value: list[str] | None) -> tuple[Any, ...]:
        given = dict.fromkeys(value or ())
        self.validate(value)
        if len(given) > self.most:
            raise fault(NOT_REPEATABLE if self.most == 1 else f"Use at most {MAX_VALUES} values.")
        return tuple(filter(None, map(self.item.clean, given)))


class Hosts(Values):
    """Convert keys or numbers of hosts to the current keys of the hosts.

    The key of a merged host becomes the key of the host that contains the merged runs.
    """

    def clean(self, value: list[str] | None) -> tuple[str, ...]:
        keys = super().clean(value)
        return Host.objects.present_keys(keys) if keys else ()


class ParameterForm(forms.Form):
    """Validate URL parameters. Treat an empty parameter as absent.

    `besides`: allowed parameters that have no form field. All other parameters without a form field
    are errors, so that a misspelt filter is reported. None: ignore parameters without a form field.
    """

    besides: Collection[str] | None = None
    data: MultiValueDict[str, str]

    def __init__(self, params: MultiValueDict[str, str] | None = None, **more: Any) -> None:
        self.besides = more.pop("besides", self.besides)
        lists = (params or MultiValueDict()).lists()
        filled = {name: [value for value in values if value] for name, values in lists}
        super().__init__(
            MultiValueDict({name: values for name, values in filled.items() if values}), **more
        )

    @property
    def given(self) -> dict[str, Any]:
        nothing = (None, "", ())
        return {name: value for name, value in self.cleaned_data.items() if value not in nothing}

    def faults(self, besides: Collection[str] = ()) -> list[tuple[str, str]]:
        return [
            (name, " ".join(map(str, sentences)))
            for name, sentences in self.errors.items()
            if name not in besides
        ]

    def full_clean(self) -> None:
        super().full_clean()
        if self.besides is not None:
            unknown = set(self.data) - set(self.fields) - set(self.besides)
            for name in islice(sorted(unknown), MOST_NAMED):
                sentence = unknown_parameter(name, self.fields)
                self.errors[name[:LONGEST_NAMED]] = self.error_class(
                    [fault(sentence, "unknown_parameter")]
                )

    def clean(self) -> None:
        for name, field in self.fields.items():
            if not isinstance(field, Values) and len(self.data.getlist(name)) > 1:
                self.add_error(name, fault(NOT_REPEATABLE))
        since, until = (self.cleaned_data.get(name) for name in ("since", "until"))
        if since and until and since > until:
            self.add_error("until", fault("This date is before since; enter a later date."))


def unknown_parameter(name: str, known: Collection[str]) -> str:
    sentence = f"Unknown parameter {name[:LONGEST_NAMED]!r}"
    if near := alike(name, known):
        return f"{sentence}; did you mean {' or '.join(near)}?"
    return f"{sentence}; valid parameters: {', '.join(sorted(known))}." if known else f"{sentence}."


def misspelt(params: MultiValueDict[str, str], known: Collection[str]) -> dict[str, str]:
    """Return the probable name of each misspelt parameter, such as `{"hots": "host"}`."""
    names = (
        name
        for name in params
        if name not in known
        and any(params.getlist(name))
        and len(name) <= LONGEST_NAMED
        and not name.startswith(IGNORED_PREFIXES)
    )
    meant = {name: alike(name, known, CLOSE_MATCH) for name in islice(names, MOST_NAMED)}
    return {name: near[0] for name, near in meant.items() if near}


class ParameterFilterSet(FilterSet):
    """Reject unknown parameters in API requests, and ignore unknown parameters on pages.

    Views of the API pass a `request`. Views of pages pass no `request`.
    """

    class Meta:
        form = ParameterForm

    def get_form_class(self) -> type[ParameterForm]:
        form = cast(type[ParameterForm], super().get_form_class())
        form.besides = OF_LISTS if self.request is not None else None
        return form

    @property
    def given(self) -> dict[str, Any]:
        return cast(ParameterForm, self.form).given

    def faults(self) -> list[tuple[str, str]]:
        return cast(ParameterForm, self.form).faults()


class ValuesFilter(Filter):
    field_class = Values

    def filter(self, rows: Any, values: tuple[Any, ...]) -> Any:
        return rows.filter(**{f"{self.field_name}__in": values}) if values else rows


class HostsFilter(ValuesFilter):
    field_class = Hosts


class MomentFilter(Filter):
    field_class = Moment


class TextFilter(Filter):
    field_class = Text


class ChoiceFilter(Filter):
    field_class = Choice


Checked = TypeVar("Checked", bound=ParameterForm | FilterSet)


def checked(form: Checked) -> Checked:
    if form.errors:
        raise translate_validation(form.errors)  # type: ignore[arg-type,misc]  # wrong stubs
    return form


def described(form: forms.Form) -> list[OpenApiParameter]:
    return [
        OpenApiParameter(
            name, field.schema, required=field.required, description=str(field.help_text)
        )
        for name, field in cast(dict[str, Any], form.fields).items()
    ]
