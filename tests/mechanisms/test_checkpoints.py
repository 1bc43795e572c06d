"""Checkpoints: whatever the file tools do, and whenever the process dies, it can be put back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dying import at_every_step
from hypothesis import given
from hypothesis import strategies as st

import learnkit as lk
from learnkit.core.interface import Call
from learnkit.errors import LearnkitError, UsageError
from learnkit.mechanisms.checkpoints import Checkpoints


def write(path: str, content: str) -> Any:
    return lk.use("write_file", path=path, content=content)


def edit(path: str, old: str, new: str) -> Any:
    return lk.use("edit_file", path=path, old_text=old, new_text=new)


def started(root: Path, *replies: Any, **options: Any) -> tuple[lk.Agent, Checkpoints]:
    kept = Checkpoints(root)
    mechanisms = [*options.pop("before", ()), lk.CodingTools(root), *options.pop("more", ()), kept]
    return lk.Agent(lk.scripted(list(replies)), mechanisms), kept


def state(root: Path) -> dict[str, bytes]:
    """The files of a workspace; not what a killed writer has begun beside them."""
    files = (path for path in root.rglob("*") if path.is_file() and path.suffix != ".part")
    return {
        str(one.relative_to(root)): one.read_bytes()
        for one in files
        if ".learnkit" not in one.parts
    }


def test_files_and_conversation_go_back_to_before_a_prompt(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"a0\r\n")
    (tmp_path / "bin").write_bytes(b"\xff\x00")
    agent, kept = started(
        tmp_path,
        *(
            edit("a.txt", "a0", "a1"),
            write("new/b.txt", "a"),
            write("new/b.txt", "b"),
            lk.say("one"),
        ),
        *(edit("a.txt", "a1", "a2"), write("bin", "text"), lk.say("two")),
        *(edit("a.txt", "a2", "a3"), lk.say("three")),
    )
    before = state(tmp_path)
    for text in ("One.", "Two.", "Three."):
        agent.run(text)
    assert [(c.number, c.prompt, c.files) for c in kept.checkpoints] == [
        (1, "One.", ("a.txt", "new/b.txt")),
        (2, "Two.", ("a.txt", "bin")),
        (3, "Three.", ("a.txt",)),
    ]
    assert kept.rewind(2) == (["a.txt", "bin"], True)
    assert state(tmp_path) == {"a.txt": b"a1\r\n", "bin": b"\xff\x00", "new/b.txt": b"b"}
    assert len(agent.messages) == 8
    assert [c.prompt for c in kept.checkpoints] == ["One.", "(before going back to 2)"]
    assert kept.rewind(4) == (["a.txt", "bin"], False), "a way back is undone as well"
    assert state(tmp_path)["a.txt"] == b"a3\r\n"
    kept.rewind(1)
    assert state(tmp_path) == before
    assert agent.messages == []
    with pytest.raises(UsageError, match="no checkpoint 3"):
        kept.rewind(3)


def test_either_of_both_can_stay(tmp_path: Path) -> None:
    agent, kept = started(tmp_path, write("a", "1"), lk.say("one"))
    agent.run("One.")
    assert kept.rewind(1, files=False) == ([], True)
    assert (tmp_path / "a").exists()
    assert kept.rewind(1, conversation=False) == (["a"], False)
    assert not (tmp_path / "a").exists()


def test_what_no_tool_has_changed_stays_and_commands_are_not_undone(tmp_path: Path) -> None:
    agent, kept = started(tmp_path, lk.use("bash", command="echo x > c"), lk.say("one"))
    agent.run("One.")
    (tmp_path / "mine").write_text("the user's")
    assert kept.rewind(1)[0] == []
    assert set(state(tmp_path)) == {"c", "mine"}


def test_a_refused_call_keeps_nothing_and_a_subagent_s_is_kept(tmp_path: Path) -> None:
    replies = [
        write("no", "1"),
        lk.use("task", prompt="Write.", description="write"),
        *(write("yes", "1"), lk.say("done"), lk.say("done")),
    ]
    rules = lk.Permission(lk.Rules(deny=["write(no)"], mode="yes"))
    agent, kept = started(tmp_path, *replies, before=[rules], more=[lk.Subagents()])
    agent.run("One.")
    assert kept.checkpoints[0].files == ("yes",)
    kept.rewind(1)
    assert state(tmp_path) == {}


def test_the_conversation_stays_where_compaction_has_replaced_the_prompt(tmp_path: Path) -> None:
    agent, kept = started(tmp_path, write("a", "1"), lk.say("one"), lk.say("two"))
    agent.run("One.")
    agent.rewrite([{"role": "user", "content": "a summary"}, agent.messages[-1]], "compacted")
    agent.run("Two.")
    assert kept.rewind(2) == ([], True)
    assert kept.rewind(1) == (["a"], False)


def test_another_process_goes_on_where_the_last_one_was(tmp_path: Path) -> None:
    agent, _ = started(tmp_path, write("a", "1"), lk.say("one"))
    agent.run("One.")
    later, kept = started(tmp_path, write("a", "2"), lk.say("two"))
    later.messages = agent.messages
    later.run("Two.")
    assert [c.number for c in kept.checkpoints] == [1, 2]
    assert kept.rewind(1) == (["a"], True)
    assert (later.messages, state(tmp_path)) == ([], {})


@pytest.mark.slow
def test_killed_at_any_step_everything_can_be_put_back(tmp_path: Path) -> None:
    """The process dies at each of its steps on the disk: while it keeps, writes and goes back."""
    rounds = 0

    def fresh() -> tuple[Path, lk.Agent, Checkpoints]:
        root = tmp_path / str(rounds)
        root.mkdir()
        (root / "a").write_text("0")
        agent, kept = started(root)
        agent.messages = [{"role": "user", "content": "One."}]
        return root, agent, kept

    def act() -> None:
        for number in (1, 2):
            agent.messages = [{"role": "user", "content": f"Prompt {number}."}]
            kept.before_model(agent)
            for path in ("a", "b"):
                call = Call("id", "write_file", {"path": path, "content": str(number)})
                assert kept.refuse(agent, call) is None
                agent.tools["write_file"].run(agent, call.input)
        kept.rewind(1, conversation=False)

    root, agent, kept = fresh()
    for _ in at_every_step(act):
        again = started(root)[1]
        if 1 in [one.number for one in again.checkpoints]:  # else it was back already
            again.rewind(1)
        assert state(root) == {"a": b"0"}
        rounds += 1
        root, agent, kept = fresh()
    assert state(root) == {"a": b"0"}
    assert rounds > 40


def test_a_file_that_cannot_be_kept_is_not_changed(tmp_path: Path) -> None:
    agent, kept = started(tmp_path, write("a", "1"), lk.say("one"))
    (tmp_path / "a").write_text("0")
    folder = tmp_path / ".learnkit" / "checkpoints" / "files"
    folder.rmdir()
    folder.write_text("in the way")
    agent.run("One.")
    output = next(e.data["output"] for e in agent.events if e.type == "tool.ended")
    assert "can't be kept for going back" in output
    assert (tmp_path / "a").read_text() == "0"
    assert kept.checkpoints[0].files == ()


@pytest.mark.parametrize(
    "line",
    [
        {"checkpoint": 1, "path": "../victim", "sha256": None},
        {"checkpoint": 1, "path": ".git/hooks/x", "sha256": None},
        {"checkpoint": 1, "path": "a", "sha256": "../../../../victim"},
        {"checkpoint": 1, "path": "a", "sha256": "0" * 64},
    ],
)
def test_a_journal_that_was_changed_leads_nowhere_else(tmp_path: Path, line: Any) -> None:
    (tmp_path / "victim").write_text("mine")
    root = tmp_path / "ws"
    agent, kept = started(root, write("a", "1"), lk.say("one"))
    agent.run("One.")
    journal = root / ".learnkit" / "checkpoints" / "journal.jsonl"
    lines = journal.read_text().splitlines()
    journal.write_text("\n".join([lines[0], json.dumps(line), '{"checkpoint": "x", "to": 1}', ""]))
    with pytest.raises(LearnkitError):
        kept.rewind(1)
    assert (tmp_path / "victim").read_text() == "mine"
    assert state(root) == {"a": b"1"}


@pytest.mark.parametrize("link", [".learnkit", ".learnkit/checkpoints", "files", ".gitignore"])
def test_a_link_that_came_with_a_repository_is_refused(tmp_path: Path, link: str) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    link = link if link.startswith(".learnkit") else f".learnkit/checkpoints/{link}"
    place = tmp_path / "ws" / link
    place.parent.mkdir(parents=True)
    place.symlink_to(victim if link[-1] != "e" else victim / "file")
    with pytest.raises(UsageError, match="leads elsewhere"):
        Checkpoints(tmp_path / "ws")
    assert list(victim.iterdir()) == []


steps = st.one_of(
    st.tuples(st.just("prompt"), st.just(""), st.just("")),
    st.tuples(st.just("write"), st.sampled_from("ab"), st.sampled_from("012")),
    st.tuples(st.just("back"), st.integers(0, 5).map(str), st.just("")),
)


@given(st.lists(steps, max_size=14))
def test_every_place_in_the_list_is_what_was_there(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, str]]
) -> None:
    root = tmp_path_factory.mktemp("ws")
    agent, kept = started(root)
    were: dict[int, dict[str, bytes]] = {}
    for what, which, content in [("prompt", "", ""), *steps]:
        if what == "prompt":
            agent.messages = [{"role": "user", "content": "Go."}]
            were[len(were) + 1] = state(root)
            kept.before_model(agent)
        elif what == "write":
            call = Call("id", "write_file", {"path": which, "content": content})
            assert kept.refuse(agent, call) is None
            agent.tools["write_file"].run(agent, call.input)
        else:
            numbers = [one.number for one in kept.checkpoints]
            number = numbers[int(which) % len(numbers)]
            were[len(were) + 1] = state(root)
            kept.rewind(number, conversation=False)
            assert state(root) == were[number]
