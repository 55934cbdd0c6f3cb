"""The official JSON Schema test suite: every instance in its ``json.dumps`` text, all five drafts."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from referencing import Registry, Resource
from referencing.jsonschema import specification_with

from maskwright.errors import GrammarError, SchemaError
from tests.schema.language import Language, official_suite

DRAFTS = {
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft4": "http://json-schema.org/draft-04/schema#",
}


@lru_cache(maxsize=5)
def _registry(draft: str, folder: Path) -> Registry[Any]:
    pairs = []
    for path, contents in official_suite(folder)["remotes"].items():
        drawer = path.split("/")[0]
        if drawer in ("v1", "draft3", "draft-next"):
            continue
        default = specification_with(DRAFTS.get(drawer, DRAFTS[draft]))
        resource = Resource.from_contents(contents, default_specification=default)
        pairs.append((f"http://localhost:1234/{path}", resource))
    return Registry().with_resources(pairs)


def _verdicts(draft: str, group: dict[str, Any], folder: Path) -> list[str]:
    schema = group["schema"]
    if isinstance(schema, dict) and "$schema" not in schema:
        schema = {**schema, "$schema": DRAFTS[draft]}
    language = None
    try:
        language = Language(
            schema,
            strict_mode=False,
            any_order=True,
            any_spelling=True,
            integer_spelling="json",
            format_assertion=False,
            registry=_registry(draft, folder),
        )
    except SchemaError as error:
        if not error.message.startswith("no value can meet"):
            return [f"{group['description']}: {error}"]
    except GrammarError as error:
        return [f"{group['description']}: {error}"]
    wrong = []
    for test in group["tests"]:
        try:
            found = language is not None and language.holds(json.dumps(test["data"]))
        except GrammarError as error:
            wrong.append(f"{group['description']}: {error}")
            continue
        if found is not test["valid"]:
            wrong.append(f"{group['description']} / {test['description']}: said {found}")
    return wrong


@pytest.mark.parametrize("draft", DRAFTS)
def test_required_files(draft: str, data_folder: Path) -> None:
    """No instance is judged wrongly, and no schema is refused."""
    wrong = []
    n_groups = 0
    for name, groups in official_suite(data_folder)["suites"].items():
        if name.startswith(f"{draft}/") and "/optional/" not in name:
            n_groups += len(groups)
            wrong.extend(
                f"{name}: {line}" for group in groups for line in _verdicts(draft, group, data_folder)
            )
    assert n_groups > 100
    assert wrong == []
