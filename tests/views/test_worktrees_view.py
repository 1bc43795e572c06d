"""The worktrees as lanes: whose branch, which commits, how it came back, and what went wrong."""

from __future__ import annotations

from typing import Any

import pytest
from canvases import inside, said, words

import learnkit as lk
from learnkit.views import Worktrees
from learnkit.views.drawing import static
from learnkit.views.drawing.display import NARROW, WIDE, Canvas, Shape, text_width

WIDTHS = (WIDE, NARROW)
COMMIT = "git add -A && git -c user.name=t -c user.email=t@t commit -qm"


def drawn(log: lk.EventLog, width: float = WIDE, rows: int = 60) -> Canvas:
    view = Worktrees(log)
    return view.draw(view.at(), width, rows)


def saying(canvas: Canvas, said: str) -> Shape:
    """The only disc that says something."""
    (one,) = [one for one in canvas.shapes if one.kind == "dot" and said in one.says]
    return one


@pytest.fixture(scope="module")
def clash(tmp_path_factory: pytest.TempPathFactory) -> lk.EventLog:
    """On real git: two worktrees change the same line, and the second merge has to wait."""
    repo = tmp_path_factory.mktemp("repo")
    (repo / "parse.py").write_text("one = 1\n")
    assert lk.LocalShell().run(f"git init -q -b main && {COMMIT} first", repo).code == 0

    def edit(name: str, line: str, *more: str) -> Any:
        done = f"echo '{line}' > parse.py; {COMMIT} '{name} says {line}'"
        return lk.use("worktree_run", name=name, command="; ".join([*more, done]))

    into = "git -c user.name=t -c user.email=t@t merge main"
    steps = [
        *(lk.use("worktree_create", name=name) for name in ("a", "b")),
        edit("a", "one = 2"),
        edit("b", "one = 3"),
        *(lk.use("worktree_merge", name=name) for name in ("b", "a")),
        edit("a", "one = 5", into),
        lk.use("worktree_merge", name="a"),
        lk.use("worktree_remove", name="a"),
        lk.use("worktree_keep", name="b"),
        lk.say("done"),
    ]
    agent = lk.Agent(lk.scripted(steps), [lk.Worktrees(repo)])
    agent.run("Go.")
    return agent.events


@pytest.mark.slow
def test_the_finding_tells_a_success_and_the_conflict_on_the_way(clash: lk.EventLog) -> None:
    view = Worktrees(clash)
    assert said(view) == (
        "a is merged and removed; b is merged and kept. The branch of a stays. "
        "1 merge met a conflict."
    )


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
def test_commits_stand_on_the_lane_of_their_branch_in_the_order_of_time(
    clash: lk.EventLog, width: float
) -> None:
    canvas = drawn(clash, width)
    a, b = canvas["branch a"].y, canvas["branch b"].y
    main = canvas["branch"].y
    assert main < a < b
    first, then, other = (
        saying(canvas, f": {said}, ") for said in ("first", "a says one = 2", "b says one = 3")
    )
    both = saying(canvas, "a says one = 5")
    assert [one.y for one in (first, then, other, both)] == [main, a, b, a]
    merged = [saying(canvas, f"{name} is merged") for name in ("b", "a")]
    failed = saying(canvas, "wt/a conflicts in parse.py")
    order = [first, then, other, merged[0], failed, both, merged[1]]
    assert [one.x for one in order] == sorted({one.x for one in order})
    assert [(one.mark, one.lines, one.y) for one in merged] == [("done", ("✓",), main)] * 2
    assert (failed.mark, failed.lines, failed.y) == ("failed", ("✗",), main)
    assert all(inside(one, canvas) for one in canvas.shapes if one.kind == "box")
    assert all(0 < one.x < canvas.width for one in canvas.shapes if one.kind == "dot")


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
def test_no_curve_passes_a_text_and_a_removed_folder_ends_with_a_cross(
    clash: lk.EventLog, width: float
) -> None:
    canvas = drawn(clash, width)
    words = [one for one in canvas.shapes if one.kind == "text" and one.y > canvas["branch"].y]
    for curve in (one for one in canvas.shapes if "C" in one.path):
        far = float(curve.path.split()[0][1:])
        deep = curve.y + float(curve.path.split()[1].split("C")[0])
        high, low = sorted((curve.y, deep))
        for text in words:
            if high < text.y - 6 < low:
                end = text.x + text_width(text.lines[0], text.style)
                assert not text.x < curve.x + far / 2 < end, (curve, text)
    box = canvas["folder a"]
    assert canvas["gone a"].x == box.x + box.width
    assert "gone b" not in canvas, "it is kept"


@pytest.mark.slow
def test_a_conflict_is_dashed_and_main_leads_into_the_branch_that_settles_it(
    clash: lk.EventLog,
) -> None:
    canvas = drawn(clash)
    edges = {one.key: one for one in canvas.shapes if one.key.startswith("into ")}
    failed = saying(canvas, "wt/a conflicts in parse.py")
    both = saying(canvas, "a says one = 5")
    assert edges[failed.key.replace("step", "into")].style == "d"
    (settles,) = [one for one in edges.values() if (one.x, one.y) == (both.x, both.y)]
    assert settles.mark == canvas["main"].mark
    assert float(settles.path.split()[1].split("C")[0]) == canvas["branch"].y - both.y
    assert "conflict" in words(canvas)


def tree(name: str, status: str = "active", **more: Any) -> dict[str, Any]:
    return {"name": name, "branch": f"wt/{name}", "status": status, **more}


def team() -> lk.EventLog:
    """alice and bob have a worktree each, and the lead one without a task."""
    log = lk.EventLog()
    log.append("run.started", prompt="x")
    for name in ("alice", "bob"):
        log.append("team.spawned", name=name, role="coder")
    for id, owner in ((1, "bob"), (2, "alice")):
        one = {"id": id, "subject": f"step {id}", "status": "in_progress", "owner": owner}
        log.append("task.started", lane=owner, task=one)
        log.append("worktree.create", tree=tree(f"t{id}", task_id=id))
    log.append("worktree.create", tree=tree("own"))
    return log


def test_what_was_not_merged_does_not_look_like_a_success() -> None:
    log = team()
    log.append("worktree.keep", tree=tree("t1", "kept"))
    log.append("worktree.remove", tree=tree("t2", "removed"))
    canvas = drawn(log)
    assert canvas["state t1"].lines == ("○ kept, unmerged",)
    assert canvas["state t2"].lines == ("■ removed, unmerged",)
    assert canvas["state own"].lines == ("▶\ufe0e active",)
    view = Worktrees(log)
    assert said(view) == ("t1 is kept but not merged; t2 is removed but not merged; own is active.")


@pytest.mark.parametrize("width", WIDTHS)
def test_of_many_worktrees_and_steps_the_newest_are_drawn_and_the_others_counted(
    width: float,
) -> None:
    log = lk.EventLog()
    for number in range(40):
        log.append("worktree.create", tree=tree(f"t{number}"))
        log.append("worktree.remove", tree=tree(f"t{number}", "removed"))
    canvas = drawn(log, width, 12)
    assert "branch t39" in canvas
    assert "branch t36" not in canvas
    assert "37 worktrees" in words(canvas)
    assert "74 earlier steps" in words(canvas)
    assert len(Worktrees(log).html().encode()) < static.LIMIT


def test_a_name_that_is_used_again_is_another_worktree() -> None:
    log = lk.EventLog()
    for lane, kind in (("alice", "create"), ("alice", "merge"), ("bob", "create")):
        log.append(f"worktree.{kind}", lane=lane, tree=tree("fix"))
    again = Worktrees(log).at().trees["fix"]
    assert (again.agent, again.state) == ("bob", "active")


def test_a_commit_after_its_merge_is_not_merged() -> None:
    log, commits = lk.EventLog(), [{"id": "0", "refs": ["main"]}]
    log.append("worktree.create", tree=tree("fix"))
    states = []
    for id, parent in (("1", "0"), ("2", "1")):
        for one in commits:
            one["refs"] = [ref for ref in one["refs"] if ref == "main"]
        commits.insert(0, {"id": id, "parents": [parent], "refs": ["wt/fix"]})
        log.append("worktree.commits", commits=commits)
        states.append(Worktrees(log).at().trees["fix"].state)
        log.append("worktree.merge", tree=tree("fix"))
        states.append(Worktrees(log).at().trees["fix"].state)
    assert states == ["active", "merged", "active", "merged"]
