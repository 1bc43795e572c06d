"""What is saved to share: no text by default, and never secrets or names."""

from __future__ import annotations

import base64
import gzip
import re

import pytest
from made_sessions import Made, Use, bash, edit, read

from learnkit.events.log import EventLog
from learnkit.events.subagents import SubagentStarted
from learnkit.runtime.secret_scan import mask_secrets
from learnkit.sessions import samples
from learnkit.sessions.findings import findings
from learnkit.sessions.page import page
from learnkit.sessions.read import open_session
from learnkit.sessions.redact import Redaction
from learnkit.sessions.turns import session_of

HOMES = "/ho" + "me", "/Us" + "ers"
KEY = "sk-" + "ant-api03-abcdefghijklmnopqrst"


def shown(html: str) -> str:
    """A page with its parts unpacked."""
    parts = re.findall(r'application/gzip">([^<]+)<', html)
    return html + "".join(gzip.decompress(base64.b64decode(one)).decode() for one in parts)


def saved(log: EventLog, *, keep_text: bool = False) -> tuple[str, str]:
    redaction = Redaction(keep_text=keep_text)
    found = findings(log)
    new = redaction.log(log)
    html = page(new, [redaction.finding(one) for one in found], notes=list(redaction.sentences()))
    return shown(html), str([*new])


def session(word: str) -> EventLog:
    """A session that has a word in every place where a session can have words."""
    made = Made()
    made.log.append(
        "session.opened", format="claude-code", title=word, cwd=f"/{word}/{word}", branch=word,
        id=word, path=word, lines={word: 1}, unknown={word: 1}, warnings=[{"text": word}],
    )  # fmt: skip
    made.prompt(f"{word} {word}")
    tests = bash(f"pytest -q {word}", word, failed=True)
    old = {"file_path": f"/src/{word}.py", "old_string": f"{word} {word}s"}
    for _ in range(3):
        output = f"{word} {word}\n" + f"{word} " * 900
        made.turn(tests, read(f"/src/{word}.py", output), says=f"I say {word}.")
        made.turn(Use("Edit", old, failed=True))
    made.turn(Use("TodoWrite", {"todos": [{"content": word, "status": "pending"}] * 3}))
    made.turn(edit(f"/src/{word}.py"), Use(f"mcp__{word}__do", {word: {word: [word]}}, word))
    made.add(
        SubagentStarted(parent="lead", call=word, prompt=word, description=word), f"lead.{word}"
    )
    made.prompt(word, f"lead.{word}").turn(says=word, lane=f"lead.{word}")
    made.log.append("session.line", line=3, kind=word, data={word: word})
    made.log.append("team.changed", members={word: word})
    made.message(
        "user", [{"type": word, word: {word: word}}, {"type": "text", "text": word, word: 1}]
    )
    made.prompt(word, word).turn(says=word, lane=word)  # a teammate
    return made.end(f"{word}.py is fixed, a@b.org, {word}. {word}")


def test_without_its_text_no_word_of_a_session_is_left() -> None:
    assert {"failing_again", "open_plan"} <= {one.kind for one in findings(session("qzword"))}
    for where, left in zip(("page", "log"), saved(session("qzword")), strict=True):
        assert "qzword" not in left.lower(), where


def test_agents_stay_apart_and_belong_to_their_calls() -> None:
    log = open_session(samples.path("subagents"))
    threads = session_of(Redaction().log(log)).threads
    assert len(threads) == 4
    children = {call.child for call in threads["lead"].calls.values()}
    assert children >= {lane for lane, one in threads.items() if one.parent == "lead"} > set()


def test_its_shape_is_left() -> None:
    log = open_session(samples.path("thrash"))
    before, after = session_of(log), session_of(Redaction().log(log))
    assert [turn.usage for turn in before.lead.turns] == [turn.usage for turn in after.lead.turns]
    assert after.lead.waits == before.lead.waits
    sizes = [[thread.size(turn) for turn in thread.turns] for thread in (before.lead, after.lead)]
    assert sizes[0] == sizes[1]
    parts = [[sum(turn.parts.values()) for turn in s.lead.turns] for s in (before, after)]
    assert parts[1] == pytest.approx(parts[0], rel=0.03)  # but for names of files
    calls = [[(c.name, c.failed, c.does) for c in s.calls] for s in (before, after)]
    assert calls[0] == calls[1]
    html, _ = saved(log)
    assert "A command printed ≈4,500 tokens 7 times" in html
    assert re.search(r"\[\d[\d,]* characters\]", html)
    assert re.search(r"Removed before saving: \d+ texts; of each text its length is left\.", html)


def test_with_its_text_secrets_and_names_are_gone_and_counted() -> None:
    said = f"I am ada, {HOMES[0]}/ada/app and {HOMES[1]}/ada/x, mail ada@example.org, key {KEY}"
    said += ", C:\\Users\\ada"
    assert (
        "the app of node"
        in saved(session(f"{HOMES[0]}/node/x: the app of node"), keep_text=True)[0]
    )
    html, log = saved(session(said), keep_text=True)
    for word in ("ada", "example.org", KEY, "/Users/"):
        assert word not in html, word
        assert word not in log, word
    assert "I am user, ~/app and ~/x, mail [e-mail], key [secret]" in html
    assert re.search(
        r"Removed before saving: [\d,]+ e-mails, [\d,]+ home folders, [\d,]+ secrets", html
    )
    assert "look through the page before you pass it on" in html


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        (f"a {KEY} b {KEY}-more", "a [secret] b [secret]"),
        (
            "x\n-----BEGIN RSA PRIVATE "
            + "KEY-----\nMIIEow\nIBAAK\n-----END RSA PRIVATE KEY-----\ny",
            "x\n[secret]\ny",
        ),
        ("-----BEGIN PRIVATE " + "KEY-----\nMIIEow cut off", "[secret]"),
        ("redis://:" + "k7Rt2wQ9@cache:6379", "[secret]"),  # as a whole
        ("nothing here", "nothing here"),
    ],
)
def test_a_secret_is_masked_with_all_that_belongs_to_it(text: str, masked: str) -> None:
    found, number = mask_secrets(text)
    assert found == masked
    assert number == text.count(KEY) or number == masked.count("[secret]")


def test_a_variable_of_the_environment_is_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "correct-horse-battery")
    assert mask_secrets("it is correct-horse-battery") == ("[secret]", 1)
