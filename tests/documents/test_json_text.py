"""Strict JSON: what could not be stored, or read twice alike, is refused by name."""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents.json_text import JsonError, _read_strictly, canonical_json, parse_json
from tests.cases import each

text = st.text(st.characters(exclude_characters="\x00", codec="utf-8"))
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | text,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(text, inner, max_size=5),
    max_leaves=20,
)


@each(
    ("body", "said"),
    (
        (b"", "line 1 column 1"),
        (b'{"a": 1', "line 1 column 8"),
        (b'{"a": NaN}', "NaN is not a JSON number"),
        (b"[-Infinity]", "-Infinity is not a JSON number"),
        (b"[1e999]", "1e999 is too large"),
        (b"[" + b"9" * 5000 + b"]", "digits"),
        (b'{"a": 1, "a": 2}', "'a' appears twice"),
        (b'["\\u0000"]', "NUL"),
        (b'["\\ud800"]', "surrogate"),
        (b"\xff\xfe", "byte 0"),
        (b"[" * 100_000, "too deeply"),
        (b"[" * 65 + b"]" * 65, "at most 64"),
    ),
)
def test_what_is_wrong_is_said(body: bytes, said: str) -> None:
    with pytest.raises(JsonError, match=said):
        parse_json(body)


def test_brackets_in_texts_are_no_nesting() -> None:
    assert parse_json(b'["' + b"[" * 100 + b'\\"{"]') == ["[" * 100 + '"{']
    assert parse_json(b"[" * 64 + b"]" * 64)


def test_a_backslash_before_u0000_is_no_nul() -> None:
    assert parse_json(b'["C:\\\\u0000"]') == ["C:\\u0000"]


def test_many_members_one_of_them_twice_are_refused_at_once() -> None:
    members = b",".join(b'"k%d":1' % number for number in range(100_000))
    began = time.process_time()
    with pytest.raises(JsonError, match="'k7' appears twice"):
        parse_json(b"{" + members + b',"k7":2}')
    assert time.process_time() - began < 5


def test_a_byte_order_mark_is_harmless() -> None:
    assert parse_json(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}


@given(json_values)
def test_every_ordinary_value_is_read_back(value: Any) -> None:
    body = json.dumps(value).encode()
    if b"\\u0000" not in body:
        assert parse_json(body) == value


members = st.sampled_from(
    (
        *("a", "b", "\\\\", '\\"', "\\u0041", "\\u0000", "\\u003a", "\\u0022", "\\ud800", "[", "{"),
        *(":", '":', ",", " ", "é", "\x7f"),
    )
)
strings = st.lists(members, max_size=3).map(lambda parts: f'"{"".join(parts)}"')
numbers = st.sampled_from(
    (
        *(
            "0",
            "-0",
            "-0.0",
            "1e5",
            "1E-7",
            "1e16",
            "0.00001",
            "1e999",
            "NaN",
            "18446744073709551615",
        ),
        *("18446744073709551616", "-9223372036854775809", "123456789012345678", "01", "1.", "+1"),
    )
)
texts = st.recursive(
    strings | numbers | st.sampled_from(("null", "true", "tru")),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda parts: f"[{','.join(parts)}]")
        | st.lists(st.tuples(strings, st.sampled_from((":", " :", ": ")), inner), max_size=3).map(
            lambda pairs: f"{{{','.join(''.join(pair) for pair in pairs)}}}"
        )
    ),
    max_leaves=10,
)


def outcome(read: Callable[[bytes], Any], body: bytes) -> str:
    try:
        return repr(read(body))
    except JsonError as error:
        return f"refused: {error}"


@given(texts, st.sampled_from(("", "\ufeff", " ")))
def test_what_is_read_fast_is_what_the_strict_reader_reads(body: str, before: str) -> None:
    raw = (before + body).encode()
    assert outcome(parse_json, raw) == outcome(_read_strictly, raw)


@each("depth", range(62, 68))
@each("opening", ("[", '{"a":', '[{"a":'))
def test_nesting_ends_at_the_same_depth_fast_or_not(depth: int, opening: str) -> None:
    levels = opening.count("[") + opening.count("{")
    closing = opening.replace('"a":', "").translate({ord("["): "]", ord("{"): "}"})[::-1]
    raw = (opening * (depth // levels) + "1" + closing * (depth // levels)).encode()
    assert outcome(parse_json, raw) == outcome(_read_strictly, raw)


def test_canonical_json_is_spelt_as_ever() -> None:
    """Digests of it are stored."""
    value = {"b": [1e-7, 1e16, 0.5, None], "a": "ü"}
    assert canonical_json(value) == '{"a":"ü","b":[1e-07,1e+16,0.5,null]}'.encode()


@given(st.binary(max_size=200))
def test_any_bytes_give_a_value_or_a_named_error(body: bytes) -> None:
    with suppress(JsonError):
        assert canonical_json(parse_json(body))


@given(json_values)
def test_canonical_json_is_one_spelling(value: Any) -> None:
    assert canonical_json(json.loads(canonical_json(value))) == canonical_json(value)
