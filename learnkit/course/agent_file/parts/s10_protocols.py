import json
import secrets
from contextlib import contextmanager


@hook("start")
def no_plan_needed(agent: Agent) -> None:
    agent.plan_required, agent.plan = False, None


@contextmanager
def requests():
    """All requests by id. Whoever changes one here is alone, and the change is saved."""
    with locked(".team") as folder:
        path = folder / "requests.json"
        found = json.loads(path.read_text("utf-8")) if path.exists() else {}
        yield found
        save(path, found)


def ask_for(kind: str, sender: str, to: str, content: str) -> str:
    """Send a request with an id, by which the answer can say what it answers."""
    id = secrets.token_hex(4)
    with requests() as known:
        known[id] = {"kind": kind, "from": sender, "to": to, "state": "pending"}
    send(sender, to, content, f"{kind}_request", request_id=id)
    return id


def answer(id: str, by: str, approve: bool, content: str) -> str:
    """Answer a request, once, and only if it is yours to answer."""
    with requests() as known:
        if id not in known or known[id]["to"] != by:
            raise LookupError(f"there is no request {id!r} for {by} to answer")
        request = known[id]
        if request["state"] != "pending":
            raise ValueError(f"{id} is {request['state']} already")
        request["state"] = "approved" if approve else "rejected"
    more = {"request_id": id, "approve": approve}
    send(by, request["from"], content, f"{request['kind']}_response", **more)
    return f"{id} is {request['state']}."


def state_of(id: str) -> str:
    with requests() as known:
        return known[id]["state"]


def expire(name: str) -> None:
    """What an earlier teammate was asked is not for a new one of that name to answer."""
    with requests() as known:
        for request in known.values():
            if request["to"] == name and request["state"] == "pending":
                request["state"] = "expired"


@tool("lead")
def spawn_teammate(
    agent: Agent, name: str, role: str, prompt: str, plan_required: bool = False
) -> str:
    """Start a teammate, who works while you do, reports to you, and then waits for messages.
    With plan_required it can only read until you have approved its plan."""
    teammate = recruit(name, role)
    teammate.plan_required = plan_required
    expire(name)
    return begin(teammate, prompt)


@tool("lead")
def shutdown_request(agent: Agent, teammate: str) -> str:
    """Ask a teammate to shut down. It may refuse."""
    if teammate not in MATES or MATES[teammate].status == "shutdown":
        raise LookupError(f"no {teammate!r} at work")
    return f"Asked as {ask_for('shutdown', agent.name, teammate, 'Please shut down.')}."


@tool("teammate")
def shutdown_response(agent: Agent, request_id: str, approve: bool, reason: str = "") -> str:
    """Answer a shutdown_request. If you approve, you stop after this round."""
    said = answer(request_id, agent.name, approve, reason)
    if approve:
        agent.stopped.set()
    return said


@tool("teammate")
def submit_plan(agent: Agent, plan: str) -> str:
    """Send your plan to lead. Then stop: the answer comes as a message."""
    agent.plan = ask_for("plan_approval", agent.name, "lead", plan)
    return f"Submitted as {agent.plan}."


@tool("lead")
def plan_approval(agent: Agent, request_id: str, approve: bool, feedback: str = "") -> str:
    """Answer a plan_approval_request."""
    return answer(request_id, agent.name, approve, feedback)


@hook("refuse")
def plan_first(agent: Agent, call: dict) -> str | None:
    """No prompt holds an agent back, but this does."""
    if not agent.plan_required or "write" not in TOOLS[call["name"]].groups:
        return None
    if agent.plan and state_of(agent.plan) == "approved":
        return None
    return f"{call['name']} needs an approved plan: submit one, and stop"


@hook("on_stop")
def plan_is_over(agent: Agent) -> None:
    """An approval is for the work in hand, not for whatever comes next."""
    if agent.plan and state_of(agent.plan) != "pending":
        agent.plan = None
