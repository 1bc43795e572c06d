"""The views of a team: mail as a sequence diagram, lives as lanes."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import pytest
from canvases import said
from simulated import simulate

import learnkit as lk
from learnkit.views import Protocol, Team, Traffic
from learnkit.views.drawing import static
from learnkit.views.drawing.display import NARROW, WIDE, Canvas


def words(html: str) -> str:
    return " ".join(re.sub("<[^>]+>", " ", html).split())


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
    for id in read:
        by = {"m2": "alice", "m4": "carol"}.get(id, "bob")
        log.append("mail.read", lane=by, time=3, ids=[id], by=by)
    return log


def drawn(log: lk.EventLog, width: float = WIDE) -> Canvas:
    view = Traffic(log)
    return view.draw(view.at(), width, 48)


def arrows(log: lk.EventLog, width: float = WIDE) -> list[tuple[float, float, bool, bool]]:
    """The arrows downwards: where from, where to, whether dashed, and whether ticked."""
    canvas = drawn(log, width)
    found = []
    for shape in canvas.shapes:
        if shape.key.startswith("arrow "):
            reach = float(shape.path.removeprefix("M0 0H").partition("m")[0])
            end = shape.x + reach + (8 if reach > 0 else -8)
            ticked = shape.key.replace("arrow", "read") in canvas
            found.append((shape.x, end, "d" in shape.style, ticked))
    return found


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_what_is_unread_is_dashed_and_what_was_read_is_solid_and_ticked(width: float) -> None:
    for read in ((), ("m1",), ("m2", "m3")):
        unread = [id not in read for id in ("m1", "m2", "m3", "m4")]
        kinds = [arrow[2:] for arrow in arrows(letters(*read), width)]
        assert kinds == [(dashed, not dashed) for dashed in unread]


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_an_arrow_leads_from_who_writes_to_who_gets_it(width: float) -> None:
    log = letters()
    canvas = drawn(log, width)
    names = ["alice", "bob", "carol"]
    heads = [canvas[f"head {name}"] for name in names]
    assert [canvas[f"name {name}"].lines[0] for name in names] == names
    assert all(a.x + a.width <= b.x for a, b in itertools.pairwise(heads))
    assert heads[-1].x + heads[-1].width <= width

    def who(x: float) -> str:
        (place,) = [n for n, head in enumerate(heads) if head.x < x < head.x + head.width]
        return names[place]

    pairs = [(who(begin), who(end)) for begin, end, *_ in arrows(log, width)]
    assert pairs == [("alice", "bob"), ("bob", "alice"), ("alice", "bob"), ("alice", "carol")]


def test_an_agent_joins_where_the_lead_has_spawned_it_and_ends_where_it_shuts_down() -> None:
    log = lk.EventLog()
    log.append("run.started", prompt="x")
    mail = {"id": "m1", "from": "lead", "to": "bob", "content": "x", "type": "message"}
    log.append("mail.sent", time=1.0, mail=mail)
    log.append("team.spawned", time=2.0, name="alice", role="coder", prompt="x")
    log.append("team.status", time=3.0, name="alice", status="shutdown")
    canvas = drawn(log)
    joins = canvas["arrow 2 0"]
    head = canvas["head lead"]
    assert joins.x == pytest.approx(head.x + head.width / 2, abs=0.1)
    assert canvas["who 2"].lines == ("lead starts alice",)
    assert canvas["say 2 0"].lines == ("coder",)
    assert canvas["head alice"].y > canvas["arrow 1 0"].y > head.y
    life = canvas["life alice"]
    assert life.path.endswith(f"V{canvas['end 3'].y - life.y:g}")
    assert canvas["who 3"].lines == ("alice shuts down",)


def test_a_remote_agent_joins_and_is_lost_and_its_lifeline_ends_there() -> None:
    log = lk.EventLog()
    log.append("run.started", prompt="x")
    for time in (1.0, 60.0):
        log.append("team.joined", time=time, name="alice", role="coder", where="host2")
        log.append("team.lost", time=time + 30, name="alice", seconds=30)
    canvas = drawn(log)
    said = [one.lines[0] for one in canvas.shapes if one.key.startswith(("who", "say"))]
    assert said == 2 * ["alice joins", "coder on host2", "alice is lost", "not heard from for 30 s"]
    assert not any(one.key.startswith("arrow") for one in canvas.shapes), "it came by itself"
    life = canvas["life alice"]
    assert life.path.endswith(f"V{canvas['end 4'].y - life.y:g}")


def test_the_title_says_who_writes_to_whom_and_who_has_unread_mail() -> None:
    view = Traffic(letters("m1"))
    assert said(view, view.at(0)) == "No message has been sent yet."
    both = "alice and bob write to each other and to carol"
    assert said(view) == f"{both}; 3 agents have unread mail. 4 messages."
    read = Traffic(letters("m1", "m2", "m3", "m4"))
    assert said(read) == f"{both}; all is read. 4 messages."


def test_who_waits_for_your_reply_is_named_and_the_end_of_the_run_is_not_drawn() -> None:
    log = lk.EventLog()
    log.append("run.started", prompt="x")
    log.append("team.spawned", name="alice", role="coder", prompt="x")
    mail = {"id": "m1", "from": "alice", "to": "lead", "content": "x", "type": "message"}
    log.append("mail.sent", mail=mail)
    log.append("model.paused", lane="alice", waits="alice")
    before = Traffic(log).at()
    log.append("model.paused", lane="lead", waits="alice")
    log.append("team.status", name="alice", status="shutdown")
    assert Traffic(log).at() == before
    assert said(Traffic(log), before) == (
        "alice waits for your reply. alice writes to lead; lead has unread mail. 1 message."
    )


def test_of_many_lines_the_last_are_drawn_and_the_others_counted() -> None:
    log = lk.EventLog()
    log.append("run.started", prompt="x")
    for number in range(100):
        mail = {"id": f"m{number}", "from": "lead", "to": "bob", "content": "x", "type": "message"}
        log.append("mail.sent", mail=mail)
    view = Traffic(log)
    state = view.at()
    assert view.draw(state, WIDE, 80)["gone"].lines == ("… 20 earlier lines …",)
    assert view.draw(state, WIDE, 10)["gone"].lines == ("… 90 earlier lines …",)


@pytest.mark.slow
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
