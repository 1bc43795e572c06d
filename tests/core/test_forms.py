"""Forms: fields from a schema, arguments from what was typed, and replies from both."""

from __future__ import annotations

from typing import Literal

import pytest

import learnkit as lk
from learnkit.core import tool_form as forms
from learnkit.core.tool_form import Field, FormError


@lk.tool
def forecast(
    city: str,
    days: int,
    unit: Literal["C", "F"] = "C",
    hourly: bool = False,
    stations: list[str] | None = None,
    above: float | None = None,
    level: int | str | None = None,
) -> str:
    """Forecast the weather.

    Args:
        city: where.
        days: how many days ahead.
    """
    return f"{city} {days} {unit}"


SCHEMA = forecast.input_schema
SPECS = [forecast.spec()]


def test_each_type_gets_its_kind_of_field() -> None:
    assert forms.fields(SCHEMA) == [
        Field("city", "text", "string", True, "where."),
        Field("days", "integer", "integer", True, "how many days ahead."),
        Field("unit", "choice", "C or F", False, "", ("C", "F")),
        Field("hourly", "choice", "true or false", False, "", ("true", "false")),
        Field("stations", "json", "list of string", False),
        Field("above", "number", "number", False),
        Field("level", "json", "integer or string", False),
    ]


def test_a_form_has_what_a_page_needs_to_draw_it() -> None:
    made = forms.form(SPECS[0])
    assert made["name"] == "forecast"
    assert made["about"] == "Forecast the weather."
    assert made["fields"][1]["name"] == "days"
    assert made["fields"][1]["required"] is True


def test_typed_values_get_their_types_and_empty_options_are_left_out() -> None:
    values = {"city": "Beijing", "days": "3", "unit": "", "hourly": ""}
    assert forms.read(SCHEMA, values) == {"city": "Beijing", "days": 3}
    values = {
        **{"city": " 北京\n", "days": "-1", "unit": "F", "hourly": "false"},
        **{"stations": '["a", "b"]', "above": "30.5", "level": "12"},
    }
    assert forms.read(SCHEMA, values) == {
        **{"city": " 北京\n", "days": -1, "unit": "F", "hourly": False},
        **{"stations": ["a", "b"], "above": 30.5, "level": 12},
    }


@pytest.mark.parametrize(
    ("values", "field", "says"),
    [
        ({"days": "1"}, "city", "city is required"),
        ({"city": "", "days": "1"}, "city", "city is required"),
        ({"city": "x"}, "days", "days is required"),
        ({"city": "x", "days": "1.5"}, "days", "days must be an integer, not '1.5'"),
        ({"city": "x", "days": "soon"}, "days", "days must be an integer, not 'soon'"),
        ({"city": "x", "days": "1", "above": "NaN"}, "above", "above must be a number"),
        ({"city": "x", "days": "1", "above": "[1]"}, "above", "above must be a number"),
        ({"city": "x", "days": "1", "unit": "K"}, "unit", "unit must be C or F, not 'K'"),
        ({"city": "x", "days": "1", "stations": "[a"}, "stations", "must be JSON (list of string)"),
        ({"city": "x", "days": "1", "stations": "[" * 100_000}, "stations", "must be JSON"),
    ],
)
def test_what_does_not_fit_names_the_field(values: dict[str, str], field: str, says: str) -> None:
    with pytest.raises(FormError) as caught:
        forms.read(SCHEMA, values, part=2)
    assert (caught.value.field, caught.value.part) == (field, 2)
    assert says in str(caught.value)


def test_a_reply_of_several_parts_keeps_their_order() -> None:
    typed = {"city": "Beijing", "days": "1"}
    call = {"tool": "forecast", "values": typed}
    assert forms.assemble([{"text": "I look."}, call, {"text": "  "}, call], SPECS) == [
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "name": "forecast", "input": {"city": "Beijing", "days": 1}},
        {"type": "tool_use", "name": "forecast", "input": {"city": "Beijing", "days": 1}},
    ]


def test_a_fault_in_the_second_call_is_found_there() -> None:
    good = {"tool": "forecast", "values": {"city": "x", "days": "1"}}
    with pytest.raises(FormError) as caught:
        forms.assemble([good, {"tool": "forecast", "values": {"city": "x"}}], SPECS)
    assert (caught.value.part, caught.value.field) == (1, "days")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not JSON"),
        ("[{]", "not JSON: .*line 1 column 3"),
        ("[NaN]", "NaN is no JSON number"),
        ("[" * 100_000, "not JSON"),
        ('"hi"', "a list of blocks"),
        ('{"text": "hi"}', "a list of blocks"),
        ("[7]", "block 0: 'type' is one of text, thinking, tool_use"),
        ('[{"type": "image"}]', "block 0: 'type' is one of"),
        ('[{"type": []}]', "block 0: 'type' is one of"),
        ('[{"type": "text"}]', "block 0: text needs 'text', a text"),
        ('[{"type": "tool_use", "name": "x", "input": "ls"}]', "needs 'input', an object"),
        ('[{"type": "tool_use", "name": 3, "input": {}}]', "needs 'name', a text"),
        ('[{"type": "tool_use", "id": 3, "name": "x", "input": {}}]', "an id is a text, not 3"),
        ('{"content": [], "stop_reason": "tired"}', "stop_reason 'tired' is none of"),
    ],
)
def test_json_that_no_model_could_send_is_refused(text: str, says: str) -> None:
    with pytest.raises(FormError, match=says):
        forms.parse(text)
