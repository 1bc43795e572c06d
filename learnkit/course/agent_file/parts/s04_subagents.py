from itertools import groupby
from threading import Event, Semaphore, Thread

BRIEF = """You are a subagent: you do one task for another agent, and nobody answers questions.
Your last message is all that your caller reads. Report in a few lines what you found or did, with
the names of files, and what is still open."""
PLACES = Semaphore(3)  # for subagents at work


@hook("start")
def no_children(agent: Agent) -> None:
    agent.children, agent.stopped = [], Event()


@tool("lead")
def task(agent: Agent, prompt: str, description: str, kind: str = "general") -> str:
    """Hand a subtask to a subagent, which begins with an empty context: say in the prompt all that
    it has to know. You get its report. Several tasks in one reply run side by side.
    The description is a few words for the user. A subagent of kind explore only reads."""
    groups = ("read",) if kind == "explore" else ("read", "write")
    child = Agent(f"{agent.name}.{len(agent.children) + 1}", agent.folder, groups)
    agent.children.append(child)
    child.system = f"{BRIEF}\n\n{child.system}"
    return report(child, run(child, prompt, turns=30))


def report(child: Agent, last: str) -> str:
    """What the parent gets of all that the child has read and said."""
    return last or "(no summary)"


def run_calls(agent: Agent, calls: list[dict], results: dict) -> None:
    """Run calls in order, but neighbouring subtasks side by side."""

    def answer(call):
        with PLACES:
            results[call["id"]] = run_call(agent, call)

    for is_task, group in groupby(calls, key=lambda call: call["name"] == "task"):
        if not is_task:
            for call in group:
                results[call["id"]] = run_call(agent, call)
            continue
        threads = [Thread(target=answer, args=(call,), daemon=True) for call in group]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        except KeyboardInterrupt:  # which reaches only this thread
            for child in agent.children:
                child.stopped.set()
            raise


@hook("before_model")
def stop_here(agent: Agent) -> None:
    if agent.stopped.is_set():
        raise KeyboardInterrupt("asked to stop")
