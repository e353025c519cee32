import json
import time
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cipherspeed.json_text import JsonError, canonical_json, parse_json
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
        (b"", "line 1, column 1: value expected"),
        (b'{"a": 1', "line 1, column 8: ',' delimiter expected"),
        (b'{"a": NaN}', "NaN is not a JSON number"),
        (b"[-Infinity]", "-Infinity is not a JSON number"),
        (b'{"a": [0, 1e999]}', r"at a\.1: the number 1e999... is too large"),
        (b'{"a": {"b": 1' + b"0" * 309 + b"}}", r"at a\.b: .* too large"),
        (b"[" + b"9" * 5000 + b"]", "too large"),
        (b'[{"a": 1, "a": 2}]', r"JSON at 0: duplicate member 'a'"),
        (b'["\\u0000"]', "at 0: NUL"),
        (b'{"\\u0000": 1}', "NUL"),
        (b'["\\ud800"]', "surrogate"),
        (b"\xff\xfe", "byte 0"),
        (b"[" * 100_000, "more than 64"),
        (b"[" * 65 + b"]" * 65, "more than 64"),
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
    with pytest.raises(JsonError, match="duplicate member 'k7'"):
        parse_json(b"{" + members + b',"k7":2}')
    assert time.process_time() - began < 5


def test_a_byte_order_mark_is_harmless() -> None:
    assert parse_json(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}


@given(json_values)
def test_every_ordinary_value_is_read_back(value: Any) -> None:
    body = json.dumps(value).encode()
    if b"\\u0000" not in body:
        assert parse_json(body) == value


def test_canonical_json_is_spelt_as_ever() -> None:
    # The database contains digests of canonical JSON.
    value = {"b": [1e-7, 1e16, 0.5, None], "a": "ü"}
    assert canonical_json(value) == '{"a":"ü","b":[1e-07,1e+16,0.5,null]}'.encode()


@given(st.binary(max_size=200))
def test_any_bytes_give_a_value_or_a_named_error(body: bytes) -> None:
    with suppress(JsonError):
        assert canonical_json(parse_json(body))


@given(json_values)
def test_canonical_json_is_one_spelling(value: Any) -> None:
    assert canonical_json(json.loads(canonical_json(value))) == canonical_json(value)
