"""User hooks: commands that the user has set up, run before and after what an agent does.

A hook is given JSON on its standard input. Exit code 2 refuses, with what it wrote to standard
error as the reason; so does a hook before a prompt or a call that takes too long, or whose program
is not there. Any other code is logged and changes nothing.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from learnkit.core.content import note
from learnkit.core.frames import HOOK, defused
from learnkit.core.interface import AgentLike, Call, Result
from learnkit.core.mechanism import Mechanism
from learnkit.core.transcript import texts
from learnkit.errors import LearnkitError
from learnkit.events.hooks import HookRan, Outcome
from learnkit.events.text import excerpt
from learnkit.mechanisms.settings import Hook, Moment
from learnkit.runtime.shell import LocalShell, Shell

#: Characters of a hook's words that go to the model, and how often in a row it may say go on.
SAID, GO_ON = 4_000, 5
#: Ends after which a prompt or a call does not go on: a hook may be there to protect something.
_STOPPING = ("refused", "timed out", "not started")


class PromptRefused(LearnkitError):
    """A hook of the user's has refused a prompt; the conversation is as it was before."""


class UserHooks(Mechanism):
    """Runs the user's commands at four moments.

    ``prompt`` may refuse a prompt, and its output follows the prompt; ``before_tool`` may refuse a
    call; ``after_tool`` and ``stop`` tell the model something when they refuse, after a call and
    when the model would stop. The JSON has ``moment``, ``agent``, ``workspace`` and ``prompt``;
    ``tool`` and ``input``, after a call ``output`` and ``is_error`` as well; ``text`` and
    ``went_on``, how often in a row a hook has let the model go on.

    Calls of subagents and teammates come to ``before_tool`` as well. Put it before
    :class:`learnkit.Permission`, so that the user isn't asked about what a hook refuses. Emits
    ``hook.ran``. A refused prompt ends the run with :class:`PromptRefused`.

    Args:
        hooks: what :attr:`learnkit.Settings.hooks` has. Those of a project are in it only if the
            user has accepted them.
        workspace: the folder in which they run.
        shell: runs them; by default a :class:`learnkit.LocalShell`, whose environment has no keys.
    """

    def __init__(
        self, hooks: Sequence[Hook], workspace: str | Path, shell: Shell | None = None
    ) -> None:
        self._hooks, self._workspace = tuple(hooks), Path(workspace).resolve()
        self._shell = LocalShell() if shell is None else shell
        self._seen: Any = None  # the message that was looked at last
        self._went_on = 0

    def before_model(self, agent: AgentLike) -> None:
        """Run those for a prompt, when one has come."""
        prompt = agent.messages[-1]
        if agent.turns or prompt["role"] != "user" or prompt is self._seen:
            return
        self._went_on, added = 0, []
        for hook in self._of("prompt"):
            outcome, said = self._run(agent, hook, prompt=_text(prompt))
            if outcome in _STOPPING:
                agent.rewrite(agent.messages[:-1], "a hook refused the prompt")
                raise PromptRefused(f"a hook refused the prompt: {said}")
            added += note(_framed(said)) if outcome == "passed" else []
        if added:
            content = prompt["content"]
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            prompt = {**prompt, "content": [*blocks, *added]}
            agent.rewrite([*agent.messages[:-1], prompt], "a hook added to the prompt")
        self._seen = prompt

    def refuse(self, agent: AgentLike, call: Call) -> str | None:
        """What the first hook says that refuses a call."""
        for hook in self._of("before_tool", agent, call):
            outcome, said = self._run(agent, hook, tool=call.name, input=call.input)
            if outcome in _STOPPING:
                return f"Refused by a hook of the user's: {said}"
        return None

    def after_tool(self, agent: AgentLike, call: Call, result: Result) -> str | None:
        """What hooks say to a call that has run."""
        if result.how not in ("ran", "raised"):
            return None
        output = "\n".join(texts(result.content))
        given = {"tool": call.name, "input": call.input, "output": output}
        said = [
            self._run(agent, hook, **given, is_error=result.is_error)
            for hook in self._of("after_tool", agent, call)
        ]
        return "\n".join(_framed(text) for outcome, text in said if outcome == "refused") or None

    def on_stop(self, agent: AgentLike) -> str | None:
        """What the first hook says that lets the model go on."""
        last = agent.messages[-1]
        if last is self._seen:  # it is asked again while the run waits for something
            return None
        self._seen = last
        for hook in self._of("stop"):
            outcome, said = self._run(agent, hook, text=_text(last), went_on=self._went_on)
            if outcome == "refused" and self._went_on < GO_ON:
                self._went_on += 1
                return _framed(said)
        return None

    def _of(self, moment: Moment, *about: Any) -> list[Hook]:
        """The hooks of a moment; with an agent and its call, those that are about it."""
        found = [one for one in self._hooks if one.moment == moment]
        return [one for one in found if one.about(*about)] if about else found

    def _run(self, agent: AgentLike, hook: Hook, **given: Any) -> tuple[Outcome, str]:
        """How a hook has ended, and what it said: its output if it passed, else its errors."""
        about = {"moment": hook.moment, "agent": agent.name, "workspace": str(self._workspace)}
        mark = os.urandom(8).hex()  # between its output and its errors
        command = (
            f"exec 3>&1\nerrors=$(bash -c {shlex.quote(hook.command)} 2>&1 1>&3 3>&-)\n"
            f'code=$?; printf %s {mark} "$errors"; exit $code'
        )
        given_text = json.dumps({**about, **given})
        result = self._shell.run(
            command, self._workspace, hook.timeout, agent.stop, stdin=given_text
        )
        output, _, errors = result.output.partition(mark)
        outcomes: dict[int | None, Outcome] = {0: "passed", 2: "refused"}
        outcomes |= dict.fromkeys((126, 127), "not started")  # bash found no such program
        outcome = "timed out" if result.timed_out else outcomes.get(result.code, "failed")
        said = {
            "passed": output.strip(),
            "timed out": f"{hook.command} took more than {hook.timeout:g} s",
            "not started": f"{hook.command} cannot be started ({errors.strip()}); "
            f"correct [[hooks.{hook.moment}]] in the settings, or remove it",
        }.get(outcome, errors.strip() or f"{hook.command} gave no reason")
        said = excerpt(said, SAID)
        agent.emit(
            HookRan(
                moment=hook.moment, command=hook.command, outcome=outcome, said=excerpt(said, 400)
            )
        )
        return outcome, said


def _text(message: dict[str, Any]) -> str:
    return "\n".join(texts(message["content"]))


def _framed(text: str) -> str:
    return f"<{HOOK}>\n{defused(text)}\n</{HOOK}>" if text else ""
