"""Each finding on both sides of its threshold, and what the samples have."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from made_sessions import LARGE, SMALL, Made, Use, bash, edit, read, text
from project import ROOT

from learnkit.events.compaction import CompactionSummarised
from learnkit.events.log import EventLog
from learnkit.events.loop import MessagesRewritten
from learnkit.events.subagents import SubagentStarted
from learnkit.sessions import findings as f
from learnkit.sessions import samples
from learnkit.sessions.findings import findings
from learnkit.sessions.read import open_session


def kinds(log: EventLog) -> set[str]:
    return {one.kind for one in findings(log)}


def cached(
    lost: int,
    *,
    pause: float = 0,
    model: str = SMALL,
    left: int = 1,
    hour: bool = False,
    fixed: int = 0,
    written: bool = True,
) -> EventLog:
    """Two turns, between which the cache loses so many tokens and keeps others."""
    made = Made().prompt()
    if fixed:
        made.turn(bash("ls"), usage=(0, fixed))
    made.turn(bash("ls"), usage=(lost, left), hour=hour)
    made.now += pause
    made.turn(usage=(left, (lost + 50) * written, (lost + 50) * (not written)), model=model)
    return made.log


def thoughtful(tokens: int, drop: int, *, cleared: int = 0) -> EventLog:
    """A turn thinks so much, and a later request is so much shorter by the server's count."""
    made = Made().prompt().turn(bash("ls"), thinks=text(tokens))
    made.turn(bash("ls"), usage=(0, 20_000))
    if cleared:
        made.add(
            MessagesRewritten(messages=({"role": "user", "content": "Go on."},), why="cleared")
        )
        made.messages["lead"] = 1
    return made.turn(usage=(20_000 - drop, 0)).log


def aged(turns: int, tokens: int, said: int = 1) -> EventLog:
    """A long output, so many turns, and the last request; the prompt has tokens, too."""
    made = Made().prompt(text(said)).turn(bash("ls", text(tokens)))
    return made.each([edit("a.md")] * turns).end()


def child(files: int, tokens: int, *, before: bool = True) -> EventLog:
    """A parent reads, and a subagent reads the same; or the other way round."""
    reads = [read(f"{n}.py", text(tokens, f"word{n}")) for n in range(files)]
    made = Made().prompt()
    made.each(reads) if before else None
    made.add(SubagentStarted(parent="lead", call="1", prompt="Look."), "lead.1")
    made.prompt("Look.", "lead.1").turn(*reads, lane="lead.1").turn(lane="lead.1")
    made.each(reads) if not before else None
    return made.end()


def compacted(before: int, *, files: int = 0, tokens: int = 900, model: str = SMALL) -> EventLog:
    made = Made().prompt()
    reads = [read(f"{n}.py", text(tokens, f"word{n}")) for n in range(files)]
    made.each(reads).turn(bash("ls"), model=model)
    summary = {"role": "user", "content": "A summary."}
    made.add(MessagesRewritten(messages=(summary,)))
    made.add(CompactionSummarised(before=before, after=10))
    made.messages["lead"] = 1
    return made.each(reads).end()


def planned(*states: str, stop: str = "end_turn") -> EventLog:
    todos = {"todos": [{"content": "a", "status": state} for state in states]}
    return Made().prompt().turn(Use("TodoWrite", todos)).end(stop=stop)


def codex_plan(*states: str) -> Use:
    return Use("update_plan", {"plan": [{"step": "a", "status": state} for state in states]})


def failing(
    times: int, *, outputs: tuple[str, ...] = ("E 1 == 2 in 0.31s", "E 1 == 2 in 0.48s")
) -> EventLog:
    runs = [bash("make x", outputs[n % len(outputs)], failed=True) for n in range(times)]
    return Made().prompt().each(runs).end()


def ended(*uses: Use, says: str = "The bug is fixed.", stop: str = "end_turn") -> EventLog:
    return Made().prompt().each(uses).end(says, stop)


S = 12_000
DONE, OPEN = "completed", "pending"
tests, wrong = bash("pytest -q"), bash("pip install pytest")

#: Kind -> logs that have such a finding, and logs that are just short of it.
CASES: dict[str, tuple[list[Callable[[], EventLog]], list[Callable[[], EventLog]]]] = {
    "cache_rewritten": (
        [lambda: cached(f.BREAK), lambda: cached(f.BREAK, pause=f.LIFETIME - 2)],
        [
            lambda: cached(f.BREAK - 1),
            lambda: cached(f.BREAK, pause=f.LIFETIME + 2),
            lambda: cached(f.BREAK, left=f.BREAK + 1),  # most of it was there
        ],
    ),
    "cache_expired": (
        [
            lambda: cached(f.BREAK, pause=f.LIFETIME + 2),
            lambda: cached(f.BREAK, pause=f.LONG_LIFETIME + 2, hour=True),
        ],
        [
            lambda: cached(f.BREAK, pause=f.LONG_LIFETIME - 2, hour=True),
            lambda: cached(f.BREAK),
            lambda: cached(f.BREAK - 1, pause=f.LIFETIME + 2),
        ],
    ),
    "old_output": (
        [lambda: aged(f.OLD, S)],
        [
            lambda: aged(f.OLD - 1, S),
            lambda: aged(f.OLD, f.OLD_TOKENS - 50),
            lambda: aged(f.OLD, S, said=20_000),
        ],
    ),
    "command_repeated": (
        [lambda: Made().prompt().each([bash("ls", text(2_000))] * f.RUNS).end()],
        [
            lambda: Made().prompt().each([bash("ls", text(2_000))] * (f.RUNS - 1)).end(),
            lambda: Made().prompt().each([bash("ls", text(1_900))] * f.RUNS).end(),
            lambda: (
                Made().prompt().each([bash(f"ls {n}", text(2_000)) for n in range(f.RUNS)]).end()
            ),
        ],
    ),
    "large_output": (
        [lambda: Made().prompt().turn(read("a.csv", text(f.LARGE))).end()],
        [lambda: Made().prompt().turn(read("a.csv", text(f.LARGE - 50))).end()],
    ),
    "read_again": (
        [lambda: Made().prompt().each([read("a.py", text(1_000))] * f.READS).end()],
        [
            lambda: Made().prompt().each([read("a.py", text(1_000))] * (f.READS - 1)).end(),
            lambda: Made().prompt().each([read("a.py", text(900))] * f.READS).end(),
            lambda: (
                Made().prompt().each([read("a.py", text(1_000, f"w{n}")) for n in range(5)]).end()
            ),
            lambda: (
                Made().prompt().each([read("a.py", text(1_000), offset=n) for n in range(5)]).end()
            ),
        ],
    ),
    "thinking_dropped": (
        [
            lambda: thoughtful(f.THOUGHTS + 50, f.THOUGHTS),
            lambda: thoughtful(f.THOUGHTS + 50, 0, cleared=1),
        ],
        [
            lambda: thoughtful(f.THOUGHTS + 50, f.THOUGHTS - 1),
            lambda: thoughtful(f.THOUGHTS - 50, f.THOUGHTS),  # it can't be thinking alone
            lambda: thoughtful(f.THOUGHTS + 50, 3 * f.THOUGHTS),  # results were cleared
            lambda: thoughtful(f.THOUGHTS - 50, 0, cleared=1),
        ],
    ),
    "failing_again": (
        [lambda: failing(f.TRIES)],
        [lambda: failing(f.TRIES - 1), lambda: failing(f.TRIES, outputs=("E 1", "E 2", "E 3"))],
    ),
    "subagent_reread": (
        [lambda: child(f.FILES, 1_000)],
        [
            lambda: child(f.FILES - 1, 9_000),
            lambda: child(f.FILES, 900),
            lambda: child(3, 1_000, before=False),
        ],
    ),
    "late_compaction": (
        [lambda: compacted(180_000)],
        [lambda: compacted(179_999), lambda: compacted(180_000, model="unknown")],
    ),
    "read_after_compaction": (
        [lambda: compacted(1, files=f.FILES, tokens=1_000)],
        [
            lambda: compacted(1, files=f.FILES - 1, tokens=3_000),
            lambda: compacted(1, files=2, tokens=900),
        ],
    ),
    "untested_edit": (
        [lambda: ended(tests, edit("a.py")), lambda: ended(tests, edit("a.py"), says="I stopped.")],
        [
            lambda: ended(edit("a.py"), tests),
            lambda: ended(tests, edit("a.md")),
            lambda: ended(tests, edit("a.py", failed=True)),
            lambda: ended(wrong, edit("a.py")),
            lambda: ended(tests, edit("a.py"), stop="max_tokens"),
        ],
    ),
    "unchecked_done": (
        [
            lambda: ended(*[edit("a.py")] * f.UNCHECKED),
            lambda: ended(wrong, edit("a.py"), edit("b.py")),
        ],
        [
            lambda: ended(*[edit("a.py")] * (f.UNCHECKED - 1)),
            lambda: ended(tests, edit("a.py"), edit("b.py")),
            lambda: ended(edit("a.py"), edit("b.py"), says="I changed two files."),
            lambda: ended(edit("a.md"), edit("b.md")),
        ],
    ),
    "open_plan": (
        [
            lambda: planned(DONE, DONE, OPEN),
            lambda: Made().prompt().each([codex_plan(OPEN), codex_plan(DONE, OPEN, OPEN)]).end(),
        ],
        [
            lambda: Made().prompt().each([codex_plan(OPEN, OPEN, OPEN), codex_plan(DONE)]).end(),
            lambda: planned(DONE, DONE, DONE),
            lambda: planned(DONE, OPEN),
            lambda: planned(DONE, DONE, "odd"),
            lambda: planned(DONE, DONE, OPEN, stop="max_tokens"),
        ],
    ),
    "slow_commands": (
        [lambda: Made().prompt().each([bash("ls", seconds=f.SLOW_SUM / 3)] * 3).end()],
        [
            lambda: Made().prompt().each([bash("ls", seconds=f.SLOW_SUM / 3 - 1)] * 9).end(),
            lambda: Made().prompt().each([bash("ls", seconds=f.SLOW)] * 2).end(),
        ],
    ),
}


def test_every_finding_has_a_case_and_is_described() -> None:
    lessons = {finder.__name__: int(lesson[1:]) for finder, lesson, _ in f.FINDERS}
    assert set(CASES) == set(lessons)
    page = (ROOT / "docs" / "sessions.md").read_text("utf-8")
    described = dict(re.findall(r"^\| `(\w+)` \|.*\| (\d+) \|$", page, re.MULTILINE))
    assert described == {kind: str(lesson) for kind, lesson in lessons.items()}


@pytest.mark.parametrize("kind", CASES)
def test_both_sides_of_the_threshold(kind: str) -> None:
    found, not_found = CASES[kind]
    for make in found:
        assert kind in kinds(make())
    for number, make in enumerate(not_found):
        assert kind not in kinds(make()), f"case {number} of what is just short of it"


CHECKS = """
uv run pytest|/x/.venv/bin/pytest -q|python -m pytest tests|npm test|npm run test:unit|cargo test
go test ./...|make test|./gradlew test|bundle exec rspec|pnpm -w test|npx vitest run|tox -e py
cd x && pytest -q|PYTHONPATH=. pytest|ruff check .|node --test|timeout 60 pytest|(cd a; pytest)
python manage.py test|bash -lc 'pytest -q'|docker compose run app pytest|python tests/run.py
git stash && pytest|npm run build|mvn -q verify|python -m unittest|mix compile && mix dialyzer
"""
NO_CHECKS = """
pip install pytest|grep -rn pytest .|cat pytest.ini|make|git commit -m 'go test'|npm install jest
ls tests|cat tests/test_a.py|uv add --dev pytest|git add tests && git commit -m 'the test passes'
"""


@pytest.mark.parametrize(("commands", "check"), [(CHECKS, True), (NO_CHECKS, False)])
def test_what_counts_as_a_check(commands: str, check: bool) -> None:
    for command in commands.strip().replace("\n", "|").split("|"):
        log = ended(bash(command), edit("a.py"), edit("b.py"))
        assert ("untested_edit" in kinds(log)) is check, command
        assert ("unchecked_done" in kinds(log)) is not check, command


def test_a_patch_is_an_edit_wherever_it_stands() -> None:
    patch = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-1\n+2\n*** End Patch"
    shell = Use("shell", {"command": ["apply_patch", patch]})
    for use in (Use("apply_patch", {"input": patch}), shell, bash(f"apply_patch <<E\n{patch}\nE")):
        (found,) = findings(ended(tests, use, says="I stopped."))
        assert found.sentence == "Nothing tested the last edit, of a.py."


@pytest.mark.parametrize(
    ("made", "cause"),
    [
        ({"model": LARGE}, ": the model was switched, so"),
        ({"left": 1}, ": the prompt or a tool had changed, so"),
        ({"left": 3_500, "fixed": 5_000}, ": an early message had changed, so"),
        ({"left": 1, "written": False}, "at turn 2, so"),  # nothing says why
    ],
)
def test_the_cause_is_said_where_what_is_left_of_the_cache_tells_it(
    made: dict[str, Any], cause: str
) -> None:
    (found,) = findings(cached(f.BREAK, **made))
    assert cause in found.sentence


def test_no_cause_is_said_of_breaks_that_have_several() -> None:
    made = Made().prompt().turn(bash("a"), usage=(0, 9_000))
    made.turn(bash("b"), usage=(0, 9_000), model=LARGE).turn(usage=(0, 9_000), model=LARGE)
    assert "The cache broke 2 times, so ≈18,000 tokens" in findings(made.log)[0].sentence


def test_what_a_result_cost_ends_with_a_compaction() -> None:
    whole = Made().prompt().turn(bash("ls", text(f.LARGE))).each([bash("a")] * 20).end()
    made = Made().prompt().turn(bash("ls", text(f.LARGE))).each([bash("a")] * 10)
    made.add(CompactionSummarised(before=1, after=1))
    half = made.each([bash("a")] * 10).end()
    costs = [
        next(one for one in findings(log) if one.kind == "large_output") for log in (whole, half)
    ]
    assert costs[0].tokens == pytest.approx(f.LARGE * 3.1, rel=0.02)
    assert costs[1].tokens == pytest.approx(f.LARGE * 2.0, rel=0.02)


def test_the_error_of_a_call_that_fails_again_is_quoted() -> None:
    for output, said in (("= 1 =\nE  AssertionError: 2\n= 1 failed =\n", "E AssertionError: 2"),
                         ("go\nno such file\n", "no such file"), (" \n", "")):  # fmt: skip
        found = findings(failing(3, outputs=(output,)))[0]
        assert found.sentence.endswith(f"with the same error: “{said}”.")
        assert f"“{said}”" in found.quotes


def test_doubts_come_first_then_the_costliest_and_all_speak_of_turns_that_exist() -> None:
    log = open_session(samples.path("thrash"))
    found = findings(log)
    assert {one.kind for one in found[:2]} == {"untested_edit", "open_plan"}
    costs = [one.weight for one in found[2:]]
    assert costs == sorted(costs, reverse=True)
    for one in found:
        assert one.turns
        assert all(lane == "lead" and 1 <= number <= 27 for lane, number in one.turns)
        assert all(quote in one.sentence for quote in one.quotes)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("good", set()),
        (
            "thrash",
            {"command_repeated", "failing_again", "cache_expired", "cache_rewritten", "old_output"}
            | {"read_again", "untested_edit", "open_plan"},
        ),
        ("subagents", {"read_after_compaction", "subagent_reread"}),
    ],
)
def test_what_the_samples_have_and_nothing_else(name: str, expected: set[str]) -> None:
    assert kinds(open_session(samples.path(name))) == expected


@pytest.mark.parametrize("log", [EventLog(), Made().log, Made().prompt().log])
def test_a_session_with_nothing_in_it_has_no_finding(log: EventLog) -> None:
    assert findings(log) == []
