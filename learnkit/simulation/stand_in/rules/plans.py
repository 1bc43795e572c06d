"""Todo lists, subagents, skills and compaction: lessons 3 to 6."""

from __future__ import annotations

import re

from learnkit.simulation.stand_in.clauses import number, ruleset, several
from learnkit.simulation.stand_in.hands import Failed, Hands, Steps, confirm, first_line
from learnkit.simulation.stand_in.matching import LEAST, Fit, fits

#: How a report begins that isn't one of success.
NOT_DONE = ("Not done", "I don't understand", "failed:")


# Todo lists


def _plan(do: Hands, text: str, n: str = "", rest: str | None = None) -> Steps:
    items = several(text)
    if n and number(n) != len(items):
        raise Failed(f"you said {n} steps, and named {len(items)}")
    yield from put(do, [{"text": one, "status": "pending"} for one in items])
    return f"wrote the list: {'; '.join(items)}"


def _put_on_list(do: Hands, text: str) -> Steps:
    items = [{"text": one, "status": "pending"} for one in several(text)]
    yield from put(do, [*do.todo, *items])
    return f"put on the list: {'; '.join(one['text'] for one in items)}"


def _mark(do: Hands, which: str, status: str = "completed") -> Steps:
    order = ("first", "second", "third", "fourth", "fifth", "last")
    place = -1 if which == "last" else order.index(which.lower())
    if not do.todo or place >= len(do.todo):
        raise Failed(f"there is no {which} item on the list")
    item = do.todo[place]
    item["status"] = "completed" if status in ("done", "completed", "finished") else "in_progress"
    yield from put(do, do.todo)
    return f"marked {item['text']!r} as {item['status']}"


def put(do: Hands, items: list[dict[str, str]]) -> Steps:
    """Write the list, with the tools that there are for it.

    Args:
        do: what the rules work with.
        items: with text and status; ids are given in order.
    """
    if "todo" in do.kit.tools:
        listed = [{"id": str(id), **one} for id, one in enumerate(items, start=1)]
        result = yield from do.call("todo", items=listed)
    elif "todo_add" in do.kit.tools:
        before = len(do.todo)
        for id, one in enumerate(items, start=1):
            if id > before:
                result = yield from do.call("todo_add", text=one["text"])
                found = re.search(rf"#(\w+): {re.escape(one['text'])}", result.text)
                one["id"] = found[1] if found else str(id)
            if one["status"] != one.get("shown", "pending"):
                result = yield from do.call(
                    "todo_update", id=one.get("id", str(id)), status=one["status"]
                )
                one["shown"] = one["status"]
    else:
        raise Failed("there is no tool that keeps a todo list")
    if items:
        confirm(result, items[-1]["text"], "the list")
    do.todo = items
    return ""


def manner(do: Hands) -> str:
    """How to do the rest, which the whole plan sees to.

    Args:
        do: what the rules work with; not needed.

    Returns:
        An empty report.
    """
    return ""


# Subagents


def _delegate(do: Hands, text: str) -> Steps:
    if do.kit.role("delegate") is None:
        raise Failed("there is no tool that starts a subagent")
    prompt = text[:1].upper() + text[1:]
    if found := re.search(r"[\w./-]+/?[\w-]+\.\w+", text):
        do.files.append(found[0])
    description = " ".join(text.split()[:5])
    result = yield from do.use("delegate", prompt=prompt + ".", description=description)
    if result.text.startswith(NOT_DONE):
        raise Failed(f"the subagent reported: {result.text}")
    return f"a subagent reported:\n{result.text}"


def _made_by(do: Hands, file: str, text: str = "") -> Steps:
    if not text:
        raise Failed(
            f"you haven't said what should be in {file}; you can add, for example, "
            "'with a function double(x) that returns x * 2'"
        )
    return (yield from _delegate(do, f"create {file}{text}"))


# Skills


def _skills(do: Hands, count: str = "", short: str = "") -> str:
    known = _known(do)
    if count:
        return f"there are {len(known)} skills: {', '.join(known)}"
    if short:
        return f"the skills are: {', '.join(known)}"
    return "the skills are:\n" + "\n".join(f"- {name}: {about}" for name, about in known.items())


def load(do: Hands, text: str = "", about: str = "") -> Steps:
    """Load a skill: the one whose description fits best.

    Args:
        do: what the rules work with.
        text: what the skill is for, or its name.
        about: a statement before the clause. It says what the skill is for if ``text`` is empty or
            vague, such as "the right skill"; without it, the last search for a skill does.

    Returns:
        The report.

    Raises:
        Failed: if no skill fits, or two fit equally well, or it can't be loaded.
    """
    known = _known(do)
    vague = re.fullmatch(
        r"(?:the |a )?(?:right|best|matching|it|skill)?(?: skill)?", text.strip(), re.I
    )
    query = (about or do.query) if vague else text
    if not query:
        raise Failed("I don't know what the skill is wanted for")
    name = best(query, known)
    result = yield from do.call("load_skill", name=name)
    if name not in result.text and not result.cut:
        raise Failed(f"what came back is not the skill {name}: {first_line(result.text)}")
    return f"loaded the skill {name}, whose description fits {query!r} best"


def which_skill(do: Hands, text: str = "", about: str = "") -> str:
    """Name the skill that fits best; a later "load it" means this one.

    Args:
        do: what the rules work with.
        text: what the skill is for.
        about: a statement before the clause, which says so without a text.

    Returns:
        The report.

    Raises:
        Failed: if no skill fits, or two fit equally well.
    """
    do.query = text = text or about
    if not text:
        raise Failed("I don't know what the skill is wanted for")
    return f"the skill for {text!r} is {best(text, _known(do))}"


def _known(do: Hands) -> dict[str, str]:
    """The skills on offer: those that the tool allows, with their descriptions."""
    if "load_skill" not in do.kit.tools:
        raise Failed("there is no tool that loads a skill")
    listed = dict(re.findall(r"^- ([\w-]+): (.*)$", do.said.system, re.M))
    allowed = do.kit.parameters("load_skill").get("name", {}).get("enum")
    names = list(listed) if allowed is None else allowed
    return {name: listed.get(name, "") for name in names}


def best(query: str, known: dict[str, str]) -> str:
    """The skill whose name and description share most with a text; see ``matching``.

    Args:
        query: what the skill is for.
        known: descriptions by name.

    Raises:
        Failed: if none shares a word, or two share as much.
    """
    first, *others = [*fits(query, known), Fit("", 0, ())]
    if first.score < LEAST:
        raise Failed(f"no skill's description shares a telling word with {query!r}")
    if first.score == others[0].score:
        raise Failed(f"{first.name} and {others[0].name} fit {query!r} equally well")
    return first.name


# Compaction


def _compact(do: Hands, focus: str = "") -> Steps:
    if "compact" not in do.kit.tools:
        raise Failed("there is no tool that compacts the conversation")
    input = {"focus": focus} if focus else {}
    yield from do.call("compact", **input)
    return "compacted the conversation" + (f", keeping what concerns {focus}" if focus else "")


_SUB = "(a |one |another |the )?(sub-?agent|subtask)"

RULES = ruleset(
    (
        # What has happened or is too much; never a wish or a rule, which would have to be heeded.
        "background",
        r"(the|our|my) (?!.*\b(not|never|no|only|must|should|needs?|all|each|every)\b)[\w ]+? "
        r"(died|crashed|ended|grew|takes too (much|long|many))( [\w ]+)?",
        manner,
    ),
    (
        "keep to the list",
        r"(keep|use|write|make) (a|your|the) (todo list|todo|list|plan)( while you do (it|so|"
        r"this|that))?",
        manner,
    ),
    (
        "leave it at that",
        r"(don't|do not) (start|begin|do anything|do them|do it|run it)( yet)?|stop( there)?|wait",
        manner,
    ),
    (
        "write a plan",
        r"(make|write|put down) (a |the )?(plan|todo list|list)( with| of)?( (the )?({n} "
        r")?(steps|items|things|parts))?: {text}",
        _plan,
        {"example": "make a plan with two steps: write it, test it", "needs": ("todo",)},
    ),
    (
        "put something on the list",
        r"(put|add|write) {text} (on|to) (your|the|my) (todo )?(list|todo|plan)",
        _put_on_list,
        {"example": "put 'buy milk' on your list", "needs": ("todo",)},
    ),
    (
        "mark an item",
        r"mark the (?P<which>first|second|third|fourth|fifth|last)( one| item)? as "
        r"(?P<status>done|completed|finished|in progress|in_progress)",
        _mark,
    ),
    (
        "delegate",
        [
            rf"(have|let|ask|get|use|tell|start) {_SUB} (to )?{{text}}",
            r"another one (to )?{text}",
            rf"(?P<text>find out) (through|with|by|in) {_SUB} (?P<more>.+)",
            rf"(?P<text>(create|write|make|add|count|list|read|rename|delete) .+) (in|by) {_SUB}",
        ],
        lambda do, text, more="": _delegate(do, f"{text} {more}".strip()),
        {"example": "have a subagent count the lines of README.md", "needs": ("delegate",)},
    ),
    (
        "have a file made by a subagent",
        rf"(have|let) {{file}} (be )?(made|created|written) (in|by|through) {_SUB}(?P<text>,? "
        rf"with .+)?",
        _made_by,
        {"needs": ("delegate",)},
    ),
    (
        "list the skills",
        r"(which|what|(?P<count>how many)) skills (do you have|are there|have you got)|"
        r"(list|show|show me) (the|your|all) skills",
        _skills,
        {
            "example": "which skills do you have?",
            "needs": ("load_skill",),
            "more": ("(in )?one line (for )?each", "(?P<short>just|only) (the|their) names"),
        },
    ),
    (
        "find a skill",
        [
            r"(which|what) skill (should i use|do i need|fits|helps me|helps)",
            r"(which|what) skill (helps me|helps|is there|should i use|do i need)( with| for| to)? "
            r"{text}",
            r"(which|what) of your skills is (about|for) {text}",
        ],
        which_skill,
        {"needs": ("load_skill",)},
    ),
    (
        "load a skill",
        [
            r"(load|use|open) (?P<text>the (right|best|matching) skill|it)",
            r"(load|use|open) (the |a )?((right|best|matching) )?skill (for|about|on|called|named) "
            r"{text}",
            r"(load|use|open) (the |a )?{text} (skill|manual)",
            r"(load|use|open) (the )?(skill )?(?P<text>[a-z]+(-[a-z]+)+)",
        ],
        load,
        {"example": "load the skill for code review", "needs": ("load_skill",)},
    ),
    (
        "compact",
        r"compact( (now|the conversation|it))?(,? (and )?keep(ing)? (what concerns |what is "
        r"about |everything about )?(?P<focus>.+))?",
        _compact,
        {
            "example": "compact, and keep what concerns the units",
            "needs": ("compact",),
            "more": (
                r"keep (what concerns |what is about |everything about )?(the )?(?P<focus>.+)",
            ),
        },
    ),
)
