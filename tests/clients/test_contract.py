"""The contract, row by row, as a user of the real SDK meets it.

Each row has a request that is refused and a neighbour, as near to it as possible, that is not.
"""

from __future__ import annotations

import copy
import json
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Any, get_args, get_type_hints

import anthropic
import anthropic.types
import httpx2
import pytest
from anthropic.types import (
    message_count_tokens_params,
    message_create_params,
    text_block_param,
    thinking_block_param,
    tool_param,
    tool_result_block_param,
    tool_use_block_param,
)
from anthropic.types.content_block_param import ContentBlockParam

from learnkit.clients.contract import request as contract_request
from learnkit.clients.contract import rules as contract
from learnkit.clients.contract import shape as contract_shape
from learnkit.clients.contract.rules import Refusal, check
from learnkit.clients.contract.thinking import sign_reply
from learnkit.core.catalog import DEFAULT_MODEL, MODELS
from learnkit.core.token_count import estimate_tokens

Body = dict[str, Any]


def a_model(**facts: Any) -> str:
    """The first model of the catalogue of which all of these hold."""
    for spec in MODELS.values():
        if all(getattr(spec, name) == value for name, value in facts.items()):
            return spec.id
    raise AssertionError(f"no model in the catalogue has {facts}")


OLDER = a_model(window=200_000)
SWITCHABLE = a_model(always_thinks=False, preserved_thinking=False)
BUDGET = a_model(accepts=frozenset({"adaptive", "disabled", "enabled"}))

TOOL: Body = {"name": "bash", "description": "Run.", "input_schema": {"type": "object"}}
ASK: Body = {"role": "user", "content": "go"}


class Offline(httpx2.BaseTransport):
    """Answers what the contract says, or a constant message."""

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        raw = request.read()
        refusal = self._check(request, raw)
        if refusal is not None:
            return httpx2.Response(refusal.status, json=refusal.envelope("req_1"))
        if request.url.path.endswith("count_tokens"):
            return httpx2.Response(200, json={"input_tokens": 7})
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": DEFAULT_MODEL,
            "content": [{"type": "text", "text": "fine"}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        return httpx2.Response(200, json=message)

    def _check(self, request: httpx2.Request, raw: bytes) -> Refusal | None:
        body = json.loads(raw) if raw else {}
        beta = "anthropic-beta" in request.headers
        path = request.url.raw_path.decode()
        return check(body, method=request.method, path=path, size=len(raw), beta=beta)


@pytest.fixture(scope="module")
def transport() -> Offline:
    return Offline()


@pytest.fixture(scope="module")
def client(transport: Offline) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(
        api_key="offline",
        base_url="http://offline.invalid",
        http_client=anthropic.DefaultHttpxClient(transport=transport, trust_env=False),
        max_retries=0,
        open_telemetry=False,
    ) as client:
        yield client


def send(client: anthropic.Anthropic, body: Body) -> anthropic.types.Message:
    """Send exactly this body through ``messages.create``."""
    named = ("model", "max_tokens", "messages")
    given: Body = {name: body.get(name, anthropic.omit) for name in named}
    extra = {name: value for name, value in body.items() if name not in named}
    return client.messages.create(**given, extra_body=extra, timeout=60.0)


def ask(*messages: Body, model: str = DEFAULT_MODEL, **more: Any) -> Body:
    return {"model": model, "max_tokens": 16_000, "messages": list(messages or [ASK]), **more}


def user(*content: Any) -> Body:
    return {"role": "user", "content": content[0] if isinstance(content[0], str) else [*content]}


def assistant(*content: Any) -> Body:
    return {**user(*content), "role": "assistant"}


def text(value: str, **more: Any) -> Body:
    return {"type": "text", "text": value, **more}


def call(id: str = "t1", **more: Any) -> Body:
    return {"type": "tool_use", "id": id, "name": "bash", "input": {"command": "ls"}, **more}


def result(id: str = "t1", content: Any = "ok", **more: Any) -> Body:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **more}


def thinking(signature: str, words: str = "") -> Body:
    return {"type": "thinking", "thinking": words, "signature": signature}


def tools(*messages: Body, **more: Any) -> Body:
    return ask(*messages, tools=[TOOL], **more)


def with_tool(**changes: Any) -> Body:
    tool = {**TOOL, **changes}
    return ask(tools=[{key: value for key, value in tool.items() if value is not None}])


def without(body: Body, key: str) -> Body:
    return {name: value for name, value in body.items() if name != key}


def thought(words: str = "", **first: Any) -> Body:
    """A conversation with signed thinking in its first reply, and one more question."""
    body = tools(user("list the files"), **{"system": "You are terse.", **first})
    reply = sign_reply(body, [{"type": "thinking", "thinking": words}, text("I look."), call()])
    body["messages"] += [assistant(*reply), user(result(), text("and then?"))]
    return body


def changed(body: Body, change: Callable[[Body], object]) -> Body:
    body = copy.deepcopy(body)
    change(body)
    return body


def sign(body: Body) -> str:
    (block,) = sign_reply(body, [{"type": "thinking", "thinking": ""}])
    signature: str = block["signature"]
    return signature


def edit_prefix(body: Body) -> None:
    body["messages"][0]["content"] = "list all files"


def forge(body: Body) -> None:
    body["messages"][1]["content"][0]["thinking"] += "!"


def forge_and_go_on(body: Body) -> None:
    forge(body)
    body["messages"] += [assistant("ok"), ASK]


PNG = {"type": "base64", "media_type": "image/png", "data": "AA=="}
IMAGE = {"type": "image", "source": PNG}
CACHE: Body = {"cache_control": {"type": "ephemeral"}}
ROUND = (ASK, assistant(call()), user(result()))


Make = Callable[[], Body]

#: Rule -> requests that it refuses, each with a neighbour that it lets pass, and what is said.
ROWS: dict[str, list[tuple[Make, Make, str]]] = {
    "unknown_model": [(lambda: ask(model="claude-nonesuch"), ask, "model: claude-nonesuch")],
    "required": [
        (lambda: without(ask(), "max_tokens"), ask, "max_tokens: Field required"),
        (lambda: without(ask(), "model"), ask, "model: Field required"),
        (lambda: without(ask(), "messages"), ask, "messages: Field required"),
    ],
    "shape": [
        (lambda: ask(user(text("x"), {"type": "txt"})), lambda: ask(user(text("x"))), "tag"),
        (lambda: ask({"role": "user"}), ask, "messages.0.content: Field required"),
        (lambda: ask({"content": "x"}), ask, "messages.0.role: Field required"),
        (lambda: ask({**ASK, "content": 5}), ask, "messages.0.content: Input should be a"),
        (lambda: ask(ASK, "x"), lambda: ask(ASK, ASK), "messages.1: Input should be a valid dic"),
        (lambda: ask(max_tokens="9"), lambda: ask(max_tokens=9), "valid integer"),
        (
            lambda: tools(ASK, assistant(without(call(), "input")), user(result())),
            lambda: tools(*ROUND),
            "messages.1.content.0.tool_use.input: Field required",
        ),
        (
            lambda: tools(ASK, assistant(call("t 1")), user(result("t 1"))),
            lambda: tools(ASK, assistant(call("T-1_x")), user(result("T-1_x"))),
            "String should match pattern '^[a-zA-Z0-9_-]+$'",
        ),
        (
            lambda: with_tool(name="read file"),
            lambda: with_tool(name="read-file_2"),
            "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
        ),
        (lambda: with_tool(name="x" * 129), lambda: with_tool(name="x" * 128), "pattern"),
        (
            lambda: with_tool(input_schema=None),
            with_tool,
            "tools.0.custom.input_schema: Field required",
        ),
        (
            lambda: with_tool(input_schema={"type": "string"}),
            lambda: with_tool(input_schema={"type": "object", "properties": {}}),
            "tools.0.custom.input_schema.type: Input should be 'object'",
        ),
    ],
    "unknown_key": [
        (lambda: ask(maxtokens=1), ask, "maxtokens: Extra inputs are not permitted"),
        (lambda: ask({**ASK, "name": "Ann"}), ask, "messages.0.name: Extra"),
        (
            lambda: ask(user(text("x", id=1))),
            lambda: ask(user(text("x", citations=None))),
            "messages.0.content.0.text.id: Extra inputs",
        ),
        (lambda: with_tool(parallel=True), with_tool, "tools.0.custom.parallel: Ex"),
    ],
    "max_tokens": [
        (lambda: ask(max_tokens=-1), lambda: ask(max_tokens=0), "equal to 0"),
        (
            lambda: ask(max_tokens=128_001),
            lambda: ask(max_tokens=128_000),
            "max_tokens: 128001 > 128000, which is the maximum allowed number of output tokens",
        ),
    ],
    "message_count": [
        (lambda: {**ask(), "messages": []}, ask, "at least one message is required"),
    ],
    "role": [
        (lambda: ask(ASK, {**ASK, "role": "tool"}), lambda: ask(ASK, ASK), 'role "tool"'),
    ],
    "empty_message": [
        (lambda: ask(user("")), ask, "messages.0: user messages must have non-empty"),
        (
            lambda: ask(ASK, {"role": "assistant", "content": []}, ASK),
            lambda: ask(ASK, assistant("hm"), ASK),
            "except for the optional final assistant message",
        ),
    ],
    "empty_text": [
        (lambda: ask(user(text(""))), lambda: ask(user(text(" x"))), "must be non-empty"),
        (
            lambda: tools(ASK, assistant(call()), user(result(content=[text("")]))),
            lambda: tools(ASK, assistant(call()), user(result(content=""))),
            "text content blocks must be non-empty",
        ),
        (lambda: ask(system=[text("")]), lambda: ask(system=""), "must be non-empty"),
        (lambda: ask(user(text("", **CACHE))), lambda: ask(user(text("x", **CACHE))), "non-empty"),
    ],
    "unanswered_call": [
        (
            lambda: tools(ASK, assistant(call("a"), call("b"), call("c")), user(result("b"))),
            lambda: tools(
                ASK,
                assistant(call("a"), call("b"), call("c")),
                user(*map(result, "cab"), text("!")),
            ),
            "`tool_use` ids were found without `tool_result` blocks immediately after: a, ",
        ),
        (
            lambda: tools(ASK, assistant(call()), ASK, assistant("hm"), user(result())),
            lambda: tools(ASK, assistant(call()), user(result()), ASK, assistant("hm"), ASK),
            "`tool_use` ids were found without `tool_result` blocks immediately after: t1",
        ),
        (lambda: tools(*ROUND[:2]), lambda: tools(*ROUND), "messages.1: `tool_use`"),
        (
            lambda: tools(ASK, assistant(call()), user(text("look:"), result())),
            lambda: tools(ASK, assistant(call()), user(result(), text("look"))),
            "`tool_use` ids were found without `tool_result` blocks immediately after: t1",
        ),
        (
            lambda: tools(
                ASK, assistant(call("a"), call("b")), user(result("a"), text("x"), result("b"))
            ),
            lambda: tools(
                ASK, assistant(call("a"), call("b")), user(result("a")), user(result("b"))
            ),
            "immediately after: b",
        ),
    ],
    "unknown_result": [
        (
            lambda: tools(ASK, assistant(call()), user(result(), result("t9"))),
            lambda: tools(ASK, assistant(call(), call("t9")), user(result(), result("t9"))),
            "messages.2.content.1: unexpected `tool_use_id` found in `tool_result` blocks: t9",
        ),
        (lambda: tools(user(result())), lambda: tools(ASK), "unexpected `tool_use_id` found"),
        (
            lambda: tools(*ROUND, assistant("ok"), user(result())),
            lambda: tools(*ROUND, assistant("ok"), ASK),
            "messages.4.content.0: unexpected `tool_use_id` found",
        ),
    ],
    "double_result": [
        (
            lambda: tools(ASK, assistant(call()), user(result(), result())),
            lambda: tools(*ROUND),
            "each tool_use must have a single result. Found multiple",
        ),
    ],
    "repeated_id": [
        (
            lambda: tools(*ROUND, *ROUND),
            lambda: tools(*ROUND, ASK, assistant(call("t2")), user(result("t2"))),
            "messages.4.content.0: `tool_use` ids must be unique",
        ),
    ],
    "wrong_side": [
        (
            lambda: tools(user(text("x"), call())),
            lambda: tools(*ROUND),
            "messages.0: `tool_use` blocks can only be in `assistant` messages",
        ),
        (
            lambda: tools(*ROUND, assistant(result(), text("x")), ASK),
            lambda: tools(*ROUND, assistant(text("x")), ASK),
            "messages.3: `tool_result` blocks can only be in `user` messages",
        ),
        (
            lambda: ask(user(thinking("s"), text("x"))),
            ask,
            "messages.0: `thinking` blocks can only be in `assistant` messages",
        ),
        (
            lambda: ask(ASK, assistant("x"), user({"type": "redacted_thinking", "data": "x"})),
            ask,
            "messages.2: `redacted_thinking` blocks can only be in `assistant` messages",
        ),
    ],
    "tools_missing": [
        (
            lambda: ask(*ROUND),
            lambda: tools(*ROUND),
            "must define tools (strict: learnkit's own caution)",
        ),
    ],
    "error_with_media": [
        (
            lambda: tools(ASK, assistant(call()), user(result(content=[IMAGE], is_error=True))),
            lambda: tools(ASK, assistant(call()), user(result(content=[IMAGE], is_error=False))),
            "all content must be type 'text' if 'is_error' is true",
        ),
        (
            lambda: tools(
                *ROUND[:2], user(result(content=[text("x"), IMAGE], is_error=True), text("y"))
            ),
            lambda: tools(*ROUND[:2], user(result(content=[text("x")], is_error=True), text("y"))),
            "messages.2.content.0.tool_result: all content must be type 'text' if 'is_err",
        ),
    ],
    "tool_names_unique": [
        (
            lambda: ask(tools=[TOOL, TOOL]),
            lambda: ask(tools=[TOOL, {**TOOL, "name": "Bash"}]),
            "tools: Tool names must be unique.",
        ),
    ],
    "input_schema": [
        (
            lambda: with_tool(input_schema={"type": "object", "anyOf": []}),
            lambda: with_tool(input_schema={"type": "object", "properties": {"a": {"anyOf": []}}}),
            "does not support oneOf, allOf, or anyOf at the top level",
        ),
        (
            lambda: with_tool(type="custom", input_schema={"type": "object", "oneOf": []}),
            lambda: ask(tools=[{"type": "bash_20250124", "name": "bash"}]),
            "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or",
        ),
    ],
    "tool_choice": [
        (
            lambda: ask(tool_choice={"type": "any"}, model=SWITCHABLE),
            lambda: tools(tool_choice={"type": "any"}, model=SWITCHABLE),
            "tool_choice.any may only be specified while providing tools",
        ),
        (
            lambda: tools(tool_choice={"type": "tool", "name": "sh"}, model=SWITCHABLE),
            lambda: tools(tool_choice={"type": "tool", "name": "bash"}, model=SWITCHABLE),
            "Tool 'sh' not found in provided tools",
        ),
        (
            lambda: tools(tool_choice={"type": "some"}, model=SWITCHABLE),
            lambda: tools(tool_choice={"type": "auto"}, model=SWITCHABLE),
            "tool_choice: Input tag 'some' does not match any of the expected tags",
        ),
        (
            lambda: ask(tool_choice={"type": "tool", "name": "bash"}, model=SWITCHABLE),
            lambda: ask(tool_choice={"type": "none"}, model=SWITCHABLE),
            "tool_choice.tool may only be specified while providing tools",
        ),
        (
            lambda: tools(tool_choice={"type": "tool"}, model=SWITCHABLE),
            lambda: tools(tool_choice={"type": "any"}, model=SWITCHABLE),
            "tool_choice.tool.name: Field required",
        ),
    ],
    "prefill": [
        (
            lambda: ask(ASK, assistant("The answer is (")),
            lambda: ask(ASK, assistant("The answer is ("), ASK),
            "does not support assistant message prefill. The conversation must end with a user",
        ),
    ],
    "system_message": [
        (
            lambda: ask({"role": "system", "content": "Be brief."}, ASK),
            lambda: ask(ASK, {"role": "system", "content": "Be brief."}),
            "messages.0: use the top-level 'system' parameter for the initial system prompt",
        ),
        (
            lambda: ask(ASK, assistant("ok"), {"role": "system", "content": "Be brief."}),
            lambda: ask(ASK, assistant("ok"), ASK, {"role": "system", "content": "Be brief."}),
            "messages.2: a 'system' message must follow a 'user' message",
        ),
        (
            lambda: ask(ASK, {"role": "system", "content": "Be brief."}, ASK),
            lambda: ask(ASK, {"role": "system", "content": "Be brief."}, assistant("ok"), ASK),
            "messages.1: a 'system' message must precede an 'assistant' message",
        ),
        (
            lambda: ask(ASK, {"role": "system", "content": [text("Be brief."), IMAGE]}),
            lambda: ask(ASK, {"role": "system", "content": [text("Be brief."), text("Be kind.")]}),
            "messages.1: 'system' messages may only hold text blocks",
        ),
        (
            lambda: ask(ASK, {"role": "system", "content": ""}),
            lambda: ask(ASK, {"role": "system", "content": "x"}),
            "messages.1: 'system' messages must have non-empty content",
        ),
    ],
    "cache_control": [
        (
            lambda: ask(user(*[text("x", **CACHE)] * 3), system=[text("s", **CACHE)], **CACHE),
            lambda: ask(user(*[text("x", **CACHE)] * 3), system=[text("s", **CACHE)]),
            "A maximum of 4 blocks with cache_control may be provided. Found 5.",
        ),
        (
            lambda: tools(*ROUND[:2], user(result(content=[text("x", **CACHE)] * 5))),
            lambda: tools(*ROUND[:2], user(result(content=[text("x", **CACHE)] * 4))),
            "A maximum of 4 blocks with cache_control may be provided. Found 5.",
        ),
        (
            lambda: ask(system=[text("s", **CACHE)] * 4, tools=[{**TOOL, **CACHE}]),
            lambda: ask(system=[text("s", **CACHE)] * 3, tools=[{**TOOL, **CACHE}]),
            "A maximum of 4 blocks with cache_control may be provided. Found 5.",
        ),
    ],
    "thinking": [
        (
            lambda: ask(thinking={"type": "disabled"}),
            lambda: ask(thinking={"type": "adaptive"}),
            '"thinking.type.disabled" is not supported for this model.',
        ),
        (
            lambda: ask(thinking={"type": "enabled", "budget_tokens": 2_000}),
            lambda: ask(thinking={"type": "enabled", "budget_tokens": 2_000}, model=BUDGET),
            (
                '"thinking.type.enabled" is not supported for this model. '
                'Use "thinking.type.adaptive" and "output_config.effort" to control thinking '
            ),
        ),
        (
            lambda: tools(tool_choice={"type": "any"}),
            lambda: tools(tool_choice={"type": "auto"}),
            "Thinking may not be enabled when tool_choice forces tool use.",
        ),
        (
            lambda: tools(
                tool_choice={"type": "any"}, thinking={"type": "adaptive"}, model=SWITCHABLE
            ),
            lambda: tools(
                tool_choice={"type": "any"}, thinking={"type": "disabled"}, model=SWITCHABLE
            ),
            "Thinking may not be enabled when tool_choice forces tool use.",
        ),
        (
            lambda: ask(thinking={"type": "on"}),
            ask,
            "thinking: Input tag 'on' does not match any of the expected tags",
        ),
        (
            lambda: tools(tool_choice={"type": "tool", "name": "bash"}),
            lambda: tools(tool_choice={"type": "none"}),
            "Thinking may not be enabled when tool_choice forces tool use.",
        ),
        (
            lambda: tools(
                tool_choice={"type": "any"},
                thinking={"type": "enabled", "budget_tokens": 2_000},
                model=BUDGET,
            ),
            lambda: tools(thinking={"type": "enabled", "budget_tokens": 2_000}, model=BUDGET),
            "Thinking may not be enabled when tool_choice forces tool use.",
        ),
    ],
    "bound_thinking": [
        (
            lambda: changed(thought(), edit_prefix),
            thought,
            (
                "messages.1.content.0: Invalid `signature` in `thinking` block. "
                "The block is bound to a different conversation."
            ),
        ),
        (
            lambda: {**thought(), "system": "You are chatty."},
            lambda: {**thought(), "system": [text("You are terse.", **CACHE)]},
            "bound to a different conversation",
        ),
        (
            lambda: {**thought(), "tools": [{**TOOL, "description": "Run it."}]},
            lambda: {**thought(), "tools": [{**TOOL, **CACHE}]},
            "bound to a different conversation",
        ),
        (
            lambda: changed(thought(model=SWITCHABLE), forge_and_go_on),
            lambda: changed(thought(model=SWITCHABLE), edit_prefix),
            "messages.1.content.0: Invalid `signature` in `thinking` block",
        ),
    ],
    "changed_thinking": [
        (
            lambda: changed(thought("I should look."), forge),
            lambda: thought("I should look."),
            "blocks in the latest assistant message cannot be modified",
        ),
        (
            lambda: ask(ASK, assistant(thinking(sign(ask()))), ASK),
            lambda: ask(ASK, assistant(thinking(sign(ask())), text("ok")), ASK),
            "messages.1: The final block in an assistant message cannot be `thinking`",
        ),
        (
            lambda: ask(ASK, assistant({"type": "redacted_thinking", "data": "x"}), ASK),
            lambda: ask(
                ASK, assistant({"type": "redacted_thinking", "data": "x"}, text("ok")), ASK
            ),
            "messages.1: The final block in an assistant message cannot be `redacted_thinking`",
        ),
        (
            lambda: ask(assistant(thinking("0.x.y"), text("hm")), ASK, model=SWITCHABLE),
            lambda: ask(assistant("hm"), ASK, model=SWITCHABLE),
            "messages.0.content.0: `thinking` or `redacted_thinking` blocks in the latest",
        ),
    ],
    "prompt_length": [
        (
            lambda: ask(system="word " * 161_000, model=OLDER),
            lambda: ask(system="word " * 159_000, model=OLDER),
            "tokens > 200000 maximum",
        ),
        (
            lambda: with_tool(description="word " * 161_000) | {"model": OLDER},
            lambda: ask(
                user(text("x"), {**IMAGE, "source": {**PNG, "data": "A" * 900_000}}), model=OLDER
            ),
            "tokens > 200000 maximum",
        ),
    ],
    "sampling": [
        (lambda: ask(temperature=0.5), ask, "`temperature` is deprecated"),
        (lambda: ask(top_p=0.5), ask, "`top_p` is deprecated"),
        (lambda: ask(top_k=5), ask, "`top_k` is deprecated"),
    ],
    "stop_sequences": [
        (
            lambda: ask(stop_sequences=["END", " \n"]),
            lambda: ask(stop_sequences=["END", " ."]),
            "each stop sequence must contain non-whitespace",
        ),
    ],
}


@pytest.mark.parametrize(
    ("rule", "bad", "good", "text"),
    [pytest.param(rule, *row, id=rule) for rule, rows in ROWS.items() for row in rows],
)
def test_a_row_of_the_contract(
    client: anthropic.Anthropic, rule: str, bad: Make, good: Make, text: str
) -> None:
    with pytest.raises(anthropic.APIStatusError) as caught:
        send(client, bad())
    error, missing = caught.value, rule == "unknown_model"
    assert type(error) is (anthropic.NotFoundError if missing else anthropic.BadRequestError)
    assert error.status_code == (404 if missing else 400)
    assert isinstance(error.body, dict)
    assert error.body["type"] == "error"
    assert error.body["request_id"] == "req_1"
    assert error.type == ("not_found_error" if missing else "invalid_request_error")
    assert text in error.body["error"]["message"]
    refusal = check(bad(), size=len(json.dumps(bad())))
    assert refusal is not None
    assert refusal.rule == rule
    assert refusal.provenance in get_args(contract.Provenance)
    assert send(client, good()).content[0].type == "text"


def test_every_rule_has_a_row_and_says_so_when_it_is_our_own() -> None:
    assert {rule.name for rule in contract.RULES} == set(ROWS)
    strict = {rule.name for rule in contract.RULES if rule.provenance == "strict"}
    assert strict == {
        rule for rule, rows in ROWS.items() if all("(strict: " in text for *_, text in rows)
    }


def test_a_refusal_of_an_address_or_a_size_says_how_it_is_known() -> None:
    refusals = {
        refusal.rule: (refusal.status, refusal.type, refusal.provenance)
        for refusal in (
            check(ask(), path="/v1/nowhere"),
            check(ask(), method="put"),
            check(ask(), size=contract_request.MAX_BYTES + 1),
        )
        if refusal is not None
    }
    assert refusals == {
        "path": (404, "not_found_error", "documented"),
        "method": (405, "invalid_request_error", "documented"),
        "body_size": (413, "request_too_large", "documented"),
    }
    assert check(ask(), method="post", path=f"{contract.MESSAGES_PATH}?beta=true") is None


def test_a_prompt_may_fill_the_window_and_an_unknown_size_is_not_judged() -> None:
    window = MODELS[OLDER].window

    def body(length: int) -> Body:
        return ask(user("x" * length), model=OLDER)

    def tokens(length: int) -> int:
        return estimate_tokens(body(length)["messages"])

    full = bisect_right(range(window * 8), window, key=tokens) - 1
    assert (tokens(full), tokens(full + 1)) == (window, window + 1)
    assert check(body(full), size=window * 8) is None
    refusal = check(body(full + 1), size=window * 8)
    assert refusal is not None
    assert refusal.message == f"prompt is too long: {window + 1} tokens > {window} maximum"
    assert check(body(full + 1)) is None


def said(body: Body) -> str:
    refusal = check(body)
    assert refusal is not None
    return refusal.message


SHAPES = [  # one of each kind: pydantic does the rest
    (ask(model=5), "model: Input should be a valid string"),
    ({**ask(), "messages": None}, "messages: Input should be a valid list"),
    (ask(max_tokens=True), "max_tokens: Input should be a valid integer"),
    (ask(system=5), "system: Input should be a valid list"),
    (ask(tools=[TOOL, "bash"]), "tools.1.custom: Input should be a valid dictionary"),
    (ask(tool_choice="any"), "tool_choice: Input should be a valid dictionary"),
    (ask(system=[text("x"), {"type": "text"}]), "system.1.text: Field required"),
    (ask(user({"type": 5})), "messages.0.content.0: Input tag '5' found"),
    (ask(ASK, assistant(without(call(), "id")), ASK), "messages.1.content.0.tool_use.id: Field"),
    (ask(ASK, assistant(call(name=5)), ASK), "0.tool_use.name: Input should be a valid string"),
    (ask(user(result(5))), "0.tool_result.tool_use_id: Input should be a valid string"),
    (ask(user(result(content=["x"]))), "tool_result.content.0: Input should be a valid dictionary"),
    (
        ask(user(result(content=[thinking("s")]))),
        "result.content.0: Input tag 'thinking' found",
    ),
    (ask(ASK, assistant({"type": "thinking", "thinking": "x"}), ASK), "thinking.signature: Field"),
    (ask(ASK, assistant({"type": "redacted_thinking"}), ASK), "redacted_thinking.data: Field req"),
]


@pytest.mark.parametrize(("body", "said"), SHAPES)
def test_a_value_of_a_wrong_type_is_named_with_its_place(body: Body, said: str) -> None:
    refusal = check(body)
    assert refusal is not None
    assert refusal.rule == "shape"
    assert said in refusal.message


def test_the_first_rule_in_the_order_of_the_table_wins() -> None:
    bad = ask(user(text("")), assistant(call()), temperature=1, max_tokens=-1, nonesuch=1)
    order = []
    for key in ("nonesuch", "max_tokens", "messages", "temperature"):
        refusal = check(bad)
        assert refusal is not None
        order.append(refusal.rule)
        bad = {**bad, **{"max_tokens": 9}} if key == "max_tokens" else without(bad, key)
        if key == "messages":
            bad["messages"] = [ASK]
    assert order == ["unknown_key", "max_tokens", "empty_text", "sampling"]
    assert check(bad) is None


@pytest.mark.parametrize(
    "messages",
    [
        pytest.param([ASK, ASK, assistant("a"), assistant("b"), ASK], id="one role in a row"),
        pytest.param([assistant("hello"), ASK], id="assistant first"),
        pytest.param([user(""), user("x")], id="an empty message beside one that is not"),
        pytest.param(
            [ASK, assistant(call("a")), assistant(call("b")), user(result("b")), user(result("a"))],
            id="calls and results over several messages",
        ),
        pytest.param(
            [ASK, assistant(without(call(), "caller")), user(without(result(), "content"))],
            id="a result without content",
        ),
        pytest.param(
            [
                ASK,
                assistant(
                    {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
                ),
            ],
            id="a paused turn sent back as it is",
        ),
    ],
)
def test_what_looks_wrong_and_is_not(client: anthropic.Anthropic, messages: list[Body]) -> None:
    assert send(client, tools(*messages)).stop_reason == "end_turn"


def test_thinking_may_be_dropped_from_the_front_but_not_from_between(
    client: anthropic.Anthropic,
) -> None:
    body = tools(user("one"))
    for number in range(3):
        reply = sign_reply(body, [{"type": "thinking", "thinking": "hm"}, call(f"t{number}")])
        body["messages"] += [assistant(*reply), user(result(f"t{number}"))]
    send(client, body)

    def dropped(*indexes: int) -> Body:
        def drop(body: Body) -> None:
            for index in indexes:
                del body["messages"][index]["content"][0]

        return changed(body, drop)

    send(client, dropped(1))
    send(client, dropped(1, 3))
    send(client, dropped(1, 3, 5))
    assert said(dropped(3)) == (
        "messages.5.content.0: Invalid `signature` in `thinking` block. The block is bound to a "
        "different conversation. Remove the block, or set "
        '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block". '
        "The thinking block that preceded it is missing or was moved."
    )


def test_a_request_may_choose_that_changed_thinking_is_dropped(
    client: anthropic.Anthropic,
) -> None:
    choice = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
    body = changed(thought("hm"), edit_prefix)
    send(client, {**body, "thinking": choice})
    with pytest.raises(anthropic.BadRequestError, match="cannot be modified"):
        send(client, {**changed(body, forge), "thinking": choice})


def block(body: Body, message: int, place: int) -> Body:
    found: Body = body["messages"][message]["content"][place]
    return found


def test_a_result_that_is_an_error_now_changes_what_came_before() -> None:
    body = tools(*ROUND)
    body["messages"] += [assistant(thinking(sign(body)), text("ok")), ASK]
    assert check(body) is None
    body["messages"][2]["content"][0]["is_error"] = True
    assert "Something before it has changed" in said(body)


def test_beta_parameters_need_a_beta_header(client: anthropic.Anthropic) -> None:
    edits: Body = {"context_management": {"edits": []}}
    with pytest.raises(anthropic.BadRequestError, match="context_management: Extra inputs"):
        send(client, {**ask(), **edits})
    reply = client.beta.messages.create(
        model=DEFAULT_MODEL,
        max_tokens=9,
        messages=[{"role": "user", "content": "x"}],
        context_management={"edits": []},
        betas=["context-management-2025-06-27"],
    )
    assert reply.stop_reason == "end_turn"


def test_a_request_is_not_changed_by_being_checked() -> None:
    body = thought("hm")
    before = copy.deepcopy(body)
    assert check(body, size=1_000) is None
    assert body == before


def test_the_keys_are_those_of_the_sdk() -> None:
    headers = {"user_profile_id", "workspace_id"}
    create = set(message_create_params.MessageCreateParamsBase.__annotations__) - headers
    count = set(message_count_tokens_params.MessageCountTokensParams.__annotations__) - headers
    assert check({**ask(), **dict.fromkeys(create - {"model", "messages", "max_tokens"})}) is None
    assert create | {"stream", *contract_request.SAMPLING} == keys(contract_shape.Created)
    assert count == keys(contract_shape.Counted)
    sdk = {
        contract_shape.CustomTool: tool_param.ToolParam,
        contract_shape.Text: text_block_param.TextBlockParam,
        contract_shape.ToolUse: tool_use_block_param.ToolUseBlockParam,
        contract_shape.ToolResult: tool_result_block_param.ToolResultBlockParam,
        contract_shape.Thinking: thinking_block_param.ThinkingBlockParam,
    }
    for ours, theirs in sdk.items():
        assert keys(ours) == keys(theirs)
    kinds = [
        kind
        for block in get_args(ContentBlockParam)
        for kind in get_args(get_args(get_type_hints(block, include_extras=True)["type"])[0])
    ]
    for kind in kinds:
        refusal = check(ask(user({"type": kind})))
        assert refusal is None or "Input tag" not in refusal.message


def keys(block: type) -> set[str]:
    return set(block.__annotations__)
