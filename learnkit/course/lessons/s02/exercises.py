"""Lesson 2's exercises: what is wrong with an answer."""

from __future__ import annotations

from typing import Any

import learnkit as lk
from learnkit.course.content import Verdict
from learnkit.course.lessons.verdicts import first_wrong


def check_latest(latest: Any) -> Verdict:
    """Check that a tool takes the unit C or F and no other, and that its schema says so."""
    if not isinstance(latest, lk.Tool):
        return (
            f"`latest` is a {type(latest).__name__}, so it has no schema. Put @lk.tool above the "
            "function."
        )
    schema = latest.spec()["input_schema"]
    unit = schema["properties"].get("unit")
    if unit is None:
        return (
            "A model can't ask for °F: the schema has no argument `unit`. It has "
            f"{', '.join(schema['properties'])}. Add a parameter to the function."
        )
    values = _values(unit) - {None}
    if not values:
        return (
            "A model could ask for 'Kelvin': the schema doesn't say that `unit` is C or F. Change "
            "the parameter's type."
        )
    if values != {"C", "F"}:
        return f"The schema allows {sorted(map(str, values))} for `unit`. It should allow C and F."
    if "unit" in schema.get("required", []):
        return "A model that leaves `unit` out gets an error. Give the parameter a default, C."
    for unit, right in (({"unit": "F"}, "88.5"), ({"unit": "C"}, "31.4"), ({}, "31.4")):
        if right not in str(got := latest.run(None, {"station": "beijing", **unit})):
            said = f"It is 31.4 °C in beijing, and with {unit or 'no unit'} your tool returned"
            return f"{said} {got!r}. It should contain {right}."
    return None


def _values(schema: dict[str, Any]) -> set[Any]:
    """The values that a schema allows by name, in any part of it."""
    own = {*schema.get("enum", []), *([schema["const"]] if "const" in schema else [])}
    return own.union(*map(_values, schema.get("anyOf", [])))


def check_policy(policy: Any) -> Verdict:
    """Check that reading and writing tests is allowed, bash denied, and the rest asked about."""
    cases = (
        ("reading any file", _call("read_file", "heatwatch/alerts.py"), "allow"),
        ("a new file in tests/", _call("write_file", "tests/test_alerts.py"), "allow"),
        ("an edit in tests/", _call("edit_file", "tests/test_parse.py"), "allow"),
        ("an edit outside tests/", _call("edit_file", "heatwatch/alerts.py"), "ask"),
        ("tests/../heatwatch/x.py", _call("write_file", "tests/../heatwatch/x.py"), "ask"),
        ("contests/x.py, which isn't in tests/", _call("write_file", "contests/x.py"), "ask"),
        ("heatwatch/tests/x.py", _call("write_file", "heatwatch/tests/x.py"), "ask"),
        ("bash, whatever it runs", _call("bash"), "deny"),
        ("a tool fly_to_the_moon, for which there is no rule", _call("fly_to_the_moon"), "ask"),
        (
            "delete_file, a tool without a rule, in tests/",
            _call("delete_file", "tests/test_alerts.py"),
            "ask",
        ),
    )
    return first_wrong(policy, cases)


def _call(name: str, path: str = "") -> tuple[dict[str, Any]]:
    arguments = {"path": path} if path else {"command": "ls"}
    return ({"type": "tool_use", "id": "toolu_1", "name": name, "input": arguments},)
