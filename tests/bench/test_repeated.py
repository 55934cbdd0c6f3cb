"""Cases repeated over engines: every schema is new, every text is valid, and what fails is said."""

import json
from typing import Any

import pytest

from maskwright.cli.bench import strings, tools
from maskwright.cli.bench.repeated import Outcome, median, ratio_header, refusals, with_ratios
from maskwright.cli.bench.toolset import make_tool, tool_calls, tool_schema
from maskwright.cli.bench.walk import PassResult, Walk

_REPETITIONS = 9


def _distinct(schemas: list[Any]) -> int:
    return len({json.dumps(schema, sort_keys=True) for schema in schemas})


@pytest.mark.parametrize("name", strings.CASES)
def test_the_repetitions_of_a_string_are_different_schemas_with_a_valid_text(name: str) -> None:
    jsonschema_rs = pytest.importorskip("jsonschema_rs")
    made = [strings.CASES[name](repetition) for repetition in range(_REPETITIONS)]
    assert _distinct([schema for schema, _ in made]) == _REPETITIONS
    for schema, (pieces,) in made:
        assert pieces[0] == '"'
        validator = jsonschema_rs.validator_for(schema, validate_formats=True)
        assert validator.is_valid(json.loads("".join(pieces)))


def test_the_long_string_is_as_long_as_its_bound() -> None:
    assert strings.LONG["maxLength 4000"]["maxLength"] == 4000
    assert len(strings._WORDS * 60) >= 4000


def test_the_calls_are_valid_and_no_tool_is_a_repeat() -> None:
    jsonschema_rs = pytest.importorskip("jsonschema_rs")
    seen = []
    for series in range(3):
        schema, texts = tools.make_case(64, 20, series)
        assert len(schema["anyOf"]) == 64
        assert len(texts) == 40
        assert texts[:20] == texts[20:]
        validator = jsonschema_rs.validator_for(schema, validate_formats=True)
        assert all(validator.is_valid(json.loads(text)) for (text,) in texts)
        seen += [part["properties"]["name"]["const"] for part in schema["anyOf"]]
        seen += [tuple(part["properties"]["arguments"]["properties"]) for part in schema["anyOf"]]
    names = [one for one in seen if isinstance(one, str)]
    assert len(set(names)) == len(names)
    assert not {key for key in seen if isinstance(key, tuple)} & set(_keys(3))


def _keys(series: int) -> list[tuple[str, ...]]:
    return [tuple(make_tool(number, series)[1]["properties"]) for number in range(64)]


def test_a_wrong_argument_makes_a_call_invalid() -> None:
    jsonschema_rs = pytest.importorskip("jsonschema_rs")
    made = [make_tool(number, 0) for number in range(8)]
    (call,) = tool_calls(made, 1)
    call["arguments"] = {**call["arguments"], "unknown": 1}
    assert not jsonschema_rs.is_valid(tool_schema(made), call)


def test_medians_are_over_the_repetitions_and_missing_where_refused() -> None:
    passes = [PassResult(compile_ns=time, walks=[Walk(True, True, [1], [1])]) for time in (3, 90, 5)]
    assert median(Outcome(passes), lambda one: one.compile_ns) == 5
    assert median(Outcome(passes, passes[1:2]), lambda one: one.compile_ns, first=True) == 90
    refused = Outcome(passes, refused="first line\nunimplemented: x")
    assert median(refused, lambda one: one.compile_ns) is None
    assert refusals({("case", "a"): Outcome(passes), ("case", "b"): refused}) == ["b, case: unimplemented: x"]


def test_ratios_are_the_peers_divided_by_the_first() -> None:
    assert ratio_header(["a", "b", "c"]) == ["a", "b", "c", "b / a", "c / a"]
    assert with_ratios([2.0, 5.0, None]) == ["2.00", "5.00", "-", "2.50", "-"]
    assert with_ratios([None, 5.0]) == ["-", "5.00", "-"]
