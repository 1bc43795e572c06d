"""Lesson 2's exercises: their checks, and right and wrong sources to test them with."""

from __future__ import annotations

from typing import Any

import learnkit as lk
from learnkit.course.lessons import Verdict
from learnkit.course.lessons.sources import SOLUTION, Check


def check_latest(latest: Any) -> Verdict:
    """Check that a tool takes the unit C or F and no other, and that its schema says so.

    Args:
        latest: the learner's tool, of a station and a unit.
    """
    if not isinstance(latest, lk.Tool):
        return "`latest` is a plain function: put @lk.tool above it"
    schema = latest.spec()["input_schema"]
    unit = schema["properties"].get("unit")
    if unit is None:
        return f"its schema has no argument `unit`; it has {', '.join(schema['properties'])}"
    values = unit.get("enum") or schema.get("$defs", {}).get("Unit", {}).get("enum")
    if sorted(values or []) != ["C", "F"]:
        return "the schema does not say which units there are, so a model can write 'Kelvin'"
    if "unit" in schema.get("required", []):
        return "a model that leaves the unit out is refused; give it a default"
    hot, cold = (latest.run(None, {"station": "beijing", "unit": unit}) for unit in "FC")
    if "88.5" not in str(hot):
        return f"31.4 °C is 88.5 °F (rounded), but for unit F it said {hot!r}"
    if "31.4" not in str(cold):
        return f"for unit C it said {cold!r}, without the 31.4"
    return None


LATEST_MATCH = '''
from typing import Literal

import learnkit as lk


def latest(station: str, unit: Literal["F", "C"] = "C") -> str:
    """The last reading of a weather station, in degrees of the unit asked for."""
    value = {"beijing": 31.4, "oslo": 16.1}[station]
    match unit:
        case "F":
            value = round(value * 9 / 5 + 32, 1)
    return f"{value} degrees {unit}"


latest = lk.tool(latest)
'''.strip()


def check_dispatch(dispatch: Any) -> Verdict:
    """Check that an unknown tool, unfit arguments and an exception each become a text and a flag.

    Args:
        dispatch: the learner's function of the tools and one call.
    """

    def double(number: int) -> str:
        """Twice a number."""
        return str(number * 2)

    def fragile() -> str:
        """Always fails."""
        raise OSError("the disk is full")

    tools = {"double": double, "fragile": fragile}
    cases: list[tuple[str, dict[str, Any], bool, str, str]] = [
        ("double", {"number": 4}, False, "8", "a call that fits"),
        ("halve", {"number": 4}, True, "double", "an unknown tool: name those that exist"),
        ("double", {"n": 4}, True, "n", "an argument that does not fit: name it"),
        ("fragile", {}, True, "the disk is full", "a tool that raises: say what it said"),
    ]
    for name, arguments, failed, needle, what in cases:
        returned = dispatch(tools, {"name": name, "input": arguments})
        if not (isinstance(returned, tuple) and len(returned) == 2):
            return f"it must return a pair (text, is_error); for {what} it returned {returned!r}"
        text, is_error = returned
        if bool(is_error) != failed:
            return f"{what}: is_error is {is_error!r}"
        if needle not in str(text):
            return f"{what}: the text is {text!r}"
    return None


DISPATCH_LOOKUP = """
def dispatch(tools, call):
    try:
        tool = tools[call["name"]]
    except KeyError as missing:
        return f"unknown tool {missing}; there are {sorted(tools)}", True
    try:
        output = tool(**call["input"])
    except (TypeError, ValueError, OSError) as error:
        return f"it failed: {error}", True
    else:
        return output, False
""".strip()


def check_policy(policy: Any) -> Verdict:
    """Check that reading and writing tests is allowed, bash is denied, and the rest is asked about.

    Args:
        policy: the learner's function of a call.
    """
    cases = [
        ("read_file", {"path": "heatwatch/alerts.py"}, "allow", "reading"),
        ("write_file", {"path": "tests/test_alerts.py", "content": "x"}, "allow", "a new test"),
        ("edit_file", {"path": "tests/test_parse.py"}, "allow", "changing a test"),
        ("edit_file", {"path": "heatwatch/alerts.py"}, "ask", "changing the package"),
        ("write_file", {"path": "tests/../heatwatch/alerts.py"}, "ask", "a path with .. in it"),
        ("write_file", {"path": "contests/x.py"}, "ask", "a folder that only ends like tests"),
        ("bash", {"command": "ls"}, "deny", "bash, whatever it runs"),
        ("fly_to_the_moon", {}, "ask", "a tool that you have not thought of"),
    ]
    for name, arguments, wanted, what in cases:
        given = policy(lk.Call("toolu_1", name, arguments))
        decision = given[0] if isinstance(given, tuple) else given
        if decision != wanted:
            return f"{what} ({name} {arguments}): {decision!r}, but it should be {wanted!r}"
    return None


POLICY_NORM = """
import posixpath


def policy(call):
    path = posixpath.normpath(str(call.input.get("path", "")))
    match call.name:
        case "bash":
            return "deny", "use the file tools"
        case "read_file":
            return "allow"
        case "write_file" | "edit_file" if path.startswith("tests/"):
            return "allow"
    return "ask"
""".strip()


EXERCISES = {
    "latest": Check(
        check_latest,
        right=[LATEST_MATCH],
        wrong=[
            SOLUTION.replace('Literal["C", "F"]', "str"),
            SOLUTION.replace(' = "C") ->', ") ->"),
            SOLUTION.replace("1.8 + 32", "1.8"),
        ],
    ),
    "dispatch": Check(
        check_dispatch,
        right=[DISPATCH_LOOKUP],
        wrong=[
            SOLUTION.replace("The tools are: {', '.join(tools)}.", ""),
            SOLUTION.replace('{error}", True', '{error}", False'),
            SOLUTION.replace('f"{type(error).__name__}: {error}"', '"it failed"'),
        ],
    ),
    "policy": Check(
        check_policy,
        right=[POLICY_NORM],
        wrong=[
            SOLUTION.replace(' and ".." not in parts', ""),
            SOLUTION.replace('    return "ask"', '    return "allow"'),
            SOLUTION.replace('parts[:1] == ("tests",)', '"tests/" in call.input["path"]'),
        ],
    ),
}
