"""The search for the largest number of sequences, the simulation, and the requests that it is fed."""

import itertools
import json
from pathlib import Path

import pytest

from maskwright.cli.bench.capacity import Simulation, largest
from maskwright.cli.bench.variants import Request, endless, load_requests, variant
from maskwright.cli.bench.vocabularies import byte_vocabulary

ROOT = Path(__file__).parents[2]


def test_sizes_are_doubled_until_one_is_too_slow_then_halved() -> None:
    asked = []

    def measure(n: int) -> dict[str, float]:
        asked.append(n)
        return {"p99": n / 100}

    curve = largest(measure, 10.0, first=100, most=10_000)
    assert asked == [100, 200, 400, 800, 1600, 1200, 1000]
    assert list(curve) == sorted(asked)
    assert max(n for n, figures in curve.items() if figures["p99"] <= 10) == 1000


def test_the_search_ends_at_the_largest_size_and_at_the_first() -> None:
    assert list(largest(lambda n: {"p99": 1.0}, 10.0, first=4, most=20)) == [4, 8, 16]
    assert list(largest(lambda n: {"p99": 99.0}, 10.0, first=4, most=20)) == [4]


def test_variants_are_new_schemas_with_valid_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    jsonschema_rs = pytest.importorskip("jsonschema_rs")
    monkeypatch.chdir(ROOT)
    requests = load_requests(None, 0, 1)
    made = list(itertools.islice(endless(requests), 5 * len(requests)))
    assert len({json.dumps(request.schema) for request in made}) == len(made)
    for request in made:
        assert jsonschema_rs.is_valid(request.schema, json.loads(request.text))


def test_a_schema_without_properties_has_no_variant() -> None:
    plain = Request("plain", {"type": "array", "items": {"type": "integer"}}, "[1, 2]")
    assert variant(plain, 1) is None
    assert list(endless([plain])) == [plain]


def test_the_simulation_times_every_step_and_uses_up_new_schemas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    simulation = Simulation(byte_vocabulary(), load_requests(None, 0, 1), n_warm=5, seed=1)
    clock = itertools.count(0, 500_000)
    # Two intervals a step, each of one tick of half a millisecond.
    assert simulation.run(3, 40, 0.0, lambda: next(clock)) == [1.0] * 40
    before = simulation._compiler.get_cache_size_bytes()
    assert len(simulation.run(16, 200, 1.0)) == 200
    assert simulation._compiler.get_cache_size_bytes() > before
