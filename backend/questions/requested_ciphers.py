"""Ciphers that are asked for: one that nobody knows is named, not answered with nothing."""

from collections.abc import Iterable

from django.http import QueryDict
from rest_framework.exceptions import ValidationError

from analysis.ciphers.cipher_catalogue import cipher_catalogue
from questions.near_names import LONGEST_NAMED, SURELY_MEANT, alike
from questions.parameters import comparison_query
from results.comparison.ciphers import measured_names
from results.selection import ComparisonQuery


def asked_comparison(params: QueryDict) -> ComparisonQuery:
    """The query that a reader's parameters ask for, its ciphers known ones.

    `ValidationError` as of `comparison_query`, and for a cipher that nobody knows.
    """
    query = comparison_query(params)
    _refuse_unknown(query)
    return query


def _refuse_unknown(query: ComparisonQuery) -> None:
    """`ValidationError` for a cipher that is not in the catalogue and that nobody has measured.

    Needs a statement only where one is not in the catalogue.
    """
    if not query.ciphers:
        return
    catalogue = {one.name for one in cipher_catalogue().ciphers}
    strange = [cipher for cipher in query.ciphers if cipher not in catalogue]
    if not strange:
        return
    measured = measured_names()
    known = {cipher for _, cipher in measured}
    of_tool = {cipher for tool, cipher in measured if tool == query.tool}
    faults = [_sentence(cipher, of_tool or catalogue) for cipher in strange if cipher not in known]
    if faults:
        raise ValidationError({"cipher": faults})


def _sentence(cipher: str, known: Iterable[str]) -> str:
    """Names are compared without what follows "@": aes128-gcm@openssh.com is typed aes128-gcm."""
    plain = {name.partition("@")[0]: name for name in sorted(known)}
    near = [plain[name] for name in alike(cipher.partition("@")[0], plain, SURELY_MEANT)[:1]]
    said = f"No result has the cipher {cipher[:LONGEST_NAMED]!r}"
    return f"{said}; did you mean {near[0]}?" if near else f"{said}."
