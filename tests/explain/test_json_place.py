"""Where in a JSON document a beginning stops."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskwright.explain.json_place import Due, Place, embedded_place, json_place
from maskwright.pointers import pointer_of


@pytest.mark.parametrize(
    ("text", "path", "due"),
    [
        ("", (), Due.VALUE),
        (" \n", (), Due.VALUE),
        ("{", (), Due.KEY),
        ('{"a', (), Due.KEY),
        ('{"a\\', (), Due.KEY),
        ('{"a"', ("a",), Due.COLON),
        ('{"a":', ("a",), Due.VALUE),
        ('{"a": "x', ("a",), Due.VALUE),
        ('{"a": "x\\"', ("a",), Due.VALUE),
        ('{"a": "x"', (), Due.MORE),
        ('{"a": -1.5e', ("a",), Due.VALUE),
        ('{"a": 1 ', (), Due.MORE),
        ('{"a": tr', ("a",), Due.VALUE),
        ('{"a": true', (), Due.MORE),
        ('{"a": 1,', (), Due.KEY),
        ('{"a": [', ("a", 0), Due.VALUE),
        ('{"a": [[], {}, ', ("a", 2), Due.VALUE),
        ('{"a": [1]', (), Due.MORE),
        ('{"a": [{"b": [1, 2', ("a", 0, "b", 1), Due.VALUE),
        ('{"\\u00e9/~\\n": ', ("é/~\n",), Due.VALUE),
        ('{"\\ud800": ', ("\ud800",), Due.VALUE),
        ("{}", (), Due.NOTHING),
        ('"x"', (), Due.NOTHING),
        ("null ", (), Due.NOTHING),
        ("12", (), Due.VALUE),
    ],
)
def test_places(text: str, path: tuple[str | int, ...], due: Due) -> None:
    assert json_place(text.encode()) == Place(path, due)


@pytest.mark.parametrize(
    "text",
    [
        "}",
        "{,",
        "{]",
        "[}",
        "[1,]",
        '{"a":1,}',
        '{"a",',
        '{"a" "b"',
        "[1 2",
        "truth",
        "tru ",
        "{} {",
        "x",
        "[:",
    ],
)
def test_what_is_no_beginning_has_no_place(text: str) -> None:
    assert json_place(text.encode()) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(value=JSON, indent=st.sampled_from([None, 1]), ascii_only=st.booleans())
def test_every_beginning_of_a_document_has_a_place_that_is_there(value, indent, ascii_only) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode()
    for length in range(len(text) + 1):
        place = json_place(text[:length])
        assert place is not None, text[:length]
        found = value
        for part in place.path:
            if found == []:  # an item was still possible where none came
                assert part == 0
                break
            found = found[part]
        if place.due is Due.KEY:
            assert isinstance(found, dict)
        if place.due is Due.MORE:
            assert isinstance(found, (dict, list))
    assert json_place(text + b" ").due is Due.NOTHING  # type: ignore[union-attr]


def test_pointers() -> None:
    assert pointer_of(()) == ""
    assert pointer_of(("a/b~", 0, "")) == "/a~1b~0/0/"


def test_embedded() -> None:
    assert embedded_place(b"no json") is None
    assert embedded_place(b"[see below] {") == Place((), Due.KEY)
    assert embedded_place(b'<t>{"a": {"b": 1}}</t><t>{"c": "{') == Place(("c",), Due.VALUE)
    assert embedded_place(b"{}") is None
    assert embedded_place(b"{ " * 5000) is None  # gives up, soon
