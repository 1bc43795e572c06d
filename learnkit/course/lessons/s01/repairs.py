"""What the learner types into lesson 1's loop."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import learnkit as lk
from learnkit.course.content.lesson import Repair
from learnkit.events.text import blocks_of

Json = dict[str, Any]
_UNHEARD = "The array is valid, but it lacks what the model has to hear of"


class _Played:
    """A conversation in which the module's ``bash`` only answers.

    Attributes:
        lead: the agent.
        asked: the messages of each request, as they were sent.
        ran: the commands that were run.
    """

    def __init__(self, agent: Any, *replies: Any) -> None:
        self._agent, self._replies = agent, replies
        self.lead = agent.Agent()
        self.asked: list[list[Json]] = []
        self.ran: list[str] = []

    def run(self, prompt: str) -> str:
        """Let the user say something."""
        from anthropic import BadRequestError

        client = lk.scripted(self._reply)
        mine = {"client": client, "MODEL": client.model, "bash": self._bash}
        with _set(self._agent, mine), contextlib.closing(client):
            try:
                return str(self._agent.run(self.lead, prompt, 5))
            except BadRequestError as error:
                said: Any = error.body
                raise _Refused(said["error"]["message"]) from error

    def _reply(self, request: Mapping[str, Any]) -> Any:
        self.asked.append([*request["messages"]])
        return self._replies[min(len(self.asked), len(self._replies)) - 1]

    def _bash(self, command: str) -> str:
        self.ran.append(command)
        if command == "sleep 60":
            raise KeyboardInterrupt
        return f"output of {command}"

    def results(self) -> list[Json]:
        """The results of the last request."""
        blocks = [block for message in self.asked[-1] for block in blocks_of(message["content"])]
        return [one for one in blocks if one["type"] == "tool_result"]


class _Refused(Exception):
    """An error 400."""

    def __str__(self) -> str:
        text = str(self.args[0])
        if "without `tool_result`" in text:
            return "it has a call whose result isn't in the next message"
        if "unexpected `tool_use_id`" in text:
            return "it has a result, and the reply with its call isn't right before it"
        return text


@contextlib.contextmanager
def _set(module: Any, values: Mapping[str, Any]) -> Iterator[None]:
    before = {name: getattr(module, name) for name in values}
    vars(module).update(values)
    try:
        yield
    finally:
        vars(module).update(before)


def _calls(*commands: str, **more: Any) -> Any:
    return lk.reply(*(lk.use("bash", command=one) for one in commands), **more)


def check_appends(agent: Any) -> str | None:
    """Whether a request carries what was said before it."""
    played = _Played(agent, _calls("date"), _calls("ls", "pwd"), lk.say("Done."), lk.say("Yes."))
    try:
        played.run("What's in the folder?")
    except _Refused as error:
        return f"The API refuses request {len(played.asked) + 1} with error 400: {error}."
    lengths = [len(one) for one in played.asked]
    if lengths[:2] == [1, 1]:
        return (
            "The second request is the same as the first, so the model asks for the same command "
            "again. The reply and the results belong in agent.messages."
        )
    if len(played.ran) != 3:
        return f"Three commands should have run, each once. These did: {', '.join(played.ran)}."
    try:
        played.run("Is it empty?")
    except _Refused as error:
        return f"The user asks again, and the API refuses it with error 400: {error}."
    said = [block.get("text") for one in played.asked[-1] for block in blocks_of(one["content"])]
    if "Done." not in said:
        return (
            "The user asks again, and the model's last text is missing: a reply without a call "
            "belongs in agent.messages, too, so append it before the loop returns."
        )
    return None


def check_answers(agent: Any) -> str | None:
    """Whether each call has a result after Ctrl-C, and after a reply that was cut off."""
    return check_appends(agent) or _interrupted(agent) or _cut_off(agent)


def _interrupted(agent: Any) -> str | None:
    played = _Played(agent, _calls("date", "sleep 60", "ls"), lk.say("I'm here."))
    try:
        played.run("Go")
    except KeyboardInterrupt:
        pass
    else:
        return "After Ctrl-C the loop goes on. It should stop, as the user wants: raise it again."
    try:
        played.run("Are you there?")
    except _Refused as error:
        return f"After Ctrl-C every request gets error 400: {error}."
    results = played.results()
    if len(results) < 3:
        return f"{_UNHEARD}: the reply that Ctrl-C interrupted, although a command of it has run."
    if "output of date" not in str(results[0]["content"]):
        return "The first command had ended before Ctrl-C, and its output should be its result."
    return _errors(results[1:], "After Ctrl-C")


def _cut_off(agent: Any) -> str | None:
    cut = _calls("rm -rf stations", stop_reason="max_tokens")
    played = _Played(agent, cut, lk.say("It was cut off."), lk.say("Yes."))
    try:
        played.run("Remove stations/tmp.")
        if played.ran:
            return "The reply was cut off at max_tokens, and its command ran all the same."
        played.run("Is it gone?")
    except _Refused as error:
        return f"After a reply that was cut off, a request gets error 400: {error}."
    if len(played.asked[1]) == 1:
        return (
            "After a reply that was cut off, the next request is the same as before, so the model "
            "writes the same again. Append the reply, and an error as its call's result."
        )
    results = played.results()
    if not results:
        return f"{_UNHEARD}: the reply that was cut off, so it can't send it again."
    return _errors(results, "After a reply that was cut off")


def _errors(results: list[Json], when: str) -> str | None:
    if all(one.get("is_error") for one in results):
        return None
    return (
        f"{when}, a call that never ended has a result without is_error: it looks like a success."
    )


#: Name of a repair -> how it is tried; in the order in which the lesson does.
REPAIRS: dict[str, Repair] = {
    "appends": Repair(
        check_appends, "Each request now carries what was said before it, in its order."
    ),
    "answers": Repair(
        check_answers, "Each call gets a result: after Ctrl-C, and when a reply is cut off."
    ),
}
