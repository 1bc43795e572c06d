import json

HOOKS = {"start": {}, "before_model": {}, "refuse": {}, "after_tools": {}, "on_stop": {}}
MARKS = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}


def hook(point):
    """Register a function that the harness calls at a point of the loop."""

    def register(function):
        HOOKS[point][function.__name__] = function
        return function

    return register


def call_hooks(point: str, agent: Agent, *more) -> list[str]:
    """Call the functions of a point, and return the texts that they give."""
    return [text for function in [*HOOKS[point].values()] if (text := function(agent, *more))]


class Agent:
    """A conversation with the model, and the tools and the folder that it has."""

    def __init__(self, name="lead", folder=None, groups=("read", "write", "lead")):
        self.name, self.folder, self.groups = name, Path(folder or ROOT).resolve(), {*groups}
        self.system, self.messages = SYSTEM, []
        call_hooks("start", self)
        self.tools = {name: tool for name, tool in TOOLS.items() if self.groups & tool.groups}
        self.specs = [spec_of(tool) for tool in self.tools.values()]


def agent_loop(agent: Agent, turns: int = 50) -> str:
    """Ask the model and run its calls, until it calls nothing; return what it said last."""
    for _ in range(turns):
        call_hooks("before_model", agent)
        reply = client.messages.create(
            model=MODEL,
            max_tokens=16_000,
            system=agent.system,
            tools=agent.specs,
            messages=agent.messages,
        )
        content = [block.to_dict() for block in reply.content]
        said = {"role": "assistant", "content": content}
        calls = [block for block in content if block["type"] == "tool_use"]
        if not calls:
            agent.messages += [said] if content else []  # the API takes no empty message
            if more := call_hooks("on_stop", agent):
                agent.messages.append({"role": "user", "content": "\n".join(more)})
                continue
            return "\n".join(block["text"] for block in content if block["type"] == "text")
        results, texts = {}, []
        try:
            if reply.stop_reason != "max_tokens":  # half a command may do something else
                run_calls(agent, calls, results)
            more = call_hooks("after_tools", agent, calls)
            texts = [{"type": "text", "text": text} for text in more]
        finally:  # Ctrl-C, too, must leave a result for each call
            for call in calls:
                results.setdefault(call["id"], result_of(call, UNFINISHED, is_error=True))
            answers = [results[call["id"]] for call in calls]
            agent.messages += [said, {"role": "user", "content": answers + texts}]
    return f"(stopped after {turns} turns)"


def run_calls(agent: Agent, calls: list[dict], results: dict) -> None:
    for call in calls:
        results[call["id"]] = run_call(agent, call)


def run_call(agent: Agent, call: dict) -> dict:
    """Run a call. Whatever goes wrong, the model should read it, and go on."""
    try:
        if call["name"] not in agent.tools:
            raise LookupError(f"no tool {call['name']!r}; there are: {', '.join(agent.tools)}")
        if why := call_hooks("refuse", agent, call):
            raise PermissionError(why[0])
        return result_of(call, shortened(agent.tools[call["name"]](agent, **call["input"])))
    except Exception as error:
        return result_of(call, f"{type(error).__name__}: {error}", is_error=True)


@hook("refuse")
def permission(agent: Agent, call: dict) -> str | None:
    return refusal(agent, call)


@hook("start")
def no_plan(agent: Agent) -> None:
    agent.items, agent.rounds = [], 0


@tool("lead")
def todo(agent: Agent, items: list) -> str:
    """Replace your todo list, to plan work of several steps and to keep the plan up to date.
    An item is {"id": "1", "text": "…", "status": "pending", "in_progress" or "completed"};
    at most one is in_progress. Give every item each time."""
    items = json.loads(items) if isinstance(items, str) else items
    check_items(agent.items, items)
    agent.items = items
    return render(items)


def check_items(before: list[dict], items: list[dict]) -> None:
    """Refuse a list that is no plan, or that has lost open items."""
    if len(items) > 20:
        raise ValueError(f"{len(items)} items are too many; give at most 20")
    if any(not item["text"].strip() or item["status"] not in MARKS for item in items):
        raise ValueError(f"each item needs a text, and a status: {', '.join(MARKS)}")
    if sum(item["status"] == "in_progress" for item in items) > 1:
        raise ValueError("only one item may be in_progress")
    given = {item["id"] for item in items}
    lost = [item["text"] for item in open_items(before) if item["id"] not in given]
    if lost:
        raise ValueError(f"still open, and missing in your list: {', '.join(lost)}")


def open_items(items: list[dict]) -> list[dict]:
    return [item for item in items if item["status"] != "completed"]


def render(items: list[dict]) -> str:
    lines = [f"{MARKS[one['status']]} #{one['id']}: {one['text']}" for one in items]
    done = len(items) - len(open_items(items))
    return "\n".join([*lines, f"({done}/{len(items)} completed)"])


@hook("after_tools")
def remind(agent: Agent, calls: list[dict]) -> str | None:
    """After three rounds without an update, remind the model of its open items."""
    updated = any(call["name"] == "todo" for call in calls)
    agent.rounds = 0 if updated else agent.rounds + 1
    if agent.rounds < 3 or not open_items(agent.items):
        return None
    agent.rounds = 0
    return "<reminder>Update your todo list.</reminder>"
