"""The page of a session: one file that loads nothing, with every turn, whatever the log holds."""

from __future__ import annotations

import base64
import gzip
import random
import re
from html import escape
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from hypothesis import Phase, given, settings
from made_sessions import Made, bash, read, text
from random_events import logs

import learnkit as lk
from learnkit.events.log import EventLog
from learnkit.events.loop import RunEnded
from learnkit.events.subagents import SubagentStarted
from learnkit.sessions import charts, samples
from learnkit.sessions.findings import findings
from learnkit.sessions.page import page
from learnkit.sessions.read import open_session
from learnkit.sessions.turns import session_of
from learnkit.widget.frozen import POLICY

CHARACTERS = [chr(code) for code in range(33, 127)]
HOSTILE = "</script><img src=x onerror=alert(1)><b onclick=alert(1)>"


class Read(HTMLParser):
    """The tags of a page and of the parts that its script unpacks, and where links lead."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: set[str] = set()
        self.places: set[str] = set()
        self.handlers: list[str] = []
        self.packed: list[str] = []
        self.feed(html)
        for part in self.packed:
            self.feed(gzip.decompress(base64.b64decode(part)).decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        given = dict(attrs)
        self.handlers += [name for name in given if name.startswith("on") or name == "src"]
        href = given.get("href") or ""
        self.links |= {href} if href.startswith("#") else set()
        self.places |= set((given.get("data-turns") or given.get("id") or "").split())
        self.open = given.get("type") == "application/gzip"

    def handle_data(self, data: str) -> None:
        if self.get_starttag_text() and getattr(self, "open", False):
            self.packed.append(data)
            self.open = False


@pytest.mark.parametrize("name", samples.NAMES)
def test_a_sample_says_why_and_its_links_lead_somewhere(name: str) -> None:
    log = open_session(samples.path(name))
    found = findings(log)
    lessons = {"s06": ("Compaction", "https://example.org/s06")}
    html = page(log, found, lessons=lessons, above=samples.NOTE)
    says = found[0].sentence if found else "Nothing stands out in this session."
    assert f"<h1>{escape(says)}</h1>" in html
    assert (f" · {len(found)} findings</p>" in html) == bool(found)
    assert re.search("≈13,40[34], by the file’s counts", html)
    assert ("lesson 6, Compaction" in html) == bool(found)
    assert "sent again" not in html
    assert samples.NOTE in html
    assert "How it ended: the model is done. Its last words: “" in html.partition("<figure>")[0]
    shown = Read(html)
    assert bool(shown.links) == bool(found)
    assert shown.links <= {f"#{place}" for place in shown.places}
    assert f'content="{POLICY}"' in html
    assert set(re.findall(r"https?://[\w.]+", html)) <= {"https://example.org"}
    assert html.count('class="disc"') == len(found)
    of_turns = sum(len(set(one.turns)) for one in found)
    badges = "".join(gzip.decompress(base64.b64decode(one)).decode() for one in shown.packed)
    assert badges.count('class="disc"') == of_turns, "each finding is also at its turns"


def test_a_finding_has_a_row_with_its_turns_below_the_columns() -> None:
    log = open_session(samples.path("thrash"))
    found, thread = findings(log), session_of(log).lead
    for width in (928, 328):
        canvas = charts.context(thread, found, width)
        discs = [canvas[f"disc {number}"] for number in range(1, len(found) + 1)]
        assert {one.x for one in discs} == {charts.DISC}, "one column at the left edge"
        low = max(one.y for one in canvas.shapes if one.key.startswith(("at ", "last")))
        for above, disc in pairwise([canvas["last"], *discs]):
            assert disc.y - above.y >= 2 * charts.DISC
        for disc, one in zip(discs, found, strict=True):
            assert disc.y > low
            spans = canvas[f"turns {disc.lines[0]}"]
            starts = [float(x) for x in re.findall(r"M([\d.]+)", spans.path)]
            columns = [canvas[f"turn {turn - 1}"].x for _, turn in one.turns]
            assert [spans.x + x for x in starts] == pytest.approx([x + 1 for x in columns], abs=0.1)


def test_a_compaction_is_a_line_over_the_whole_plot() -> None:
    thread = session_of(open_session(samples.path("subagents"))).lead
    canvas = charts.context(thread, [], 928)
    assert canvas["cut 0"].path.startswith(f"M0 {-charts.HEIGHT}V")
    assert canvas["cut 0"].x == canvas[f"turn {next(iter(thread.cuts)) - 1}"].x


@settings(max_examples=50, deadline=None, phases=(Phase.generate,))  # shrinking takes minutes
@given(logs())
def test_any_log_makes_a_page_that_holds_no_markup_of_others(log: EventLog) -> None:
    shown = Read(page(log))
    assert not shown.handlers
    assert {"img", "iframe", "link", "object"}.isdisjoint(shown.tags)
    assert shown.tags.count("script") == 2 + len(shown.packed)


def test_markup_in_every_place_stays_text() -> None:
    made = Made().prompt(HOSTILE)
    about = {"title": HOSTILE, "cwd": f"/{HOSTILE}", "format": HOSTILE, "left_out": {HOSTILE: 1}}
    warned = [{"line": 1, "text": HOSTILE}]
    unknown = {f"line {HOSTILE}": 1}
    made.log.append("session.opened", **about, lines={}, unknown=unknown, warnings=warned)
    uses = [read(HOSTILE, HOSTILE), bash(HOSTILE, HOSTILE, failed=True)]  # it fails three times
    made.turn(*uses, *uses, *uses, says=HOSTILE, model=HOSTILE)
    made.add(SubagentStarted(parent="lead", prompt=HOSTILE), HOSTILE)
    made.turn(lane=HOSTILE, says=HOSTILE)
    html = page(made.end())
    assert html.count("&lt;b onclick") > 5
    assert not Read(html).handlers
    assert "<b onclick" not in html


@pytest.mark.slow
def test_a_thousand_turns_are_less_than_three_megabytes() -> None:
    letters = random.Random(1)
    made = Made().prompt()
    for _ in range(1000):
        made.turn(bash("make", "".join(letters.choices(CHARACTERS, k=2400))))
    html = page(made.end())
    assert len(html.encode()) < 3_000_000
    assert len({place for place in Read(html).places if place.startswith("t-lead-")}) == 1001
    assert "Texts are cut at 700 characters." in html


def test_a_request_is_piled_up_to_the_servers_count() -> None:
    thread = session_of(open_session(samples.path("thrash"))).lead
    for turn in thread.turns:
        pile = charts.piled(thread, turn, charts.marks_of(thread))
        assert sum(pile.values()) == pytest.approx(turn.usage.sent)
        assert pile[charts.FIXED] == pytest.approx(13_404, abs=3)


def test_a_request_that_was_not_counted_follows_the_last_one_that_was() -> None:
    made = Made().prompt().turn(bash("a", text(1000)), usage=(0, 5_000))
    made.turn(bash("b", text(1000)), usage=(5_000, 2_000)).turn()
    thread = session_of(made.log).lead
    counted, last = thread.turns[1:]
    per_token = (7_000 - thread.fixed()) / counted.estimate
    assert thread.size(last) == pytest.approx(thread.fixed() + per_token * last.estimate, abs=1)
    assert per_token > 1.5  # else the estimate alone would do


def test_a_prompt_that_goes_back_takes_the_place_of_what_it_follows() -> None:
    made = Made().prompt().turn(bash("a", text(1000))).turn(bash("b", text(2000)))
    made.messages["lead"] = 3  # back to the first result
    turn = session_of(made.prompt("Not so.").turn().log).lead.turns[-1]
    assert turn.parts["tool", "Bash"] == pytest.approx(1000, abs=60)


def test_waiting_takes_no_room_on_the_scale_of_time() -> None:
    made = Made().prompt().turn(bash("a", seconds=40))
    made.add(RunEnded(reason="end_turn"))
    made.now += 50_000
    session = session_of(made.prompt("More.").turn(bash("b", seconds=40)).end() and made.log)
    assert session.waited == 50_000
    canvas = charts.time_line(session, 900)
    calls = re.findall(r"M([\d.]+) 0h([\d.]+)", canvas["call 0"].path)
    assert [float(length) for _, length in calls] == pytest.approx([380, 380], abs=40)
    cut, models = canvas["cut 0"], re.findall(r"M([\d.]+) 0", canvas["assistant 0"].path)
    assert float(calls[0][0]) + float(calls[0][1]) <= cut.x < float(models[1]) - 20


def test_waiting_looks_as_long_as_it_was_beside_the_whole_time() -> None:
    made = Made().prompt().turn(bash("a", seconds=40))
    made.add(RunEnded(reason="end_turn"))
    made.now += 300
    session = session_of(made.prompt("More.").turn(bash("b", seconds=40)).end() and made.log)
    for width in (928, 328):
        canvas = charts.time_line(session, width)
        whole, pause, said = canvas["whole"], canvas["pause 0"], canvas["took 0"]
        share = session.waited / (session.end - session.begin)
        assert pause.width / whole.width == pytest.approx(share, abs=0.01)
        assert said.lines == ("5 min waiting for you",)
        assert pause.x < said.x
        assert said.x + said.width < pause.x + pause.width
    alone = charts.time_line(session_of(open_session(samples.path("subagents"))), 928)
    assert "whole" not in alone, "nobody was waited for"


@pytest.mark.parametrize(
    ("reason", "how"),
    [("", "It hasn’t come to an end."), ("cancelled", "How it ended: cancelled.")],
)
def test_the_outcome_is_the_last_one_and_stands_at_the_top(reason: str, how: str) -> None:
    made = Made().prompt().turn(says="Half of it.")
    made.add(RunEnded(reason="end_turn"))
    made.prompt("Go on.").turn(bash("a"))
    if reason:
        made.add(RunEnded(reason=reason))
    assert f"{how} Its last words: “Half of it.”" in page(made.log)


@pytest.mark.parametrize(
    ("turns", "numbers"), [(3, ["2"]), (27, ["10", "20"]), (152, ["50", "100"])]
)
def test_turns_are_numbered_along_the_axis(turns: int, numbers: list[str]) -> None:
    made = Made().prompt()
    for _ in range(turns):
        made.turn(bash("a"))
    canvas = charts.context(session_of(made.log).lead, [], 928)
    said = {one.key: one.lines[0] for one in canvas.shapes if one.kind == "text"}
    assert [text for key, text in said.items() if key.startswith("at ")] == numbers
    assert (said["first"], said["last"]) == ("turn 1", str(turns))


def test_many_pauses_and_agents_leave_room_for_the_work() -> None:
    made = Made()
    for number in range(200):
        made.now += 30
        made.prompt().turn(bash("a", seconds=20)).add(RunEnded(reason="end_turn"))
        made.turn(lane=f"lead.{number}")
    canvas = charts.time_line(session_of(made.log), 328)
    right = [float(x) for x in re.findall(r"M([\d.]+) 0h", canvas["call 0"].path)]
    assert right == sorted(right)
    assert 300 < right[-1] < 328
    assert canvas["gone"].lines == ("… 187 more agents …",)
    said = [one for one in canvas.shapes if one.key.startswith("took ")]
    assert all(a.x + a.width < b.x for a, b in pairwise(said))


def test_totals_of_subagents_roll_up() -> None:
    log = open_session(samples.path("subagents"))
    html = page(log)
    row = next(one for one in html.split("<tr>") if ">main agent</a>" in one)
    whole = sum(one.data["usage"]["cache_read_input_tokens"] for one in log if "usage" in one.data)
    whole += sum(
        one.data["usage"]["cache_creation_input_tokens"] + one.data["usage"]["input_tokens"]
        for one in log
        if "usage" in one.data
    )
    assert f">{whole:,}<" in row
    assert html.count("padding-left:1.2em") == 3


def test_a_cut_text_says_how_many_lines_are_gone_and_is_cut_once() -> None:
    lines = [f"line {n} of what a command printed" for n in range(300)]
    made = Made().prompt().turn(bash("\n".join(lines), "\n".join(lines), failed=True))
    html = page(made.end())
    assert "<small>failed: Bash 1</small>" in html
    parts = [gzip.decompress(base64.b64decode(one)).decode() for one in Read(html).packed]
    shown = re.findall(r'clip">(.*?)</div>', "".join(parts), re.DOTALL)
    assert len(shown) == 2  # the call and its result
    for text_of in shown:
        above, gone, below = re.split(r"\n\[… (\d+) lines not shown …\]\n", text_of)
        kept = [*above.split("\n"), *below.split("\n")]
        assert kept == [*lines[: above.count("\n") + 1], *lines[-below.count("\n") - 1 :]]
        assert len(kept) + int(gone) == 300


def test_our_own_run_costs_nothing_if_its_tokens_are_simulated() -> None:
    client = lk.scripted([lk.use("todo", items=[]), lk.say("Done.")])
    with client.clock:
        agent = lk.Agent(client, [lk.Todo()], system="Be brief.")
        agent.run("Look.")
    html = page(agent.events)
    assert "$" not in html.partition("<figure>")[0].partition("<h1>")[2]
    assert "as the log has them" in html


def test_what_could_not_be_read_is_said() -> None:
    log = EventLog()
    warned = [{"line": 7, "text": "not JSON"}, {"line": 9, "text": "not JSON"}]
    gone, kinds = {"characters": 1200}, {"line odd": 2, "field x": 1}
    log.append(
        "session.opened", format="codex", lines={}, warnings=warned, left_out=gone, unknown=kinds
    )
    html = page(log)
    assert "Line 7 could not be read: not JSON, and 1 more." in html
    assert "kept and not drawn: 2 odd." in html
    assert "Left out to stay in bounds: 1,200 characters." in html


def test_time_in_which_two_calls_overlap_counts_once() -> None:
    assert charts.busy([(0, 600), (10, 20), (590, 610), (700, 701)]) == 611
