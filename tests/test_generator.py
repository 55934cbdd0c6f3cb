"""`Generator`: every kind of type on a model that rolls dice, then real models of each engine."""

from __future__ import annotations

import dataclasses
import enum
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import pytest

import maskwright
from maskwright import BudgetError, Generator, Grammar, GrammarError, RegexError, SchemaError
from maskwright.generator import Answer, OutputError, Progress
from maskwright.generator.outputs import read_output
from tests.engines.smollm2 import llama, transformers_pair

ROOT = Path(__file__).parents[1]

pydantic = pytest.importorskip("pydantic")
typing_extensions = pytest.importorskip("typing_extensions")  # pydantic wants its TypedDict below 3.12


class Person(pydantic.BaseModel):
    name: str = pydantic.Field(max_length=12, description="First name")
    age: int = pydantic.Field(ge=0, le=120)


@dataclasses.dataclass
class Point:
    x: int
    y: Literal[1, 2]


class Row(typing_extensions.TypedDict):
    ok: bool


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 10


@pytest.fixture(params=["llama.cpp", "transformers"])
def model(request: pytest.FixtureRequest) -> Any:
    return llama() if request.param == "llama.cpp" else transformers_pair()


# ---- types, without a model ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output_type", "text", "value"),
    [
        (Person, '{"name": "Ann", "age": 30}', Person(name="Ann", age=30)),
        (Point, '{"x": 3, "y": 2}', Point(3, 2)),
        (Row, '{"ok": true}', {"ok": True}),
        (list[int], "[1, 2]", [1, 2]),
        (int | None, "null", None),
        (bool, "true", True),
        ({"enum": ["a", 1]}, "1", 1),
        (Color, "blue", Color.BLUE),
        (Level, "10", Level.HIGH),
        (Literal["yes", "no"], "no", "no"),
        (Literal["a", 7], "7", 7),
        (re.compile("a+|b", re.IGNORECASE), "AaA", "AaA"),
        (re.compile(r"(?P<year>\d{4})-\d\d"), "2026-11", "2026-11"),
        (Grammar.from_ebnf('root ::= "x"+'), "xx", "xx"),
    ],
)
def test_types_compile_and_parse(output_type: Any, text: str, value: Any) -> None:
    output = read_output(output_type, {})
    compiler = maskwright.GrammarCompiler(
        maskwright.TokenizerInfo([bytes([byte]) for byte in range(256)] + ["</s>"])
    )
    matcher = maskwright.GrammarMatcher(output.compile(compiler))
    assert matcher.accept_string(text)
    assert matcher.is_completed()
    parsed = output.parse(text)
    assert parsed == value
    assert type(parsed) is type(value)


def test_what_engines_with_requests_of_their_own_are_asked() -> None:
    assert read_output(Row, {}).request()["json"]["required"] == ["ok"]
    assert read_output(Color, {}).request() == {"choice": ["red", "blue"]}
    assert read_output(re.compile("a"), {}).request() == {"regex": "a"}
    assert "a" in read_output(re.compile("a", re.IGNORECASE), {}).request()["grammar"]
    assert "root" in read_output(Grammar.from_ebnf('root ::= "x"'), {}).request()["grammar"]


def test_words_for_the_prompt() -> None:
    assert "First name" in read_output(Person, {}).words
    assert "red, blue" in read_output(Color, {}).words
    assert "a{3}" in read_output(re.compile("a{3}"), {}).words
    assert read_output(Grammar.from_ebnf('root ::= "x"'), {}).words == ""
    assert '"x": integer' in read_output(Point, {}).words
    assert '  "x": integer,' in read_output(Point, {}, "form").words


@pytest.mark.parametrize(
    ("output_type", "error", "words"),
    [
        ("a+", TypeError, "re.compile"),
        (None, TypeError, "no output type"),
        (object(), TypeError, "pydantic"),
        (re.compile(b"a"), TypeError, "bytes"),
        (re.compile("a", re.ASCII), RegexError, "ASCII"),
        (re.compile(r"(a)\1"), RegexError, "back"),
        (Literal["1", 1], GrammarError, "same text"),
        (Literal[""], GrammarError, "none"),
        ({"type": "integer", "minimum": 2, "maximum": 1}, SchemaError, "#"),
    ],
)
def test_types_that_are_refused(output_type: Any, error: type[Exception], words: str) -> None:
    compiler = maskwright.GrammarCompiler(maskwright.TokenizerInfo(["a", "</s>"]))
    with pytest.raises(error, match=words):
        read_output(output_type, {}).compile(compiler)


def test_schema_options_are_for_json() -> None:
    with pytest.raises(TypeError, match="any_order"):
        read_output(Color, {"any_order": True})
    output = read_output(Point, {"any_order": True})
    compiler = maskwright.GrammarCompiler(
        maskwright.TokenizerInfo([bytes([byte]) for byte in range(256)] + ["</s>"])
    )
    assert maskwright.GrammarMatcher(output.compile(compiler)).accept_string('{"y": 1, "x": 2}')


def test_partial_values() -> None:
    partial = read_output(Person, {}).partial
    assert partial("") is None
    assert partial('{"name": "An') == {"name": "An"}
    assert partial('{"name": "Ann", "age": 3') in ({"name": "Ann"}, {"name": "Ann", "age": 3})
    assert read_output(Color, {}).partial("re") is None


def test_no_model() -> None:
    with pytest.raises(TypeError, match="is no model"):
        Generator("gpt", Color)


def test_the_library_does_not_load_it_until_it_is_asked_for() -> None:
    program = (
        "import sys, maskwright; assert 'maskwright.generator' not in sys.modules; maskwright.Generator; "
        "assert not {'torch', 'transformers', 'pydantic', 'llama_cpp', 'vllm'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    with pytest.raises(AttributeError, match="Generatr"):
        maskwright.Generatr  # noqa: B018


# ---- real models ---------------------------------------------------------------------------------


def test_an_object(model: Any) -> None:
    person = Generator(model, Person)("Ann is 30 years old.", max_tokens=80)
    assert isinstance(person, Person)


def test_a_batch_in_order_and_a_chat(model: Any) -> None:
    generate = Generator(model, Color)
    chat = [{"role": "system", "content": "You like red."}, {"role": "user", "content": "Which color?"}]
    one = generate(chat)
    assert isinstance(one, Color)
    answers = generate(["What color is the sky?", "And blood?"])
    assert [type(answer) for answer in answers] == [Color, Color]
    assert answers == [generate("What color is the sky?"), generate("And blood?")]
    assert generate([]) == []


def test_sampling_is_repeatable(model: Any) -> None:
    generate = Generator(model, re.compile("[a-z]{12}"), describe=False)
    first, again, other = (generate("Letters:", temperature=1.5, seed=seed) for seed in (1, 1, 2))
    assert first == again != other


def test_streaming(model: Any) -> None:
    steps: list[Progress[Person]] = list(
        Generator(model, Person).stream("Ann is 30 years old.", max_tokens=80)
    )
    assert len(steps) > 5
    assert all(step.value is None and not step.finished for step in steps[:-1])
    assert "".join(step.delta for step in steps) == steps[-1].text
    assert steps[-1].finished
    assert steps[-1].value == Person.model_validate_json(steps[-1].text)
    assert steps[-1].partial == json.loads(steps[-1].text)
    assert any(step.partial and "age" not in step.partial for step in steps)


def test_closing_a_stream_stops_the_engine(model: Any) -> None:
    generate = Generator(model, re.compile("[a-z ]{300}"))
    steps = generate.stream("Go.", max_tokens=400)
    next(steps)
    steps.close()
    assert Generator(model, Color)("Which color?") in Color


def test_answers_are_whole_within_max_tokens(model: Any) -> None:
    generate = Generator(model, Person)
    needed = generate._compiled.min_tokens
    assert needed is not None
    for more in (0, 2):
        assert isinstance(generate("Ann is 30.", max_tokens=needed + more), Person)
    assert len(generate(["Ann is 30.", "Bo is 4."], max_tokens=needed)) == 2
    *_, last = generate.stream("Ann is 30.", max_tokens=needed)
    assert isinstance(last.value, Person)
    with pytest.raises(BudgetError, match=f"{needed} tokens are needed"):
        generate("Ann is 30.", max_tokens=needed - 1)


def test_a_type_that_refuses_what_its_schema_allows(model: Any) -> None:
    class Picky(pydantic.BaseModel):
        n: Literal[3]

        @pydantic.field_validator("n")
        @classmethod
        def never(cls, n: int) -> int:
            raise ValueError("never good enough")

    with pytest.raises(OutputError, match="never good enough"):
        Generator(model, Picky)("Go.")


def test_an_answer_with_its_report(model: Any) -> None:
    generate = Generator(model, Person, report=True)
    answer = generate("Ann is 30 years old.", max_tokens=80)
    assert isinstance(answer, Answer)
    assert answer.value == Person.model_validate_json(answer.text)
    report = answer.report
    assert report.text == answer.text
    assert report.complete
    assert [(leaf.pointer, leaf.value) for leaf in report.leaves] == [
        ("/name", answer.value.name),
        ("/age", answer.value.age),
    ]
    assert all(0 < leaf.probability <= 1 for leaf in report.leaves)
    assert report["/age"].runner_up is not None
    plain = Generator(model, Person)("Ann is 30 years old.", max_tokens=80)
    assert plain == answer.value


def test_reports_of_a_batch_are_those_of_its_prompts(model: Any) -> None:
    generate = Generator(model, Color, report=True)
    prompts = ["What color is the sky?", "And blood, what color has it?"]
    together, alone = generate(prompts), [generate(prompt) for prompt in prompts]
    for one, other in zip(together, alone, strict=True):
        assert one.value is other.value
        (leaf,) = one.report.leaves
        assert leaf.text == one.value.value
        # Padding and batches change the last digits of logits.
        assert leaf.probability == pytest.approx(other.report.leaves[0].probability, rel=0.05)
        assert sum(member.at_least for member in leaf.members) == pytest.approx(1, abs=0.02)
    assert together[0].report.leaves[0].probability != together[1].report.leaves[0].probability


def test_reports_of_streams_and_samples(model: Any) -> None:
    generate = Generator(model, Person, report=True)
    *_, last = generate.stream("Ann is 30 years old.", max_tokens=80, temperature=1.2, seed=3)
    assert last.value is not None
    assert last.value.report.text == last.text
    assert last.value.value == Person.model_validate_json(last.text)


def test_an_answer_that_the_type_refuses_has_a_report_too(model: Any) -> None:
    class Picky(pydantic.BaseModel):
        n: Literal[3]

        @pydantic.field_validator("n")
        @classmethod
        def never(cls, n: int) -> int:
            raise ValueError("never good enough")

    with pytest.raises(OutputError, match="never good enough") as caught:
        Generator(model, Picky, report=True)("Go.")
    assert caught.value.report is not None
    assert caught.value.report["/n"].value == 3


def test_reports_with_beams_and_their_values_at_temperature_one() -> None:
    prompt = "Ann is 30 years old."
    greedy = Generator(transformers_pair(), Person, report=True)(prompt, max_tokens=60)
    beams = Generator(transformers_pair(), Person, report=True)(prompt, num_beams=3, max_tokens=60)
    assert beams.report.text == beams.text
    if beams.text == greedy.text:
        for leaf in greedy.report.leaves:
            assert beams.report[leaf.pointer].probability == pytest.approx(leaf.probability, rel=0.05)


def test_both_engines_report_the_same() -> None:
    """One model in two engines, with weights that were rounded differently on the way."""
    one, other = (
        Generator(model, Color, report=True)("What color is blood?")
        for model in (llama(), transformers_pair())
    )
    for member in one.report.leaves[0].members:
        (twin,) = [each for each in other.report.leaves[0].members if each.value == member.value]
        assert twin.at_least == pytest.approx(member.at_least, abs=0.1)


def test_engines_that_do_not_show_their_logits_make_no_reports() -> None:
    class Fake:
        llm_engine = None

        def get_tokenizer(self) -> Any:
            return transformers_pair()[1]

    assert Generator(Fake(), Color)
    with pytest.raises(TypeError, match="logits"):
        Generator(Fake(), Color, report=True)


def test_options_of_the_engine() -> None:
    answer = Generator(transformers_pair(), Person)("Ann is 30 years old.", num_beams=2, max_tokens=60)
    assert isinstance(answer, Person)
    assert Generator(llama(), Color)("Which?", top_k=5) in Color


def test_vllm() -> None:
    from tests.engines import vllm_here

    reason = vllm_here.reason_to_skip()
    if reason is not None:
        pytest.skip(reason)
    script = ROOT / "tests" / "engines" / "vllm_generator.py"
    command = [sys.executable, str(script), vllm_here.model_folder()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    assert lines, done.stderr[-6000:]
    result = json.loads(lines[0].removeprefix("RESULT "))
    people = [*result["batch"], result["after a closed stream"]]
    assert all(set(person) == {"name", "age"} for person in people)
    assert result["after a closed stream"] == result["batch"][1]
    assert result["choice"] in ("yes", "no")
    assert re.fullmatch("[a-fA-F]{6}", result["pattern"])
    assert result["stream"][-1][2] == result["batch"][0]
    assert json.loads("".join(delta for delta, _, _ in result["stream"])) == result["batch"][0]
    assert "not complete" in result["cut off"]
