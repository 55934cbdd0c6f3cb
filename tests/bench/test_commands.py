"""The command line, and the parts of the commands that need no engine."""

import json
from pathlib import Path

import pytest

from maskwright.cli.bench import _COMMANDS, _spelled, main
from maskwright.cli.bench.datasets import DataError
from maskwright.cli.bench.engines import NAMES, EngineMissing, create, parse_names
from maskwright.cli.bench.quick import load_items
from maskwright.cli.bench.vocabularies import MissingVocabulary, byte_vocabulary, load

ROOT = Path(__file__).parents[2]


def test_help_and_wrong_usage_give_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    assert "conformance" in capsys.readouterr().out
    assert main(["nonsense"]) == 2
    assert main(["mask"]) == 2  # --data is required
    assert "--data" in capsys.readouterr().err


@pytest.mark.parametrize("name", _COMMANDS)
def test_every_command_says_what_it_takes_and_has_a_section(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name, "--help"]) == 0
    assert _COMMANDS[name] in capsys.readouterr().out
    if name != "conformance":  # a document of its own
        page = (ROOT / "docs" / ("json-schema.md" if name == "fuzz" else "performance.md")).read_text()
        assert page.count(f"<!-- begin {name} -->") == page.count(f"<!-- end {name} -->") == 1


def test_the_command_written_into_documents_has_no_path_of_this_machine() -> None:
    arguments = ["mask", "--data", "/here/data", "--sample=3", "--write", "docs/x.md", "--out=/tmp/x"]
    assert _spelled(arguments) == "maskwright bench mask --data PATH --sample=3"


def test_missing_data_is_an_error_with_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mask", "--data", str(tmp_path), "--out", str(tmp_path / "out")]) == 1
    assert capsys.readouterr().err.startswith("maskwright bench: no maskbench data")


def test_unknown_names_are_refused() -> None:
    with pytest.raises(EngineMissing, match="one of maskwright"):
        create("nonsense")
    with pytest.raises(MissingVocabulary, match="one of llama3"):
        load("nonsense")
    assert parse_names(" maskwright, xgrammar:strict,") == ["maskwright", "xgrammar:strict"]


def test_the_byte_vocabulary_is_the_bytes_and_a_stop_token() -> None:
    vocabulary = byte_vocabulary()
    assert vocabulary.tokens[:256] == [bytes([value]) for value in range(256)]
    assert (vocabulary.size, vocabulary.stop_id, vocabulary.n_words) == (257, 256, 9)
    assert vocabulary.encode("é") == [0xC3, 0xA9]


@pytest.mark.parametrize("folder", ["examples/schemas", "benchmarks/schemas"])
def test_every_schema_for_the_quick_run_has_a_valid_instance(folder: str) -> None:
    jsonschema_rs = pytest.importorskip("jsonschema_rs")
    items = load_items([ROOT / folder], ROOT / "benchmarks/instances")
    assert len(items) == len(list((ROOT / folder).glob("*.json"))) >= 5
    for _, schema, text in items:
        assert jsonschema_rs.is_valid(schema, json.loads(text))
        # The engines with fixed separators take only this spelling.
        assert text == json.dumps(json.loads(text), ensure_ascii=False)


def test_schemas_without_instances_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "lonely.json").write_text("{}")
    with pytest.raises(DataError, match="no schema"):
        load_items([tmp_path], tmp_path / "none")


@pytest.mark.parametrize("name", NAMES)
def test_each_engine_judges_texts_over_single_bytes(name: str) -> None:
    from maskwright.cli.bench.engines import SchemaOptions

    try:
        engine = create(name)
    except EngineMissing as error:
        pytest.skip(str(error))
    vocabulary = byte_vocabulary()
    engine.prepare(vocabulary)
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
        "required": ["name", "age"],
        "additionalProperties": False,
    }
    compiled = engine.compile(schema, SchemaOptions())
    texts = {b'{"name": "Ada", "age": 36}': True, b'{"name": "Ada"}': False, b'{"name": 1, "age": 2}': False}
    assert {text: engine.matches(compiled, text, vocabulary.stop_id) for text in texts} == texts
    stepper = engine.start(compiled)
    stepper.fill()
    assert stepper.allows(ord("{"))
    assert not stepper.allows(ord("["))
    assert not stepper.allows(vocabulary.stop_id)
