"""Random schemas: they are schemas, what is judged differently is found and made small, and nothing is."""

import random
import re
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from maskwright.cli.bench import main
from maskwright.cli.bench.fuzz import Fuzzer, shrunk
from maskwright.cli.bench.random_schemas import DRAFTS, SchemaMaker, mutated, random_value

jsonschema_rs = pytest.importorskip("jsonschema_rs")


@pytest.mark.parametrize("draft", DRAFTS)
def test_random_schemas_are_schemas_of_their_draft(draft: str) -> None:
    seen: Counter[str] = Counter()
    for seed in range(150):
        schema = SchemaMaker(random.Random(seed), draft).schema()
        assert jsonschema_rs.meta.is_valid(schema)
        seen.update(re.findall(r"'(\$?\w+)':", repr(schema)))
    assert {"items", "required", "pattern", "oneOf", "not", "$ref", "uniqueItems"} <= seen.keys()
    assert ("dependentSchemas" in seen) is (draft.startswith("20"))


def test_values_change_in_one_place() -> None:
    rng = random.Random(1)
    for _ in range(200):
        value = random_value(rng)
        before = repr(value)
        mutated(rng, value)
        assert repr(value) == before  # a copy is changed


def test_no_difference_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", "--pairs", "400", "--seed", "5"]) == 0
    last = capsys.readouterr().out.strip().splitlines()[-1]
    assert re.fullmatch(
        r"seed 5: \d+ schemas \(.*\), 4\d\d pairs \(.*\), \d+ valid texts left out as documented, 0 differences, \d+ s",
        last,
    )


def test_a_wrong_verdict_is_found_and_made_small() -> None:
    """The judge here knows nothing of `maxLength`."""

    def judge(schema):
        lenient = {key: value for key, value in schema.items() if key != "maxLength"}
        return jsonschema_rs.validator_for(lenient)

    schema = {
        "$schema": DRAFTS["2020-12"][0],
        "title": "x",
        "type": ["string", "null"],
        "minLength": 1,
        "maxLength": 2,
        "allOf": [{"type": "string"}],
    }
    fuzzer = Fuzzer(judge, Counter())
    ours = fuzzer.compiled(schema, {})
    assert fuzzer.compare(schema, judge(schema), ours, '"ab"') is None
    found = fuzzer.compare(schema, judge(schema), ours, '"abc"')
    assert found == (
        '"abc" is valid, but not taken: '
        '{"$schema": "https://json-schema.org/draft/2020-12/schema", "maxLength": 2}'
    )


def test_a_dead_end_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    fuzzer = Fuzzer(jsonschema_rs.validator_for, Counter())
    monkeypatch.setattr(fuzzer, "legal", lambda matcher: np.array([], np.intp))
    found = [text for seed in range(5) for text in fuzzer.one_schema(random.Random(seed))]
    assert any("dead end after b''" in text for text in found)


def test_only_unique_containers_may_be_left_out() -> None:
    refusing = SimpleNamespace(is_valid=lambda value: True)
    fuzzer = Fuzzer(lambda schema: refusing, Counter())
    never = fuzzer.compiled({"uniqueItems": True, "not": {}}, {})
    assert fuzzer.compare({"uniqueItems": True}, refusing, never, '[{"b": 1, "a": 2}]') is None
    assert fuzzer.compare({"uniqueItems": True}, refusing, never, "[1, 2]") is not None
    assert fuzzer.compare({"uniqueItems": False}, refusing, never, '[{"b": 1, "a": 2}]') is not None
    assert fuzzer.counts["left out"] == 1


def test_shrinking_ends_where_nothing_more_can_go() -> None:
    def keeps(value):
        return "x" in repr(value)

    assert shrunk({"a": {"b": [1, {"x": 2}]}, "c": 3}, keeps) == {"x": 2}
