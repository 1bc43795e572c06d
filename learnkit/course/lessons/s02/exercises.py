"""Lesson 2's exercises: what is wrong with an answer."""

from __future__ import annotations

from typing import Any

import learnkit as lk
from learnkit.course.content import Verdict


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
    hot, cold, left_out = (
        latest.run(None, {"station": "beijing", **more})
        for more in ({"unit": "F"}, {"unit": "C"}, {})
    )
    if "88.5" not in str(hot):
        return f"31.4 °C is 88.5 °F. For beijing and unit F your tool returned {hot!r}."
    if "31.4" not in str(cold):
        return f"For beijing and unit C your tool returned {cold!r}. It should contain 31.4."
    if "31.4" not in str(left_out):
        return (
            f"For beijing without a unit your tool returned {left_out!r}. It should contain 31.4, "
            "because the default is C."
        )
    return None


def _values(schema: dict[str, Any]) -> set[Any]:
    """The values that a schema allows by name, in any part of it."""
    own = {*schema.get("enum", []), *([schema["const"]] if "const" in schema else [])}
    return own.union(*map(_values, schema.get("anyOf", [])))


def check_policy(policy: Any) -> Verdict:
    """Check that reading and writing tests is allowed, bash denied, and the rest asked about."""
    cases = [
        ("read_file", "heatwatch/alerts.py", "allow", "reading is allowed everywhere"),
        ("write_file", "tests/test_alerts.py", "allow", "it's a new file in tests/"),
        ("edit_file", "tests/test_parse.py", "allow", "the file is in tests/"),
        ("edit_file", "heatwatch/alerts.py", "ask", "the file is outside tests/"),
        ("write_file", "tests/../heatwatch/alerts.py", "ask", "the path leads out of tests/"),
        ("write_file", "contests/x.py", "ask", "the folder's name only ends like tests/"),
        ("write_file", "heatwatch/tests/x.py", "ask", "only the tests/ at the top is meant"),
        ("bash", None, "deny", "bash is denied, whatever it runs"),
        ("fly_to_the_moon", None, "ask", "no rule covers this tool"),
    ]
    for name, path, wanted, why in cases:
        arguments = {"command": "ls"} if path is None else {"path": path}
        given = policy({"type": "tool_use", "id": "toolu_1", "name": name, "input": arguments})
        if given != wanted:
            return (
                f"For {name} {arguments} your policy returned {given!r}. It should return "
                f"{wanted!r}, because {why}."
            )
    return None


EXERCISES = {
    "latest": check_latest,
    "policy": check_policy,
}
