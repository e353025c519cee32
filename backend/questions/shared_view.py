"""The query string of a view that is shared: checked as the view's own address is."""

from django.http import QueryDict
from rest_framework.exceptions import ValidationError

from questions.known_parameters import misspelt, names_of
from questions.requested_ciphers import asked_comparison
from questions.schema import COMPARISON_PARAMETERS
from store.reference_profiles import UnknownProfile, usable_profile

MOST_PARAMETERS = 500


def checked_view(query: str) -> str:
    """The query string of a comparison view, as it is stored; `ValidationError` if it is none."""
    query = query.removeprefix("?")
    if query.count("&") >= MOST_PARAMETERS:
        raise ValidationError(f"A view has fewer than {MOST_PARAMETERS} parameters.")
    try:
        params = QueryDict(query)
        _refuse_misspelt(params)
        usable_profile(asked_comparison(params).profile)
    except ValidationError as error:
        detail = error.detail if isinstance(error.detail, dict) else {"query": error.detail}
        said = [f"{name}: {' '.join(_texts(texts))}" for name, texts in detail.items()]
        raise ValidationError(said) from None
    except UnknownProfile as error:
        raise ValidationError(error.sentence) from None
    return query


def _refuse_misspelt(params: QueryDict) -> None:
    """What else the compare page and mails put into its address is let through."""
    meant = misspelt(params, names_of(COMPARISON_PARAMETERS))
    if meant:
        raise ValidationError({name: f"did you mean {known}?" for name, known in meant.items()})


def _texts(said: object) -> list[str]:
    return [str(one) for one in said] if isinstance(said, list) else [str(said)]
