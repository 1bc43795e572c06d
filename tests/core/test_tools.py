"""Tools: what the model reads comes from the signature, and what it writes is checked."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Literal

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnkit.clients.connect import scripted
from learnkit.clients.scripted import reply, say, use
from learnkit.core.agent import Agent
from learnkit.core.interface import Call
from learnkit.core.mechanism import Mechanism
from learnkit.core.toolbox import Toolbox
from learnkit.core.tools import tool
from learnkit.errors import ArgumentsError, UsageError


@tool
def weather(city: str, days: int = 1) -> str:
    """Current weather for a city.

    Args:
        city: its name, in English,
            without the country
        days: how many days ahead
    """
    return f"{city}: {days * 10} degrees"


# What the model reads


def test_the_spec_comes_from_signature_and_docstring() -> None:
    assert weather.spec() == {
        "name": "weather",
        "description": "Current weather for a city.",
        "input_schema": {
            "type": "object",
            "properties": {
                "city": {
                    "type": "string",
                    "description": "its name, in English, without the country",
                },
                "days": {"type": "integer", "description": "how many days ahead", "default": 1},
            },
            "required": ["city"],
            "additionalProperties": False,
        },
    }


def lambda_named(name: str) -> Any:
    def function() -> str:
        return "done"

    function.__name__ = name
    return function


def test_a_tool_without_parameters_or_docstring_has_an_empty_object() -> None:
    assert tool(lambda_named("f")).spec() == {
        "name": "f",
        "description": "",
        "input_schema": {"type": "object", "properties": {}, "additionalProperties": False},
    }


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Item:
    id: int
    text: str
    status: Literal["open", "done"] = "open"
    note: str | None = None


class Place(pydantic.BaseModel):
    title: str
    near: Item | None = None


@tool
def everything(
    one: str,
    colour: Colour,
    items: list[Item],
    place: Place,
    kind: Literal["a", "b"] = "a",
    limit: int | None = None,
    either: int | str | None = None,
    must: int | None = 3,
    loose: dict[str, Any] | None = None,
    path: Path = Path(),
    title: float = 0.5,
    json: bool = False,
    _x: tuple[int, ...] = (),
) -> str:
    return repr((items, colour, place, path, limit, _x))


ITEM = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "text": {"type": "string"},
        "status": {"type": "string", "enum": ["open", "done"], "default": "open"},
        "note": {"type": "string"},
    },
    "required": ["id", "text"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("one", {"type": "string"}),
        ("colour", {"type": "string", "enum": ["red", "blue"]}),
        ("items", {"type": "array", "items": ITEM}),
        ("kind", {"type": "string", "enum": ["a", "b"], "default": "a"}),
        ("limit", {"type": "integer"}),
        ("either", {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        ("must", {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": 3}),
        ("loose", {"type": "object", "additionalProperties": True}),
        ("path", {"type": "string", "format": "path"}),
        ("title", {"type": "number", "default": 0.5}),
        ("json", {"type": "boolean", "default": False}),
        ("_x", {"type": "array", "items": {"type": "integer"}}),
    ],
)
def test_the_schema_of_a_parameter_is_in_normal_form(name: str, schema: Any) -> None:
    assert everything.input_schema["properties"][name] == schema


def test_a_narrowed_tool_takes_fewer_values_and_the_original_all_of_them() -> None:
    @tool
    def paint(colour: str, size: str = "s") -> str:
        return colour + size

    narrowed = paint.narrowed(colour=["red", "blue"]).narrowed(size=["s"])
    enums = [one.get("enum") for one in narrowed.input_schema["properties"].values()]
    assert enums == [["red", "blue"], ["s"]]
    assert narrowed.run(None, {"colour": "red"}) == "reds"
    with pytest.raises(UsageError, match="tool 'paint' has no parameter 'shade'"):
        paint.narrowed(shade=["dark"])
    with pytest.raises(ArgumentsError, match="colour must be one of 'red', 'blue'"):
        narrowed.run(None, {"colour": "green"})
    assert paint.run(None, {"colour": "green", "size": "l"}) == "greenl"
    assert not any("enum" in one for one in paint.input_schema["properties"].values())


# What a tool may not be


def test_star_arguments_are_refused_by_name() -> None:
    with pytest.raises(UsageError, match=r"tool 'f': \*rest: .*name each parameter"):

        @tool
        def f(*rest: str) -> str:
            return ""

    with pytest.raises(UsageError, match=r"\*\*more: .*name each parameter"):

        @tool
        def g(**more: str) -> str:
            return ""


def test_a_misspelt_name_in_the_docstring_is_refused() -> None:
    with pytest.raises(UsageError, match="describes 'citty', which is no parameter"):

        @tool
        def f(city: str) -> str:
            """Weather.

            Args:
                citty: its name
            """
            return ""


def test_a_type_without_a_schema_is_refused_by_name() -> None:
    class Own:
        pass

    scope: dict[str, Any] = {"Own": Own}
    exec("def f(a: int, thing: Own) -> str: ...", scope)
    with pytest.raises(UsageError, match=r"parameter 'thing' has no JSON Schema"):
        tool(scope["f"]).spec()


@dataclass
class Tree:
    children: list[Tree]


def test_a_type_that_contains_itself_stays_a_reference_and_is_checked() -> None:
    @tool
    def f(tree: Tree) -> str:
        return str(len(tree.children[0].children))

    schema = f.input_schema
    children = schema["$defs"]["Tree"]["properties"]["children"]
    assert children["items"] == {"$ref": "#/$defs/Tree"}
    assert f.run(None, {"tree": {"children": [{"children": [{"children": []}]}]}}) == "1"
    with pytest.raises(ArgumentsError, match="children"):
        f.run(None, {"tree": {"children": [{"children": 1}]}})


@pytest.mark.parametrize("name", ["", "a b", "ärger", "x" * 129, "<lambda>"])
def test_a_name_that_the_api_refuses_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be a tool's name"):
        tool(lambda_named(name))


# Running it


def test_arguments_become_python_values() -> None:
    given = {
        "one": "1",
        "colour": "blue",
        "items": [{"id": 1, "text": "a"}],
        "place": {"title": "here"},
        "path": "a/b",
        "_x": [1, 2],
    }
    result = everything.run(None, given)
    expected = ([Item(1, "a")], Colour.BLUE, Place(title="here"), Path("a/b"), None, (1, 2))
    assert result == repr(expected)


def test_the_function_keeps_its_own_defaults() -> None:
    sentinel = object()

    @tool
    def f(a: int | None = sentinel) -> str:  # type: ignore[assignment]
        return str(a is sentinel)

    assert f.run(None, {}) == "True"
    assert f.run(None, {"a": None}) == "False"


def test_a_number_as_text_and_json_as_text_are_understood() -> None:
    @tool
    def f(n: int, items: list[Item], loose: dict[str, Any], text: str) -> str:
        return repr((n, items, loose, text))

    result = f.run(
        None,
        {"n": "5", "items": '[{"id": 1, "text": "a"}]', "loose": '{"a": [1]}', "text": '["b"]'},
    )
    assert result == repr((5, [Item(1, "a")], {"a": [1]}, '["b"]'))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "weather: argument 'city' is missing"),
        ({"city": [5]}, "argument 'city': Input should be a valid string, not .5."),
        ({"city": None}, "argument 'city': .*not None"),
        ({"city": "x", "days": "many"}, "argument 'days': .*valid integer.*not 'many'"),
        ({"city": "x", "day": 1}, "no argument 'day'; the arguments are: city, days"),
        ({"days": []}, "argument 'city' is missing; argument 'days': .*not "),
        ([], "the arguments must be an object"),
        ("city", "the arguments must be an object"),
        (None, "the arguments must be an object"),
    ],
)
def test_arguments_that_do_not_fit_are_named(given: Any, message: str) -> None:
    with pytest.raises(ArgumentsError, match=message):
        weather.run(None, given)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(["city", "days", "x"]), JSON) | JSON)
def test_whatever_the_model_writes_it_fits_or_is_an_arguments_error(given: Any) -> None:
    try:
        said = weather.run(None, given)
    except ArgumentsError as error:
        said = str(error).replace("weather: ", "degrees ", 1)
    assert "degrees" in said


@pytest.mark.parametrize(
    ("value", "result"),
    [
        ("text", "text"),
        (" kept \n", " kept \n"),
        ("", "(no output)"),
        (" \n", "(no output)"),
        (None, "(no output)"),
        (5, "5"),
        (True, "true"),
        ([], "[]"),
        ({"ä": [1, None]}, '{"ä": [1, null]}'),
        ([{"type": "text", "text": "hi"}], [{"type": "text", "text": "hi"}]),
        ([{"type": "pump", "id": 1}], '[{"type": "pump", "id": 1}]'),
        (Path("a/b"), "a/b"),
        ({1}, "{1}"),
    ],
)
def test_what_a_function_returns_becomes_a_result(value: Any, result: Any) -> None:
    @tool
    def f() -> Any:
        return value

    assert f.run(None, {}) == result


def test_the_agent_is_handed_in_and_hidden() -> None:
    # The name Agent exists for type checkers only: its hint must not be resolved.
    @tool
    def who(agent: Agent, greeting: str) -> str:
        """Say who.

        Args:
            agent: is handed in
            greeting: a word
        """
        return f"{greeting} {agent}"

    assert list(who.input_schema["properties"]) == ["greeting"]
    assert who.run("alice", {"greeting": "hi"}) == "hi alice"  # type: ignore[arg-type]
    with pytest.raises(ArgumentsError, match="no argument 'agent'"):
        who.run(None, {"greeting": "hi", "agent": "mallory"})


# Methods and boxes


class Counter(Mechanism):
    def __init__(self) -> None:
        self.count = 0

    @tool
    def add(self, n: int = 1) -> str:
        """Add to the count."""
        self.count += n
        return str(self.count)

    @tool
    def agent_name(self, agent: Agent) -> str:
        return agent.name


class Louder(Counter):
    @tool
    def third(self) -> str:
        return "third"

    @tool
    def add(self, n: int = 1) -> str:
        return f"{super().add(n)}!"


def test_methods_of_a_mechanism_are_its_tools() -> None:
    first, second = Counter(), Counter()
    add, name = first.tools
    assert (add.name, name.name) == ("add", "agent_name")
    assert list(add.input_schema["properties"]) == ["n"]
    assert add.run(None, {"n": 2}) == "2"
    assert second.add(1) == "1"
    assert add.run(None, {"n": 3}) == "5"
    assert (first.count, second.count) == (5, 1)


def test_a_subclass_overrides_a_tool() -> None:
    louder = Louder()
    assert [one.name for one in louder.tools] == ["add", "agent_name", "third"]
    assert louder.tools[0].run(None, {}) == "1!"


def test_making_a_tool_does_not_load_pydantic() -> None:
    code = (
        "import sys, learnkit as lk\n"
        "lk.Toolbox(lk.tool(name='f')(lambda: ''))\n"
        "print(sorted({'pydantic', 'anthropic'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_call_that_a_tool_answers_is_injected() -> None:
    seen = []

    @tool
    def who(agent: Agent, call: Call, text: str) -> str:
        """Note who calls."""
        seen.append((agent.name, call.id, call.input))
        return text

    assert list(who.input_schema["properties"]) == ["text"]
    script = [reply(use("who", text="a"), use("who", text="b")), say("done")]
    Agent(scripted(script), [Toolbox(who)]).run("go")
    assert [(name, arguments["text"]) for name, _, arguments in seen] == [
        ("lead", "a"),
        ("lead", "b"),
    ]
    assert len({id for _, id, _ in seen}) == 2
