"""Lists that lost their line breaks: names and rates in strict turn on one line."""

from collections import Counter
from collections.abc import Sequence

from parsers.ssh.lists.list_tokens import Token, is_filler
from parsers.ssh.lists.listed import Listed, ListedRate, ListedTitle
from parsers.ssh.names import CipherName

PAIRS_AMONG_WORDS = 3
"""So many names and rates in strict turn are a list that lost its line breaks."""


def pairs(tokens: Sequence[Token]) -> list[Listed] | None:
    """Names and rates in strict turn on one line, with words at most around them."""
    listed: list[Listed] = []
    words: list[str] = []
    run: list[Token] = []
    among_words = any(_ends_run(token) for token in tokens)
    for token in [*tokens, None]:
        if token is not None and not _ends_run(token):
            run.append(token)
            continue
        rates = _turns(run)
        if len(rates) >= (PAIRS_AMONG_WORDS if among_words else 2):
            if words:
                listed.append(ListedTitle(" ".join(words)))
            words = []
            listed += rates
        else:
            words += [one.text for one in run]
        run = []
        if token is not None:
            words.append(token.text)
    named = Counter(one.cipher for one in listed if isinstance(one, ListedRate))
    if any(count > 1 for count in named.values()):  # two machines side by side
        return [
            one._replace(problem="columns_unclear") if isinstance(one, ListedRate) else one
            for one in listed
        ]
    return listed or None


def _ends_run(token: Token) -> bool:
    return token.kind == "word" and not is_filler(token)


def _turns(run: list[Token]) -> list[ListedRate]:
    """The rates of a run of names and rates in turn; empty if they are not in turn."""
    atoms = _atoms([token for token in run if token.kind in ("cipher", "mac", "number", "unit")])
    if atoms is None:
        return []
    if atoms and isinstance(atoms[0], ListedRate) and isinstance(atoms[-1], ListedRate):
        return []
    names_first = bool(atoms) and isinstance(atoms[0], CipherName)
    ordered = atoms if names_first else list(reversed(atoms))
    rates: list[ListedRate] = []
    name: CipherName | None = None
    for atom in ordered:
        if isinstance(atom, CipherName):
            name = atom
        elif name is None:
            return []
        else:
            rates.append(atom._replace(cipher=name))
            name = None
    return rates if names_first else rates[::-1]


def _atoms(run: list[Token]) -> list[CipherName | ListedRate] | None:
    """Names and rates; None where a number has no unit, or a MAC makes it more than that."""
    atoms: list[CipherName | ListedRate] = []
    number: str | None = None
    for token in run:
        if number is not None and token.kind != "unit":
            return None
        if token.cipher:
            atoms.append(token.cipher)
        elif token.kind == "number":
            number = token.text
        elif token.kind == "unit" and number is not None:
            atoms.append(ListedRate(number, token.unit))
            number = None
        else:
            return None
    return None if number is not None else atoms
