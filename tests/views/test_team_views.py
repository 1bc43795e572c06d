"""The views of a team: mail as a sequence diagram, requests as a state machine, lives as lanes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args
from xml.etree import ElementTree

import pytest
from simulated import simulate
from teams import Ran, send, spawn, when, work

import learnkit as lk
from learnkit.backends.files.tracker import RULES
from learnkit.backends.files.tracker import State as TrackerState
from learnkit.views import Protocol, Team, Traffic, protocol
from learnkit.views.drawing import static
from learnkit.views.traffic import LINES


def words(html: str) -> str:
    return " ".join(re.sub("<[^>]+>", " ", html).split())


def ran(folder: Path) -> lk.EventLog:
    """alice and bob settle something; alice is asked to shut down, and agrees."""
    board = lk.TaskBoard(folder / ".tasks")
    board.create("parse")
    run = Ran(
        folder,
        {
            "lead": when(
                ("Go.", lk.reply(spawn("alice"), spawn("bob", role="tester"))),
                ("has started", lk.use("broadcast", content="phase 1")),
                ("settled", lk.use("shutdown_request", teammate="alice")),
            ),
            "alice": when(
                ("Begin.", send("bob", "is -9999 missing?")),
                ("it is", lk.reply("settled", send("lead", "settled"))),
                ("shut down", lk.use("shutdown_response", request_id="r0000001", approve=True)),
            ),
            "bob": when(
                ("-9999", send("alice", "it is")),
                ("Task #1", lk.use("task_update", task_id=1, status="completed")),
            ),
        },
        factory=lambda name, role: [lk.Tasks(board), lk.Toolbox(work)],
        mechanisms=lambda team: [
            lk.Protocols(team),
            lk.Autonomy(team, board, idle=8),
        ],
    )
    run.go()
    return run.lead.events


@pytest.fixture
def log(tmp_path: Path) -> lk.EventLog:
    return ran(tmp_path)


def step_of(log: lk.EventLog, type: str, number: int = 0) -> int:
    """How many events there are when something has happened."""
    return [k for k, event in enumerate(log, 1) if event.type == type][number]


def test_each_message_is_a_line_and_a_broadcast_is_one(log: lk.EventLog) -> None:
    lines = [line for line in Traffic(log).at().lines if line.sender]
    sent = [event.data["mail"] for event in log if event.type == "mail.sent"]
    assert [id for line in lines for id in line.ids] == [mail["id"] for mail in sent]
    (shout,) = [line for line in lines if line.type == "broadcast"]
    assert shout.to == ("alice", "bob")


def test_a_message_is_unread_until_it_is_read(log: lk.EventLog) -> None:
    view = Traffic(log)
    sent = view.at(step_of(log, "mail.sent"))
    assert sent.people["alice"].unread == ("m1",)
    assert sent.lines[0].unread == ("m1",)
    assert "wait" in view.frame(sent)[f"lines/{sent.lines[0].key}"]
    after = view.at(step_of(log, "mail.read"))
    reader = next(line for line in after.lines if not line.sender)
    assert not set(reader.ids) & set(after.lines[0].unread)
    end = view.at()
    unread = {id for line in end.lines for id in line.unread}
    told = {id for event in log if event.type == "mail.read" for id in event.data["ids"]}
    assert unread == {e.data["mail"]["id"] for e in log if e.type == "mail.sent"} - told


def letters(*read: str) -> lk.EventLog:
    """alice writes m1 to bob, bob writes m2 to alice, alice to both m3 and m4; some are read."""
    log = lk.EventLog()
    log.append("run.started", lane="alice", prompt="x")
    for id, sender, to, type in (
        ("m1", "alice", "bob", "message"),
        ("m2", "bob", "alice", "message"),
        ("m3", "alice", "bob", "broadcast"),
        ("m4", "alice", "carol", "broadcast"),
    ):
        mail = {"id": id, "from": sender, "to": to, "content": "hello", "type": type}
        log.append("mail.sent", lane=sender, time=2 if type == "broadcast" else 1, mail=mail)
    if read:
        log.append("mail.read", lane="bob", time=3, ids=list(read), by="bob")
    return log


def arrows(log: lk.EventLog) -> list[tuple[float, float, bool]]:
    """The arrows of the static picture, downwards: where from, where to, whether dashed."""
    view = Traffic(log)
    root = ElementTree.fromstring(view.picture(view.at(), 48).svg())
    paths = [one for one in root.iter() if one.get("class") == "l injected"]
    found = []
    for line, head in zip(paths[::2], paths[1::2], strict=True):
        begin, end = (float(path.get("d", "")[1:].split()[0]) for path in (line, head))
        found.append((begin, end, line.get("d", "").count("M") > 1))
    return found


def test_in_the_static_picture_what_is_unread_is_dashed_and_what_was_read_is_solid() -> None:
    assert [dashed for _, _, dashed in arrows(letters())] == [True, True, True, True]
    assert [dashed for _, _, dashed in arrows(letters("m1"))] == [False, True, True, True]
    assert [dashed for _, _, dashed in arrows(letters("m2", "m3"))] == [True, False, False, True]


def test_in_the_live_picture_too() -> None:
    for read in ((), ("m1",), ("m2", "m3")):
        view = Traffic(letters(*read))
        shown = "".join(view.frame(view.at()).values())
        kinds = [" wait" in kind for kind in re.findall(r'<b class="ar ([^"]*)"', shown)]
        assert kinds == [id not in read for id in ("m1", "m2", "m3", "m4")]


def test_an_arrow_leads_from_who_writes_to_who_gets_it() -> None:
    log = letters()
    view = Traffic(log)
    state = view.at()
    assert list(state.people) == ["alice", "bob", "carol"]
    boxes = [
        (float(one.get("x", "")), float(one.get("x", "")) + float(one.get("width", "")))
        for one in ElementTree.fromstring(view.picture(state, 48).svg()).iter()
        if one.tag.endswith("rect") and one.get("height") == "48"
    ]

    def who(x: float) -> str:
        (place,) = [n for n, (left, right) in enumerate(boxes) if left < x < right]
        return list(state.people)[place]

    pairs = [(who(begin), who(end)) for begin, end, _ in arrows(log)]
    assert pairs == [("alice", "bob"), ("bob", "alice"), ("alice", "bob"), ("alice", "carol")]
    live = "".join(view.frame(state).values())
    assert [" back" in kind for kind in re.findall(r'<b class="ar ([^"]*)"', live)] == [
        *(False, True, False, False)
    ]
    lengths = [float(one) for one in re.findall(r"%;width:([\d.]+)%", live)]
    assert lengths == pytest.approx([100 / 3, 100 / 3, 100 / 3, 200 / 3], abs=0.1)


def test_the_table_says_what_is_read() -> None:
    rows = re.findall(r"<td>(read|unread: \d)</td></tr>", Traffic(letters("m1", "m3")).html())
    assert rows == ["read", "unread: 1", "unread: 1"]


def test_what_belongs_together_is_paired(log: lk.EventLog) -> None:
    view = Traffic(log)
    state = view.at()
    ask, answer = (line for line in state.lines if line.request == "r0000001")
    assert "r0000001" in ask.pairs
    assert "r0000001" in answer.pairs
    heads = view.frame(state)["heads/all"]
    assert re.search(r'data-pair="[^"]*m1\b', heads)


def test_types_are_words_and_glyphs_not_colours_alone(log: lk.EventLog) -> None:
    text = words(Traffic(log).html()) + " ".join(map(words, Traffic(log).at().html.values()))
    for said in (
        "to all: phase 1",
        "shut down? r0000001",
        "shutdown: r0000001 approved",
        "reads m",
    ):
        assert said in text


def test_of_many_lines_the_last_are_kept_and_the_others_counted() -> None:
    log = lk.EventLog()
    log.append("run.started", prompt="x")
    for number in range(LINES + 20):
        mail = {"id": f"m{number}", "from": "lead", "to": "bob", "content": "x", "type": "message"}
        log.append("mail.sent", mail=mail)
    state = Traffic(log).at()
    assert (len(state.lines), state.gone) == (LINES, 20)
    assert "20 earlier lines" in words(Traffic(log).frame(state)["lines/gone"])


def test_each_request_stands_in_one_state_and_has_its_handshake(log: lk.EventLog) -> None:
    view = Protocol(log)
    opened = view.at(step_of(log, "request.opened"))
    assert opened.said == "1 request: 1 pending."
    end = view.at()
    assert end.said == "1 request: 1 approved."
    text = words(view.frame(end)["list/r0000001"])
    assert "lead ─▶ alice: shut down?" in text
    assert "lead ◀─ alice: approved" in text
    assert "approved · 1 r0000001" in words(view.frame(end)["machine/all"])


def test_the_states_of_the_picture_are_those_of_the_rules() -> None:
    assert set(protocol.STATES) == set(get_args(TrackerState))
    assert {rule.after: rule.by for rule in RULES} == protocol._BY


@pytest.mark.parametrize("kind", [Traffic, Protocol, Team])
def test_eight_teammates_and_much_mail_have_a_small_static_form(tmp_path: Path, kind: Any) -> None:
    log = simulate(17, tmp_path).lead.events
    assert len({e.data["name"] for e in log if e.type == "team.spawned"}) == 8
    view = kind(log)
    html = view.html()
    assert len(html.encode()) < static.LIMIT
    names = [f"mate{number}" for number in range(8)]
    if kind is not Protocol:
        assert all(name in words(html) for name in names)


@pytest.mark.parametrize("kind", [Traffic, Protocol])
def test_what_a_model_wrote_is_escaped(kind: Any) -> None:
    bad = '<script>alert(1)</script>" onx="'
    log = lk.EventLog()
    log.append("run.started", lane="<b>", prompt=bad)
    log.append("team.spawned", name="<i>", role=bad, prompt=bad)
    mail = {"id": bad, "from": "<i>", "to": "<b>", "content": bad, "type": bad, "request_id": bad}
    log.append("mail.sent", mail=mail)
    log.append("mail.read", ids=[bad], by="<b>")
    log.append(
        "task.started", task={"id": 1, "subject": bad, "owner": bad, "status": "in_progress"}
    )
    request = {"id": bad, "kind": bad, "sender": bad, "to": bad, "content": bad, "note": bad}
    log.append("request.opened", request=request)
    view = kind(log)
    state = view.at()
    for html in [*view.frame(state).values(), view.html()]:
        assert "<script" not in html
        assert '" onx="' not in html
        assert "<i>" not in html.replace("<i></i>", "")
