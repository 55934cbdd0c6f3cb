"""Stepping an engine: verdicts, the number of timed calls, cold and warm requests."""

from maskwright.cli.bench.engines import SchemaOptions
from maskwright.cli.bench.vocabularies import byte_vocabulary
from maskwright.cli.bench.walk import Instance, harness_overhead_ns, run_pass, walk
from tests.bench.support import EnumEngine

VOCABULARY = byte_vocabulary()
STOP = VOCABULARY.stop_id


def _engine() -> EnumEngine:
    engine = EnumEngine()
    engine.prepare(VOCABULARY)
    return engine


def _instance(text: str, valid: bool) -> Instance:
    return Instance(VOCABULARY.encode(text), valid)


def test_a_whole_match_is_accepted_and_each_token_is_timed_once() -> None:
    engine = _engine()
    result = walk(engine.start([b"yes", b"no"]), _instance("yes", True), STOP)
    assert result.accepted
    assert len(result.fill_ns) == len(result.accept_ns) == 3
    assert min(result.fill_ns + result.accept_ns) >= 0


def test_a_prefix_is_not_accepted_because_it_may_not_stop() -> None:
    result = walk(_engine().start([b"yes"]), _instance("ye", False), STOP)
    assert not result.accepted
    assert len(result.accept_ns) == 2


def test_an_illegal_token_ends_the_walk_at_its_mask() -> None:
    result = walk(_engine().start([b"yes"]), _instance("yxs", False), STOP)
    assert not result.accepted
    assert (len(result.fill_ns), len(result.accept_ns)) == (2, 1)
    assert not result.conflict


def test_a_mask_that_promises_what_accept_refuses_is_a_conflict() -> None:
    stepper = _engine().start([b"yes"])
    stepper.fill = lambda: stepper.words.fill(-1)
    result = walk(stepper, _instance("no", False), STOP)
    assert result.conflict
    assert not result.accepted


def test_a_pass_keeps_the_parts_of_the_time_to_the_first_mask() -> None:
    instances = [_instance("yes", True), _instance("maybe", False)]
    result, compiled = run_pass(_engine(), {"enum": ["yes", "no"]}, instances, SchemaOptions(), STOP)
    assert compiled == [b"yes", b"no"]
    assert [w.accepted for w in result.walks] == [True, False]
    assert result.first_mask_ns == result.walks[0].fill_ns[0]
    assert result.compile_ns > 0


def test_a_schema_without_instances_still_has_a_first_mask() -> None:
    result, _ = run_pass(_engine(), {"enum": ["yes"]}, [], SchemaOptions(), STOP)
    assert result.first_mask_ns > 0
    assert result.walks == []


def test_a_refusal_is_kept_in_the_engines_words() -> None:
    result, compiled = run_pass(_engine(), {"type": "null"}, [], SchemaOptions(), STOP)
    assert compiled is None
    assert result.refused == "unimplemented: ['type']"


def test_the_verdict_on_a_text_needs_only_single_bytes() -> None:
    engine = _engine()
    compiled = engine.compile({"enum": ["é", "yes"]}, SchemaOptions())
    assert [engine.matches(compiled, text, STOP) for text in ("é".encode(), b"yes", b"ye", b"yess")] == [
        True,
        True,
        False,
        False,
    ]


def test_the_harness_measures_itself() -> None:
    overhead = harness_overhead_ns(500)
    assert set(overhead) == {"fill_mean_ns", "fill_p50_ns", "accept_mean_ns", "accept_p50_ns"}
    assert all(value >= 0 for value in overhead.values())
