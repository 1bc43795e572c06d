"""What lesson b1 has its reader write: which commands a line runs, and when a guard refuses."""

from __future__ import annotations

from typing import Any

from learnkit.course.content import Repairs, Verdict
from learnkit.course.lessons.verdicts import asking, short

REPAIRS = Repairs()

_RULES = {"allow": ["bash(git diff:*)", "bash(git log:*)", "bash(head:*)"], "deny": ["bash(rm:*)"]}
#: Lines that only do what is allowed.
_FINE = (
    "git diff",
    "git diff -- stations/oslo.csv",
    "git diff 'a file.csv'",
    "git diff && git log -3",
    "git diff | head -3",
)
#: Lines of which a part is denied.
_DENIED = (
    *("git diff; rm -r x", "git diff;rm -r x", "git diff && rm x", "git diff & rm x"),
    "rm -r x 2>/dev/null",
)
#: Lines that must not run unasked.
_ELSE = (
    *_DENIED,
    "git diff HEAD; rm -r x",
    "git diff HEAD | sh",
    "git diff HEAD || make",
    "git diff HEAD& make",
    "git diff x#; make",
    "git diff HEAD\nmake",
    "git diff HEAD $WHATEVER",
    "git diff HEAD < stations/oslo.csv",
    "git diff $(make)",
    'git diff "$(make)"',
    "git diff `make`",
    "git diff > stations/oslo.csv",
    "git diff <(make)",
)
#: Lines in which a shell works something out: nobody knows it beforehand.
_WORKED_OUT = ("git diff {HEAD,stations}", "git diff H\\EAD")


@REPAIRS.add("Each command of a line needs a rule of its own.")
def check_commands_in(agent: Any) -> Verdict:
    """Ask the rules about lines that are fine, and about some that only begin so."""
    with asking(agent, ["."], RULES=_RULES):
        lead = agent.Agent()

        def says(line: str) -> str:
            return agent.ruling(lead, {"name": "bash", "input": {"command": line}}) or "ask"

        unasked = ("deny", "ask")
        groups = {_ELSE: unasked, _FINE: ("allow",), _DENIED: ("deny",), _WORKED_OUT: unasked}
        for lines, right in groups.items():
            for line in lines:
                if (found := says(line)) not in right:
                    return (
                        f"`commands_in({line!r})` returned {short(agent.commands_in(line))}. Under "
                        f"rules that allow git diff, git log and head, and deny rm, that means "
                        f"{found}, not {' or '.join(right)}"
                    )
    return None


@REPAIRS.add("Only a guard that is content lets a call pass.")
def check_objection(agent: Any) -> Verdict:
    """Exit codes as they come, with and without a reason."""
    for code, what in (
        (2, "a refusal"),
        (1, "an error in the guard"),
        (127, "a program that isn't there"),
        (-9, "a guard that was killed"),
    ):
        for said in ("hands off", ""):
            found = agent.objection(code, said)
            if not found or not isinstance(found, str):
                about = f"{what}, and {'a' if said else 'no'} reason"
                return f"for exit code {code}, {about}, it returns {found!r}: the call runs"
            if said not in found:
                return f"for exit code {code}, {what}, the model reads {found!r}, not {said!r}"
    for said in ("", "looked at it"):
        if (found := agent.objection(0, said)) is not None:
            return f"for exit code 0 and {said!r} it returns {found!r}: the guard is content"
    return None
