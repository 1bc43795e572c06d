"""Writes the sample sessions: python tests/support/sample_sessions.py

All of it is made up: no model wrote the replies, no server counted the tokens. What a request is
said to have is what stands in the file (characters / 4) and HEAD tokens for what doesn't. The
format is that of Claude Code's files, as of the readers' documentation.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from learnkit.core.catalog import MODELS
from learnkit.core.token_count import estimate_tokens

FOLDER = Path(__file__).parents[2] / "learnkit" / "sessions" / "samples"
#: Tokens of the system prompt and the tools.
HEAD = 13_400
OPUS, _, SONNET = list(MODELS)[:3]
#: Where it is said to have been; put together, as no file may have a path of one machine.
WORK = "/".join(("", "home", "ada", "heatwatch"))


@dataclass
class Writer:
    """The lines of one session, written in the order in which things happen."""

    name: str
    title: str
    begin: datetime
    model: str = OPUS
    lines: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.now = self.begin
        self.last: str | None = None
        self.tokens, self.cached = HEAD, 0
        self.agent = ""
        self.lines.append({"type": "summary", "summary": self.title, "leafUuid": self.uuid()})

    def uuid(self) -> str:
        return f"{len(self.lines):08x}-5a3e-4c1d-9b00-{number_of(self.name):012x}"

    def write(self, kind: str, **rest: Any) -> None:
        uuid = self.uuid()
        line = {
            "parentUuid": self.last,
            "isSidechain": bool(self.agent),
            **({"agentId": self.agent} if self.agent else {}),
            "userType": "external",
            "cwd": WORK,
            "sessionId": f"{number_of(self.name):08x}-0000-4000-8000-5e5510400000",
            "version": "2.1.0",
            "gitBranch": "main",
            "type": kind,
            "uuid": uuid,
            "timestamp": self.now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z"),
            **rest,
        }
        self.lines.append(line)
        self.last = uuid

    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def person(self, text: str, after: float = 0) -> None:
        self.wait(after)
        self.write("user", message={"role": "user", "content": text})
        self.tokens += estimate_tokens({"type": "text", "text": text})

    def model_says(self, blocks: list[dict[str, Any]], seconds: float) -> None:
        self.wait(seconds)
        size = sum(map(estimate_tokens, blocks))
        usage = {
            "input_tokens": 4,
            "cache_creation_input_tokens": self.tokens - self.cached,
            "cache_read_input_tokens": self.cached,
            "output_tokens": size,
            "service_tier": "standard",
        }
        self.cached = self.tokens
        self.tokens += size
        number = len(self.lines)
        calls = any(block["type"] == "tool_use" for block in blocks)
        for place, block in enumerate(blocks):
            stop = ("tool_use" if calls else "end_turn") if place == len(blocks) - 1 else None
            message = {
                "id": f"msg_{self.name}_{number}",
                "type": "message",
                "role": "assistant",
                "model": self.model,
                "content": [block],
                "stop_reason": stop,
                "stop_sequence": None,
                "usage": usage,
            }
            self.write("assistant", message=message, requestId=f"req_{self.name}_{number}")

    def say(self, text: str, seconds: float = 4) -> None:
        self.model_says([{"type": "text", "text": text}], seconds)

    def call(
        self,
        name: str,
        given: dict[str, Any],
        result: str,
        *,
        says: str = "",
        thinks: float = 5,
        takes: float = 1,
        error: bool = False,
    ) -> None:
        blocks: list[dict[str, Any]] = [{"type": "text", "text": says}] if says else []
        id = f"toolu_{self.name}_{len(self.lines):04d}"
        blocks.append({"type": "tool_use", "id": id, "name": name, "input": given})
        self.model_says(blocks, thinks)
        self.wait(takes)
        self.result(id, result, error)

    def result(self, id: str, text: str, error: bool = False, **outcome: Any) -> None:
        block = {"type": "tool_result", "tool_use_id": id, "content": text}
        if error:
            block = {**block, "is_error": True}  # type: ignore[dict-item]
        extra = {"toolUseResult": outcome} if outcome else {}
        self.write("user", message={"role": "user", "content": [block]}, **extra)
        self.tokens += estimate_tokens(block)

    def read(self, path: str, text: str, **more: Any) -> None:
        lines = text.splitlines()
        numbered = "\n".join(
            f"{n:6}\t{line}" for n, line in enumerate(lines, more.get("offset", 1))
        )
        self.call("Read", {"file_path": f"{WORK}/{path}", **more}, numbered, thinks=3)

    def edit(self, path: str, old: str, new: str, *, error: str = "", says: str = "") -> None:
        given = {"file_path": f"{WORK}/{path}", "old_string": old, "new_string": new}
        done = f"The file {WORK}/{path} has been updated."
        self.call("Edit", given, error or done, error=bool(error), says=says, thinks=7)

    def bash(self, command: str, output: str, *, error: bool = False, **more: Any) -> None:
        self.call("Bash", {"command": command}, output, error=error, **more)

    def plan(self, *items: str) -> None:
        """A plan; an item that begins with + is done, one with > is in progress."""
        states = {"+": "completed", ">": "in_progress"}
        todos = [
            {"content": one.lstrip("+> "), "status": states.get(one[0], "pending")} for one in items
        ]
        self.call("TodoWrite", {"todos": todos}, "Todos have been modified.", thinks=3)

    def text(self) -> str:
        """What the file holds."""
        return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in self.lines)


def number_of(name: str) -> int:
    return sum(ord(char) * 7**place for place, char in enumerate(name))


def source(module: str, names: list[str], lines: int = 5) -> str:
    """A module that looks like code."""
    head = f'"""{module.capitalize()} of the weather stations."""\n\nfrom pathlib import Path\n\n'
    parts = []
    for name in names:
        steps = [
            f"    value_{n} = readings[{n}].celsius - readings[{n}].offset  # step {n}"
            for n in range(lines)
        ]
        body = "\n".join(steps)
        parts.append(
            f"\ndef {name}(readings):\n"
            f'    """Return the {name.replace("_", " ")} of a station."""\n'
            f"{body}\n    return [value_0, value_{lines - 1}]\n"
        )
    return head + "\n".join(parts)


def printed(passed: int, failed: tuple[str, ...], seconds: float) -> str:
    """What pytest -v prints."""
    files = ("alerts", "parse", "stations", "rules", "mail")
    total = passed + len(failed)
    rows = [
        f"tests/test_{files[n % 5]}.py::test_{files[n % 5]}_case_{n:02d} PASSED"
        f"  [{100 * (n + 1) // total:3d}%]"
        for n in range(passed)
    ]
    rows += [f"{name} FAILED  [100%]" for name in failed]
    for name in failed:
        short = name.rpartition("::")[2]
        rows += [
            f"_____ {short} _____",
            "    def test_one_mail_for_one_reading(outbox):",
            "        check(station('north', 31.4))",
            "        check(station('north', 31.4))",
            ">       assert len(outbox) == 1",
            "E       AssertionError: assert 2 == 1",
        ]
    end = f"{len(failed)} failed, " * bool(failed) + f"{passed} passed in {seconds:.2f}s"
    return "\n".join(["===== test session starts =====", *rows, f"===== {end} ====="])


ALERTS = source("alerts", ["too_hot", "subject", "outbox", "sent_before", "mail", "check"])
RULES = source("rules", [f"rule_{n}" for n in range(8)])
PARSE = source("parse", ["rows", "header", "latest", "names", "missing"])
FAILS = "tests/test_alerts.py::test_one_mail_for_one_reading"


def good() -> Writer:
    """A bug is found, fixed and checked: nothing stands out."""
    day = datetime(2026, 11, 20, 9, 12, tzinfo=UTC)
    one = Writer("good", "Made up by learnkit: a fix that goes well", day)
    one.person(
        "Some stations get two mails for the same reading. Find out why, add a test that shows it, "
        "and fix it."
    )
    one.plan("> find out why", "write a test that fails", "fix it", "run all tests")
    one.bash('grep -rn "def mail\\|check(" heatwatch', "heatwatch/alerts.py:31:def mail(readings):")
    one.read("heatwatch/alerts.py", ALERTS)
    one.read("heatwatch/parse.py", PARSE)
    one.plan("+ find out why", "> write a test that fails", "fix it", "run all tests")
    one.edit(
        "tests/test_alerts.py",
        "# the end",
        "def test_one_mail_for_one_reading(outbox):\n    check(station('north', 31.4))\n"
        "    check(station('north', 31.4))\n    assert len(outbox) == 1\n",
        says="The outbox is asked for today's mails only, and a reading at midnight belongs to "
        "yesterday. First a test that shows it.",
    )
    one.bash(
        "pytest -q tests/test_alerts.py", printed(11, (FAILS,), 0.64)[-420:], error=True, takes=3
    )
    one.plan("+ find out why", "+ write a test that fails", "> fix it", "run all tests")
    one.edit(
        "heatwatch/alerts.py",
        "    value_0 = readings[0].celsius",
        "    if sent_before(readings[0]):\n        return None\n    value_0 = readings[0].celsius",
    )
    one.bash("pytest -q tests/test_alerts.py", "12 passed in 0.62s", takes=3)
    one.bash("pytest -q && ruff check", "58 passed in 2.44s\nAll checks passed!", takes=6)
    one.plan("+ find out why", "+ write a test that fails", "+ fix it", "+ run all tests")
    one.say(
        "A reading at midnight was looked up under the wrong day, so its mail was written again. "
        "`check` now asks for the reading itself. The new test failed before and passes now, and "
        "so do the other 57."
    )
    one.person("Thanks. Say so in the changelog, too.", after=140)
    one.edit(
        "CHANGELOG.md", "## Next\n", "## Next\n\n- One mail for each reading, at midnight too.\n"
    )
    one.say("The changelog has a line about it, under Next.")
    return one


def thrash() -> Writer:
    """The same long output, the same file and the same error, again and again."""
    day = datetime(2026, 11, 23, 14, 3, tzinfo=UTC)
    one = Writer("thrash", "Made up by learnkit: a session that goes in circles", day, SONNET)
    one.person("test_one_mail_for_one_reading fails. Make it pass, and tidy up the rules module.")
    one.plan("> make the test pass", "tidy up rules.py", "update the changelog")
    one.bash(
        "pytest -v", printed(300, (FAILS,), 9.31), error=True, takes=11, says="I'll run the tests."
    )
    one.read("heatwatch/rules.py", RULES)
    one.read("heatwatch/alerts.py", ALERTS)
    guesses = [
        ("The limit may be compared too early.", "    value_1 ", "    early_1 "),
        ("Perhaps the outbox is empty at that time.", "    value_2 ", "    first_2 "),
        ("It could be the order of the rules.", "    value_3 ", "    third_3 "),
        ("Let me try with a copy of the readings.", "    value_4 ", "    copy_4 "),
    ]
    for number, (says, old, new) in enumerate(guesses):
        one.edit("heatwatch/alerts.py", old, new, says=says)
        one.bash("pytest -v", printed(300, (FAILS,), 9.1 + number / 7), error=True, takes=11)
        if number % 2:
            one.read("heatwatch/rules.py", RULES)
    one.bash("git diff --stat", " heatwatch/alerts.py | 8 ++++----\n 1 file changed", takes=1)
    one.model, one.cached = OPUS, 0  # a switch of the model
    one.read("heatwatch/rules.py", RULES)
    missing = "String to replace not found in file."
    one.edit("heatwatch/rules.py", "def rule_2(reading):", "def hot(reading):", error=missing)
    one.edit("heatwatch/rules.py", "def rule_2(reading) :", "def hot(reading):", error=missing)
    one.edit("heatwatch/rules.py", "def rule_3(reading):", "def dry(reading):", error=missing)
    one.read("heatwatch/rules.py", RULES)
    one.bash("pytest -v", printed(300, (FAILS,), 9.77), error=True, takes=11)
    one.say(
        "The test still fails. Should a second mail be written if the first one was deleted from "
        "the outbox?"
    )
    one.cached = 0  # it expires
    one.person("No. One mail for a reading, whatever is in the outbox.", after=760)
    one.edit(
        "heatwatch/alerts.py",
        "    copy_4 ",
        "    if readings[0].id in SENT:\n        return None\n    value_4 ",
        says="Then what was sent has to be remembered apart from the outbox.",
    )
    one.bash("pytest -v", printed(301, (), 9.42), takes=11)
    one.edit("heatwatch/rules.py", "def rule_2(readings):", "def hot(readings):")
    one.edit("heatwatch/rules.py", "def rule_3(readings):", "def dry(readings):")
    one.say("All tests pass now, and the rules have names that say what they do.")
    return one


def subagents() -> Writer:
    """Three subagents read, one of them again, and a compaction takes files away."""
    day = datetime(2026, 11, 24, 10, 30, tzinfo=UTC)
    one = Writer("subagents", "Made up by learnkit: three subagents and a compaction", day)
    one.person(
        "Every station should be able to have limits of its own. Look at how limits, stations and "
        "mails work first, then build it."
    )
    stations = source("stations", [f"station_{n}" for n in range(14)], 7)
    mails = source("mails", [f"mail_{n}" for n in range(12)], 7)
    limits = source("limits", [f"limit_{n}" for n in range(14)], 7)
    one.read("heatwatch/limits.py", limits)
    one.read("heatwatch/stations.py", stations)
    _explore(one, limits=limits, stations=stations, mails=mails)
    one.plan("> a table of limits", "read it in check", "tests", "the manual")
    for number in range(5):
        part = source(f"part {number}", [f"limit_{number}_{n}" for n in range(9)], 7)
        one.read(f"heatwatch/parts/part_{number}.py", part)
        one.edit(
            f"heatwatch/parts/part_{number}.py",
            f"def limit_{number}_0(readings):",
            f"def limit_{number}_0(readings, limits):",
        )
    one.bash("pytest -q", "3 failed, 149 passed in 9.61s", error=True, takes=11)
    before = one.tokens
    one.wait(14)
    about = {"trigger": "manual", "preTokens": before}
    one.write(
        "system",
        subtype="compact_boundary",
        content="Conversation compacted",
        level="info",
        isMeta=False,
        compactMetadata=about,
    )
    summary = (
        "This session is continued from an earlier conversation. Summary: every station gets "
        "limits of its own. limits.py has a table now, and five parts take it as an argument. "
        "Three tests fail: they call the parts without it. Left: the callers in stations.py, the "
        "tests, and the manual."
    )
    one.tokens, one.cached = HEAD, HEAD
    one.write(
        "user",
        message={"role": "user", "content": summary},
        isCompactSummary=True,
        isVisibleInTranscriptOnly=True,
    )
    one.tokens += estimate_tokens({"type": "text", "text": summary})
    one.person("Go on.", after=20)
    one.read("heatwatch/limits.py", limits)
    one.read("heatwatch/stations.py", stations)
    one.edit(
        "heatwatch/stations.py", "def station_3(readings):", "def station_3(readings, limits):"
    )
    one.edit("tests/test_parts.py", "limit_0_0(readings)", "limit_0_0(readings, LIMITS)")
    one.bash("pytest -q", "152 passed in 9.42s", takes=11)
    one.plan("+ a table of limits", "+ read it in check", "+ tests", "> the manual")
    one.edit("docs/manual.md", "## Limits\n", "## Limits\n\nEach station has its own.\n")
    one.plan("+ a table of limits", "+ read it in check", "+ tests", "+ the manual")
    one.say("Every station has limits of its own now, all 152 tests pass, and the manual says how.")
    return one


def _explore(one: Writer, *, limits: str, stations: str, mails: str) -> None:
    """Three subagents side by side, each in lines of its own."""
    jobs = {
        "How limits work": [("limits.py", limits), ("stations.py", stations)],
        "How stations are read": [("parse.py", PARSE), ("rules.py", RULES)],
        "How mails are written": [("mails.py", mails), ("alerts.py", ALERTS)],
    }
    calls = [
        {
            "type": "tool_use",
            "id": f"toolu_explore_{number}",
            "name": "Task",
            "input": {
                "description": name,
                "prompt": f"{name} in heatwatch? Read what you need, and report in five sentences.",
                "subagent_type": "Explore",
            },
        }
        for number, name in enumerate(jobs)
    ]
    says = {"type": "text", "text": "Three subagents will read; I only need their reports."}
    one.model_says([says, *calls], 6)
    begun, parent = one.now, (one.last, one.tokens, one.cached)
    ends = []
    for number, (call, files) in enumerate(zip(calls, jobs.values(), strict=True)):
        one.now, one.last, one.agent = begun, None, f"a{number}explore"
        one.tokens, one.cached = HEAD // 2, 0
        one.person(str(call["input"]["prompt"]))  # type: ignore[index]
        for name, text in files:
            one.read(f"heatwatch/{name}", text)
            one.bash(f'grep -n "def " heatwatch/{name}', "\n".join(text.splitlines()[5:40:7]))
        one.say(
            "The functions take a list of readings and compare the first and the last. None of "
            "them knows a station. The limit is a constant.",
            8 + 9 * number,
        )
        ends.append(one.now)
    one.agent = ""
    one.last, one.tokens, one.cached = parent
    for number, call in enumerate(calls):
        one.now = ends[number]
        text = "The functions take a list of readings. None of them knows a station."
        one.result(str(call["id"]), text, agentId=f"a{number}explore", status="completed")


SAMPLES = (good, thrash, subagents)

if __name__ == "__main__":
    for make in SAMPLES:
        path = FOLDER / f"{make.__name__}.jsonl"
        path.write_text(make().text(), "utf-8")
        print(f"{path.name}: {path.stat().st_size:,} bytes")
