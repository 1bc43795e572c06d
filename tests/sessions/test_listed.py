"""The sessions on this machine, the newest first, and opened by an id."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from claude_lines import Lines, text

import learnkit as lk
from learnkit.errors import UsageError
from learnkit.sessions.read import list_sessions

ID = "0a6afc57-2f31-4cb4-8ff0-01247f50c64c"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a session of each program, the oldest of Claude Code."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    lines = Lines()
    lines.user("Fix it")
    lines.reply("m1", text("Done."), stop="end_turn")
    folder = tmp_path / ".claude" / "projects" / "-work"
    paths = [lines.write(folder / f"{ID}.jsonl")]
    Lines("o", isSidechain=True).write(folder / "agent-a1.jsonl", '{"type": "user", "uuid": "x"}')
    (folder / "broken.jsonl").write_text("nothing\n")
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "link.jsonl").symlink_to(paths[0])
    rollout = tmp_path / ".codex" / "sessions" / "2026" / "11" / "02"
    rollout.mkdir(parents=True)
    paths.append(rollout / "rollout-2026-11-02T10-00-00-019ee858-92b6.jsonl")
    meta = {"timestamp": "2026-11-02T10:00:00Z", "type": "session_meta", "payload": {"id": "019e"}}
    paths[-1].write_text(json.dumps(meta) + "\n")
    log = lk.EventLog()
    log.append("run.started", prompt="Mine")
    paths.append(work / ".learnkit" / "sessions" / "20261103.jsonl")
    paths[-1].parent.mkdir(parents=True)
    log.save(paths[-1])
    for number, path in enumerate(paths):
        os.utime(path, (1_000 + number, 1_000 + number))
    return tmp_path


def test_sessions_are_listed_the_newest_first(home: Path) -> None:
    found = list(list_sessions())
    assert [one.opened.format for one in found] == ["learnkit", "codex", "claude-code"]
    last = found[-1]
    assert (last.opened.title, last.opened.cwd, last.modified) == ("Fix it", "/work", 1_000.0)
    assert (last.turns, last.tokens) == (1, 100 + 20 + 7)
    assert [one.opened.format for one in list_sessions(limit=1)] == ["learnkit"]


def test_folders_are_where_the_environment_says(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "elsewhere"))
    monkeypatch.setenv("CODEX_HOME", str(home / "elsewhere"))
    assert [one.opened.format for one in list_sessions()] == ["learnkit"]


def test_a_session_is_opened_by_its_id_or_how_it_begins(home: Path) -> None:
    for id, format in ((ID, "claude-code"), (ID[:6], "claude-code"), ("019ee858", "codex")):
        assert lk.open_session(id)[0].data["format"] == format
    with pytest.raises(UsageError, match="nowhere cannot be opened: No such file"):
        lk.open_session("nowhere")
