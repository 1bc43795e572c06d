"""A shared run: one file that loads nothing, shows everything, and runs nobody else's code."""

from __future__ import annotations

import base64
import gzip
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from every_view import VIEWS

import learnkit as lk
from learnkit.runtime.secret_scan import SecretError
from learnkit.views.drawing.base import Diagram
from learnkit.views.drawing.display import NARROW, WIDE
from learnkit.views.words import describe
from learnkit.widget import frozen
from learnkit.widget.pump import BATCH
from learnkit.widget.share import CALLED, views_of

GZIP = "application/gzip"
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\u2028<!--"
HOSTILE += "".join(chr(0xE0000 + ord(char)) for char in "ignore") + "\u00ad\u3164\ufe00\u200d"


def agent(*replies: Any) -> lk.Agent:
    client = lk.scripted([*replies, lk.say(HOSTILE)])
    with client.clock:
        one = lk.Agent(client, [lk.Todo()], system=HOSTILE)
        one.run(HOSTILE)
    return one


def played(patches: list[dict[str, Any]]) -> dict[str, str]:
    """The fragments that a page has after all its patches."""
    frame: dict[str, str] = {}
    for patch in patches:
        for key in patch.get("drop", []):
            del frame[key]
        frame.update(patch.get("set", []))
    return frame


class Page(HTMLParser):
    """The elements of a page, and the texts of its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] == "script" and self.get_starttag_text():
            self.scripts.append(data)

    @property
    def tapes(self) -> list[Any]:
        kinds = [attrs.get("type") for tag, attrs in self.tags if tag == "script"]
        texts = [text for text in self.scripts if text.strip()]
        assert len(kinds) == len(texts)
        packed = [text for kind, text in zip(kinds, texts, strict=True) if kind == GZIP]
        return [json.loads(gzip.decompress(base64.b64decode(one))) for one in packed]


def test_a_page_needs_nothing_else(tmp_path: Path) -> None:
    items = [{"id": "1", "text": HOSTILE, "status": "pending"}]
    path = lk.share(agent(lk.use("todo", items=items)), tmp_path / "run.html", title=HOSTILE)
    text = path.read_text("utf-8")
    page = Page(text)
    for tag, attrs in page.tags:
        assert tag not in ("link", "iframe", "object", "embed", "base", "form")
        source = attrs.get("src") or "data:"
        assert source.startswith("data:"), f"{tag} loads {source}"
        assert not [name for name in attrs if name.startswith("on")]
    assert len([tag for tag, _ in page.tags if tag == "script"]) == 3 + 2
    assert frozen.POLICY in text
    assert "default-src 'none'" in frozen.POLICY
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)
    assert "<title>&lt;/script&gt;" in text
    for shown in (text, json.dumps(page.tapes, ensure_ascii=False)):
        assert not set(shown) & set(HOSTILE[-10:])
        assert "⟨U+E0069⟩" in shown


def test_a_tape_holds_every_step_of_the_view() -> None:
    one = agent()
    for _ in range(BATCH):  # more than one message takes
        one.events.append("day.noted")
    view = lk.views.Messages(one.events)
    (tape,) = Page(frozen.page("x", frozen.tape(view))).tapes
    patches = tape["wide"]["patches"]
    assert len(patches) == len(one.events) + 1
    assert played(patches) == view.frame(view.at())
    assert [patch["head"] for patch in patches][1:] == list(map(describe, one.events))
    assert tape["wide"]["finding"] == view.finding(view.at())


def test_the_views_are_those_that_the_log_calls_for() -> None:
    log = lk.EventLog()
    with pytest.raises(lk.UsageError, match="the log is empty"):
        views_of(log)
    log.append("message.added", index=0, message={"role": "user", "content": "x"})
    assert [(view.name, view.lane) for view in views_of(log)] == [("message array", None)]
    log.append("message.added", lane="a.b", index=0, message={"role": "user", "content": "x"})
    assert [view.lane for view in views_of(log)] == ["lead", "a.b"]
    for name, beginnings in CALLED:
        for beginning in beginnings:
            event = beginning + "x" if beginning.endswith(".") else beginning
            one = lk.EventLog()
            one.append(event)
            assert [type(view) for view in views_of(one)] == [getattr(lk.views, name)], name


def test_views_are_taken_as_they_are_given(tmp_path: Path) -> None:
    log = agent().events
    one, other = lk.views.Tokens(log), lk.views.Todo(log)
    assert views_of(one) == [one]
    assert views_of([one, other]) == [one, other]
    assert {getattr(lk.views, name) for name, _ in CALLED} <= set(VIEWS)
    page = lk.share([lk.views.Todo(log[:2]), other], tmp_path / "x.html").read_text("utf-8")
    assert f"<p>{len(log)} events. " in page


@pytest.mark.parametrize("thing", [3, "text", None, [1, 2], {"a": 1}])
def test_what_is_no_run_is_refused(tmp_path: Path, thing: Any) -> None:
    with pytest.raises(lk.UsageError, match="share needs an event log"):
        lk.share(thing, tmp_path / "x.html")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "secret",
    ["sk-ant-" + "api03-" + "x" * 60, 'it\'s "50%" <b>', "first line\nsecond line", "w" * 5000],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_a_secret_is_not_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, secret: str, as_json: bool
) -> None:
    path = tmp_path / "run.html"
    path.write_text("as before")
    # What is packed has all of a long text, and nobody sees it there.
    text = json.dumps({"pw": secret}) if as_json else secret
    one = agent(lk.say(f"{'It is long. ' * 900}It is {text}."))
    monkeypatch.setenv("DB_PASSWORD", secret)
    with pytest.raises(SecretError):
        lk.share(one, path)
    if len(secret) < 1000:  # of a longer one, a tape has a part
        with pytest.raises(SecretError):
            frozen.tape(lk.views.Messages(one.events))
    with pytest.raises(SecretError):
        lk.share(agent(), path, title=f"A run with {secret}")
    assert path.read_text() == "as before"


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_can_be_frozen(view: Any) -> None:
    made = view(agent().events)
    html = frozen.tape(made)
    assert html.count("<script") == 1
    (data,) = Page(html).tapes
    assert data["label"] == made.name
    assert data["wide"]["finding"] == made.finding(made.at())
    assert ("narrow" in data) == isinstance(made, Diagram)
    for name, width in {"wide": WIDE, "narrow": NARROW}.items():
        if name in data:
            assert played(data[name]["patches"]) == made.frame(made.at(), width)
