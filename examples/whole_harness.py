"""All twelve mechanisms on one loop, in a git repository; a teammate works in a worktree."""

import re
import subprocess

import learnkit as lk
from learnkit.harness import token_costs

subprocess.run(["git", "init", "-q", "workspace"], check=True)
for key, value in {"user.name": "An agent", "user.email": "agent@example.org"}.items():
    subprocess.run(["git", "-C", "workspace", "config", key, value], check=True)
commit = lk.use("bash", command="echo first > a.txt; git add -A; git commit -q -m first")


def alice(request):
    """A teammate's model: it does the task that it has claimed."""
    claimed = re.findall(r"<auto-claimed>Task #(\d+)", str(request["messages"][-1]["content"]))
    if not claimed:
        return lk.say("Nothing is left to do.")
    write = lk.use("write_file", path="b.txt", content="second\n")
    keep = lk.use("bash", command="git add -A; git commit -q -m second")
    return lk.reply(write, keep, lk.use("task_update", task_id=1, status="completed"))


lead = [
    commit,
    lk.use("task_create", subject="write b.txt"),
    lk.use("worktree_create", name="second", task_id=1),
    lk.use("spawn_teammate", name="alice", role="coder", prompt="Look at the board."),
    *[lk.say("I wait.")] * 3,
]
client = lk.scripted({"lead": lead, "alice": alice})
with client.clock:  # at its end teammates and jobs end, too
    agent = lk.full_agent(client, "workspace")
    agent.run("Have b.txt written, in a worktree.")
    print(len(agent.tools), "tools;", sum(token_costs(agent).values()) < 5_000)
    worktrees = agent.mechanisms[-1]
    print([(tree.name, tree.status) for tree in worktrees.registry.all()])
    print(lk.TaskBoard("workspace/.learnkit/tasks").get(1).status)
