"""Teammates, protocols and autonomy: lessons 9 to 11."""

from __future__ import annotations

import re

from learnkit.simulation.stand_in import clauses
from learnkit.simulation.stand_in.clauses import number, ruleset, several
from learnkit.simulation.stand_in.hands import Failed, Hands, Steps, confirm, first_line, short
from learnkit.simulation.stand_in.rules import board, plans

_AS = re.compile(r"(\w+) as (?:an? |the )?([\w-]+)", re.I)
_CALLED = re.compile(r"an? ([\w-]+) called (\w+)", re.I)
#: What would leave something on the board, where teammates take all that suits them.
_NOT_ALL = (
    r"(?!.*\b(?:none|nothing|only|but|except|not|half|some|first|second|third|last|tasks? #?\d+)\b)"
    rf"(?!.*(?<!all )(?<!the )(?<!these )(?<!those )\b(?!one (?:by|after)){clauses.PARTS['n']}\b)"
)
_BOARD_WORK = re.compile(
    rf"{_NOT_ALL}(?:(?:do|take|claim|work on|find|look for|see to) .*\b(?:them|tasks?|board|work|"
    r"ready|suits?)\b.*|"
    rf"(?:do|complete|finish|handle|take care of) (?:(?:all (?:of )?)?(?:them|(?:the|these|those) "
    rf"(?:{clauses.PARTS['n']} )?tasks|everything)(?: on the board)?|them all|"
    rf"all(?: {clauses.PARTS['n']})?))",
    re.I,
)
_OPEN_TASK = re.compile(r"^\[([ >!])\] #(\d+): (.*)$", re.M)
_TAGS = re.compile(r"\{([\w, -]+)\}")

#: How a message to a teammate begins that gives it work.
ORDER = "Please "
#: What a teammate is told when nothing else is said.
FIRST = "Wait for messages."
#: For teammates of whom only the role is given.
NAMES = ("alice", "bob", "carol", "dave")
FROM_BOARD = "There is a board. Take what is ready."


def _spawn(
    do: Hands,
    crew: str = "",
    roles: str = "",
    names: str = "",
    text: str = "",
    who: str = "",
    told: str = "",
    n: str = "",
    role: str = "teammate",
) -> Steps:
    pairs = [(name.lower(), role.lower()) for name, role in _AS.findall(crew)]
    pairs += [(name.lower(), role.lower()) for role, name in _CALLED.findall(crew)]
    named = several(names) or list(NAMES[: number(n)] if n else ())
    pairs += [(name.lower(), role.lower()) for name in named]
    pairs += list(zip(NAMES, several(re.sub("^an? ", "", roles, flags=re.I)), strict=False))
    if n and number(n) != len(pairs):
        raise Failed(f"you said {n} teammates, and named {len(pairs)}")
    if len(pairs) > 1 and who.lower() in ("he", "she", "her", "him", "it"):
        raise Failed(f"I don't know which of them {who!r} is")
    text = text or told
    on_board = bool(text and _BOARD_WORK.fullmatch(text))
    if text:
        prompt = FROM_BOARD if on_board else _sentence(text)
    else:
        prompt = FROM_BOARD if do.kit.has("claim_task") else FIRST
    calls = [
        ("spawn_teammate", {"name": name, "role": role, "prompt": prompt}) for name, role in pairs
    ]
    results = yield from do.calls(*calls)
    for (name, role), result in zip(pairs, results, strict=True):
        confirm(result, name, f"the start of {name}")
        do.crew[name] = role
        do.due.append(name)
        do.mates.append(name)
    told = "started " + ", ".join(f"{name} ({role})" for name, role in pairs)
    if on_board or (prompt == FROM_BOARD and "task_list" in do.kit.tools):
        told += "\n" + (yield from _finish_board(do))
    return told


def _have(do: Hands, name: str, text: str, role: str = "teammate", does: str = "") -> Steps:
    text = f"do {text}" if does else text
    if name.lower() in do.crew:
        yield from do.report_of(name.lower())
        if _BOARD_WORK.fullmatch(text):
            return (yield from _finish_board(do))
        told = yield from _send(do, name, ORDER + text + ".")
        do.due.append(name.lower())
        return told
    return (yield from _spawn(do, f"{name} as {role}", text=text))


def _does(do: Hands, name: str, verb: str, text: str) -> Steps:
    """What a teammate does, told in the third person."""
    if name.lower() not in do.crew:
        raise Failed(f"I haven't started anyone who is called {name}")
    return (yield from _have(do, name, f"{verb.lower().removesuffix('s')} {text}"))


def _send_home(do: Hands, last: str = "", by: str = "") -> Steps:
    told = []
    for mate in list(do.crew):
        told.append((yield from _shut_down(do, mate, last, by)))
    return "\n".join(told) or "there is no teammate to send home"


def _finish_board(do: Hands) -> Steps:
    """Wait until every task on the board is completed; start somebody if nobody is there."""
    mine = not do.crew
    if mine and not do.kit.has("task_list"):
        yield from _spawn(do, f"{NAMES[0]} as coder")
    for mate in list(do.crew) if not do.kit.has("task_list") else ():
        yield from do.report_of(mate)  # it can't answer before that
    for _ in range(100):
        said = yield from board.look(do)
        open_tasks = _OPEN_TASK.findall(said)
        if failed := [id for mark, id, _ in open_tasks if mark == "!"]:
            raise Failed(f"task #{failed[0]} has failed")
        if not open_tasks:
            by = "" if do.kit.has("task_list") else f", as {next(iter(do.crew))} has shown me"
            return f"every task on the board is completed{by}:\n{said}"
        roles = [tag for _, _, line in open_tasks for tag in _TAGS.findall(line)]
        if not do.crew:
            roles = roles or ["coder"]
        wanted = [one for one in dict.fromkeys(roles) if one.lower() not in do.crew.values()]
        if mine and wanted:
            free = [name for name in NAMES if name not in do.crew]
            crew = zip(free, wanted, strict=False)
            yield from _spawn(do, ", ".join(f"{name} as {role}" for name, role in crew))
            continue
        ids = ", ".join(f"#{id}" for _, id, _ in open_tasks)
        yield from do.next(f"{ids} on the board")
    raise Failed("the tasks on the board are not done after a hundred looks")


def _broadcast(do: Hands, text: str) -> Steps:
    result = yield from do.call("broadcast", content=text)
    if result.text.startswith("Not sent"):
        raise Failed("there is no teammate to write to")
    return f"wrote to all: {text}"


def _send(do: Hands, name: str, text: str = "hello") -> Steps:
    mate = do.mate(name)
    result = yield from do.call("send_message", to=mate, content=text)
    confirm(result, mate, f"the message to {mate}")
    return f"wrote to {mate}: {text}"


def _team(do: Hands) -> Steps:
    result = yield from do.call("list_teammates")
    return f"the team is:\n{result.text}"


def _inbox(do: Hands) -> Steps:
    result = yield from do.call("read_inbox")
    return f"the inbox says:\n{result.text}"


def _shut_down(do: Hands, name: str, last: str = "", by: str = "") -> Steps:
    if _SEVERAL.fullmatch(name) and not (name.lower() == "them" and len(do.crew) == 1):
        if not do.crew:
            raise Failed(f"I haven't started anyone, so I don't know who {name!r} means")
        return (yield from _send_home(do, last, by))
    mate = do.mate(name)
    if by and by.lower() not in (*do.crew, "he", "she", "they", "it", "that", "this"):
        raise Failed(f"I don't know when {by} is done")
    for one in list(do.due) if last else [mate]:
        yield from do.report_of(one)
    result = yield from do.call("shutdown_request", teammate=mate)
    found = re.search(r"request (\S+) is pending", result.text)
    if found is None:
        raise Failed(f"no request id came back: {first_line(result.text)}")
    do.request = found[1]
    note = yield from do.wait_for(
        "shutdown_response", sender=mate, id=do.request, what=f"{mate}'s answer to {do.request}"
    )
    if "approved" not in note.text.split(":")[0]:
        raise Failed(f"{mate} does not shut down: {note.text}")
    return f"{mate} shuts down: {note.text}"


def became(do: Hands) -> Steps:
    """Look up what became of the last request of a protocol.

    Args:
        do: what the rules work with.

    Returns:
        The report.

    Raises:
        Failed: if there was no request.
    """
    if not do.request:
        raise Failed("there is no request")
    result = yield from do.call("shutdown_response", request_id=do.request)
    return f"the request: {result.text}"


def _answer_plan(do: Hands, verb: str, name: str = "his", why: str = "") -> Steps:
    mate = do.mate(name)
    approve = verb.lower() == "approve"
    if not approve and not why:
        raise Failed("a plan that isn't approved needs a reason")
    note = yield from do.wait_for("plan_approval_response", sender=mate, what=f"{mate}'s plan")
    if not note.id:
        raise Failed(f"the plan of {mate} came without a request_id, so it can't be answered")
    input = {"request_id": note.id, "approve": approve} | ({"feedback": why} if why else {})
    if verb.lower().startswith("ask"):
        input["request_changes"] = True
    result = yield from do.call("plan_approval", **input)
    confirm(result, note.id, "the answer to the plan")
    do.request = note.id
    if not approve:
        do.refused.add(mate)
    return f"answered {mate}'s plan {note.id}: {short(result.text)}"


def wait(do: Hands) -> str:
    """For a teammate: nothing to do until a message or a task comes.

    Args:
        do: what the rules work with.

    Returns:
        The report.

    Raises:
        Failed: if this agent is no teammate.
    """
    if not do.said.leader:
        raise Failed("I can't wait for work: I lead")
    return "there is nothing to do yet; messages and tasks will come"


def _ask(do: Hands, name: str, text: str) -> Steps:
    return (yield from _send(do, name, text + ("" if text.endswith("?") else "?")))


def report_crew(do: Hands) -> Steps:
    """At the end: every teammate that was started has reported, and none has failed.

    Args:
        do: what the rules work with.

    Returns:
        The last report of each teammate, a line each; empty if there is none.

    Raises:
        Failed: if a teammate reports that it has failed, unless its plan was not approved.
    """
    for mate in list(do.due):
        yield from do.report_of(mate)
    told = []
    for mate in do.crew:
        last = [one for one in do.reports.get(mate, []) if not one.startswith("Not done yet")][-1:]
        if last and last[0].startswith(plans.NOT_DONE) and mate not in do.refused:
            raise Failed(f"{mate} reported: {last[0]}")
        told += [f"{mate} reported: {one}" for one in last]
    return "\n".join(told)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


_CREW = r"(?P<crew>\w+ as (an? |the )?[\w-]+((, and |, | and )\w+ as (an? |the )?[\w-]+)*)"
_CALLED_CREW = r"(?P<crew>an? [\w-]+ called \w+((, and |, | and )an? [\w-]+ called \w+)*)"
_START = r"(spawn|start|hire|bring in)"
_MORE = (
    r"(have|let) (?P<who>her|him|them|it) (?P<told>.+)",
    r"(tell|ask) (?P<who>her|him|them|it) to (?P<told>(?!shut|stop|end).+)",
    r"(?P<who>he|she|they|each|each of them) (should|shall|must|will|is to|are to|has to|have to) "
    r"(?P<told>.+)",
)
_ROLES = r"(?P<roles>an? [\w-]+((, and |, | and )an? [\w-]+)*)"
_SEE = "(see|see to it|make sure|ensure) that"
_OTHER = "(me|us|it|them|her|him|the|an?|this|that|one|another|all|every|both)"
_ALL = "(everybody|everyone|all|them all|all of them|the team|both)"
_SEVERAL = re.compile(f"them|both of them|{_ALL}", re.I)
#: When to shut somebody down: after all else. Each report is waited for anyway.
_LAST = (
    r"(,? (?P<last>(at|in) the end|(when|once|after|as soon as) (all|everything|the work|the file|"
    r"(?P<by>\w+?))( is|'s| are|'re| has| have)? (all )?(done|ready|finished|finishes|complete|"
    r"there|written)"
    r"( it| that)?))?"
)
_WHO = rf"(?P<name>both of them|{_ALL}|[A-Za-z][\w-]*)"

RULES = ruleset(
    (
        "start teammates",
        [
            rf"{_START} {_CREW}(,? (to|who shall|who should) {{text}})?",
            rf"{_START} {_CALLED_CREW}(,? (to|who shall|who should) {{text}})?",
            rf"{_CALLED_CREW} (are|is) to {{text}}",
            rf"{_ROLES} (are|is) to {{text}}",
            rf"{_START} {_ROLES}",
            rf"{_START} {{n}} (?P<role>[a-z-]+?)s(( called|,|:) {{names}})?",
            rf"{_START} (?!{_OTHER}\b){{names}}(,? to {{text}})?",
        ],
        _spawn,
        {
            "example": "spawn alice as coder to create a.txt",
            "needs": ("spawn_teammate",),
            "more": _MORE,
        },
    ),
    (
        "start a teammate",
        [
            r"(have|let) {name} as (?P<role>[\w-]+) {text}",
            rf"(have|let) (?!{_OTHER}\b)(?P<name>[a-z]+) (to )?{{text}}",
            rf"(ask|tell) (?!{_OTHER}\b)(?P<name>[a-z]+) to (?!(shut|stop|end)\b|finish$|go home)"
            r"{text}",
            rf"{_SEE} (?!{_OTHER}\b)(?P<name>[a-z]+) (?P<does>does|completes|finishes) {{text}}",
        ],
        _have,
        {"needs": ("spawn_teammate",)},
    ),
    (
        "a teammate does something",
        rf"(?!{_OTHER}\b)(?P<name>[a-z]+) (?P<verb>{clauses.DOES}) {{text}}",
        _does,
        {"needs": ("spawn_teammate",)},
    ),
    (
        "send the team home",
        rf"send (the team|everybody|everyone|them|them all|both|both of them) home{_LAST}",
        _send_home,
        {"needs": ("shutdown_request",)},
    ),
    (
        "write to all",
        rf"(tell|write to|write|message) {_ALL}:? {{text}}|broadcast:? (?P<said>.+)",
        lambda do, text="", said="": _broadcast(do, text or said),
        {"example": "tell everybody: phase 1 is complete", "needs": ("broadcast",)},
    ),
    (
        "ask for a shutdown",
        [
            rf"(ask|tell) {_WHO} to (shut down|stop|end|finish|go home){_LAST}",
            rf"(stop|end|dismiss) {_WHO}{_LAST}",
            rf"shut {_WHO} down{_LAST}",
            rf"shut down {_WHO}{_LAST}",
            rf"send {_WHO} home{_LAST}",
        ],
        _shut_down,
        {"example": "ask alice to shut down", "needs": ("shutdown_request",)},
    ),
    (
        "write to somebody",
        [
            r"(write|send a message|send|tell)( a message)? to {name}:? {text}",
            r"(send|write) {name} (the |a )?message:? {text}",
            r"(tell|write to) (only )?{name}: {text}",
            r"tell {name} that {text}",
            r"write to (?P<name>[a-z]+)",
        ],
        _send,
        {"example": "write to bob: please wait", "needs": ("send_message",)},
    ),
    (
        "ask somebody",
        r"ask (?P<name>[a-z]+):? (?P<text>(which|what|who|how|where|when|why|whether|if)\b.+)",
        _ask,
        {"needs": ("send_message",)},
    ),
    (
        "show the team",
        r"(show me |tell me |list )?(who is in the team|the team|the teammates|all teammates|"
        r"your team)",
        _team,
        {"example": "who is in the team?", "needs": ("list_teammates",)},
    ),
    (
        "read the inbox",
        r"(read|show|check|show me|what is in) (your |the |my |lead's )?inbox",
        _inbox,
        {"example": "read your inbox", "needs": ("read_inbox",)},
    ),
    (
        "what became of a request",
        r"(tell|show) me (what (became|has become) of|the state of|how it went with) (the|that|"
        r"her|his) request",
        became,
        {"needs": ("shutdown_response",)},
    ),
    (
        "answer a plan",
        [
            r"(?P<verb>approve|reject) (?P<name>\w+?)('s)? plan(,? (because|since|as|for):? (it "
            r"is )?(?P<why>.+))?",
            r"(?P<verb>ask for) changes to (?P<name>\w+?)('s)? plan: (?P<why>.+)",
        ],
        _answer_plan,
        {"example": "approve his plan", "needs": ("plan_approval",)},
    ),
    (
        "see that the board is done",
        rf"{_SEE} (they|the tasks|all tasks|all of them) (are|get) done|"
        r"do (all )?the tasks( on the board)?|get (them|the tasks|all of them) done"
        r"( in (that|the right|their) order)?",
        _finish_board,
        {"needs": ("spawn_teammate",)},
    ),
    (
        "tasks are mentioned",
        r"(\w+ tasks|there is a board|they|tasks) (are|is) on the board|there is a board(, and "
        r"an order)?|there (are|is) \w+ tasks? on the board|(these |the )?(\w+ )?tasks( on the "
        r"board)? have an order",
        plans.manner,
    ),
    ("wait for work", r"wait for (messages|mail|work)|take what (is ready|suits you)", wait),
)
