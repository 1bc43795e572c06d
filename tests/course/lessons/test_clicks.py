"""Lesson 7's picture: what can be clicked is what the learner's ``ready`` lists."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from learnkit.course.agent_file.source import Source
from learnkit.course.lessons.s07.shown import board_log, completes, night_log
from learnkit.views import Tasks

DIAMOND = {1: [], 2: [1], 3: [1], 4: [2, 3]}


def test_a_click_completes_what_ready_lists_and_nothing_else(tmp_path: Path) -> None:
    agent = ModuleType("agent")
    exec(str(Source.reference("s07")), agent.__dict__)
    agent.ROOT = tmp_path
    with agent.locked(".tasks") as folder:
        for id, after in DIAMOND.items():
            task = {"id": id, "subject": f"task {id}", "status": "pending"}
            agent.save_task({**task, "owner": None, "blockedBy": after})
    log = board_log(folder)
    clicked = completes(agent, log)
    agent.ROOT = tmp_path / "another lesson's"
    clicked({"complete": 4})
    assert "The board refuses: Your ready lists #1, and not #4. 0 of 4" in str(Tasks(log))
    for id in (1, 3):
        clicked({"complete": id})
    assert "2 of 4 tasks completed; ready: #2. 1 waiting" in str(Tasks(log))
    agent.ready = lambda tasks: tasks.nothing
    clicked({"complete": 2})
    assert "'dict' object has no attribute" in str(Tasks(log))
    agent.ready = lambda tasks: tasks.values()
    clicked({"complete": 4})  # as long as it is naive
    agent.ROOT = tmp_path
    done = [id for id, task in agent.load_tasks().items() if task["status"] == "completed"]
    assert done == [1, 3, 4]


def test_a_night_shows_what_the_new_process_finds_in_progress() -> None:
    def reply(number: int, name: str, **given: object) -> list[dict[str, object]]:
        call = {"type": "tool_use", "id": str(number), "name": name, "input": given}
        result = {"type": "tool_result", "tool_use_id": str(number)}
        return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]

    prompt = {"role": "user", "content": "Go on."}
    begun = [
        *reply(1, "task_create", subject="a"),
        *reply(2, "task_update", task_id=1, status="in_progress"),
    ]
    done = [*begun, *reply(3, "task_update", task_id=1, status="completed")]
    for evening, says in (
        (begun, "finds #1 in progress"),
        (done, "finds the board as it was left"),
    ):
        runs = [[prompt], [prompt, *evening], [prompt]]
        assert says in str(Tasks(night_log({"messages": messages} for messages in runs)))
