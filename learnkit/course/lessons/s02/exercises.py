"""Lesson 2's exercises: what is written, and what tells whether it works."""

from __future__ import annotations

from typing import Any

import learnkit as lk
from learnkit.course.lessons import Exercise, Verdict


def check_latest(latest: Any) -> Verdict:
    """The tool takes a unit, C or F and nothing else, and says so in its schema."""
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


LATEST_STUB = '''
import learnkit as lk


@lk.tool
def latest(station: str) -> str:
    """The last reading of a weather station."""
    celsius = {"beijing": 31.4, "oslo": 16.1}[station]
    return f"{celsius} °C"
'''.strip()

LATEST = '''
from typing import Literal

import learnkit as lk


@lk.tool
def latest(station: str, unit: Literal["C", "F"] = "C") -> str:
    """The last reading of a weather station."""
    celsius = {"beijing": 31.4, "oslo": 16.1}[station]
    return f"{celsius} °C" if unit == "C" else f"{celsius * 1.8 + 32:.1f} °F"
'''.strip()

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
    """Unknown tools, arguments that do not fit and exceptions all become a text and a flag."""

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


DISPATCH_STUB = """
def dispatch(tools, call):
    return tools[call["name"]](**call["input"]), False
""".strip()

DISPATCH = """
def dispatch(tools, call):
    name = call["name"]
    if name not in tools:
        return f"There is no tool {name!r}. The tools are: {', '.join(tools)}.", True
    try:
        return tools[name](**call["input"]), False
    except Exception as error:
        return f"{type(error).__name__}: {error}", True
""".strip()

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
    """Reading is free, tests may be written, the rest is asked about, bash is denied."""
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


POLICY_STUB = """
def policy(call):
    return "allow"
""".strip()

POLICY = """
from pathlib import PurePosixPath


def policy(call):
    if call.name == "bash":
        return "deny"
    if call.name == "read_file":
        return "allow"
    parts = PurePosixPath(call.input.get("path", "")).parts
    if call.name in ("write_file", "edit_file") and parts[:1] == ("tests",) and ".." not in parts:
        return "allow"
    return "ask"
""".strip()

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

EXERCISES = [
    Exercise(
        "a unit that cannot be misspelt",
        5,
        "latest",
        check_latest,
        (
            "The schema comes from the signature. Add a parameter `unit` with a default.",
            "`str` allows every text. `typing.Literal` names the values that are allowed.",
            '`unit: Literal["C", "F"] = "C"`, and °F = °C · 1.8 + 32, with one decimal.',
        ),
        LATEST,
        right=[LATEST_MATCH],
        wrong=[
            LATEST_STUB,
            LATEST.replace('Literal["C", "F"]', "str"),
            LATEST.replace(' = "C") ->', ") ->"),
            LATEST.replace("1.8 + 32", "1.8"),
        ],
    ),
    Exercise(
        "a dispatch that never raises",
        15,
        "dispatch",
        check_dispatch,
        (
            "Three things can go wrong: the name, the arguments, the tool itself.",
            "Look the name up first, and list the tools that exist. Then call inside a try.",
            "A call that does not fit raises TypeError, and its text names the argument. One "
            "`except Exception as error` covers that and the tool's own errors.",
        ),
        DISPATCH,
        right=[DISPATCH_LOOKUP],
        wrong=[
            DISPATCH_STUB,
            DISPATCH.replace("The tools are: {', '.join(tools)}.", ""),
            DISPATCH.replace('{error}", True', '{error}", False'),
            DISPATCH.replace('f"{type(error).__name__}: {error}"', '"it failed"'),
        ],
    ),
    Exercise(
        "a policy for a careful agent",
        20,
        "policy",
        check_policy,
        (
            "Look at `call.name` first; then at `call.input`.",
            "Which path is meant? `tests/../heatwatch/alerts.py` begins with tests/ and is not "
            "in tests/.",
            "Take the path apart (`PurePosixPath(path).parts`) or bring it into normal form "
            "(`posixpath.normpath`). Whatever you have not thought of: ask.",
        ),
        POLICY,
        right=[POLICY_NORM],
        wrong=[
            POLICY_STUB,
            POLICY.replace(' and ".." not in parts', ""),
            POLICY.replace('    return "ask"', '    return "allow"'),
            POLICY.replace('parts[:1] == ("tests",)', '"tests/" in call.input["path"]'),
        ],
    ),
]
