"""What the learner types into lesson 1's loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import learnkit as lk
from learnkit.course.content import Repairs, Verdict
from learnkit.course.lessons.verdicts import asking
from learnkit.events.text import blocks_of

REPAIRS = Repairs()

Json = dict[str, Any]
_UNHEARD = "The array is valid, but it lacks what the model has to hear of"
#: What the API says of a request -> what that is, in the words of the lesson.
_REFUSED = {
    "without `tool_result`": "a call isn't followed by a user message with its result",
    "unexpected `tool_use_id`": "a result has no reply with its call right before it",
}


class _Played:
    """A conversation in which the module's ``bash`` only answers.

    Attributes:
        asked: the messages of each request, as they were sent.
        ran: the commands that were run.
    """

    def __init__(self, agent: Any, *replies: Any) -> None:
        self._agent, self._lead, self._replies = agent, agent.Agent(), replies
        self.asked: list[list[Json]] = []
        self.ran: list[str] = []

    def refused(self, prompt: str) -> Verdict:
        """Let the user say something, and return which request the API refuses, if it does."""
        from anthropic import BadRequestError

        with asking(self._agent, self._reply, bash=self._bash):
            try:
                self._agent.run(self._lead, prompt, 5)
            except BadRequestError as error:
                body: Any = error.body
                text = body["error"]["message"]
                said = next((ours for theirs, ours in _REFUSED.items() if theirs in text), text)
                return f"the API refuses request {len(self.asked) + 1} with error 400: {said}"
        return None

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


def _calls(*commands: str, **more: Any) -> Any:
    return lk.reply(*(lk.use("bash", command=one) for one in commands), **more)


@REPAIRS.add("Each request now carries what was said before it, in its order.")
def check_appends(agent: Any) -> Verdict:
    """Whether a request carries what was said before it."""
    played = _Played(agent, _calls("date"), _calls("ls", "pwd"), lk.say("Done."), lk.say("Yes."))
    if refused := played.refused("What's in the folder?"):
        return refused
    if [len(one) for one in played.asked[:2]] == [1, 1]:
        return (
            "The second request is the same as the first, so the model asks for the same command "
            "again. The reply and the results belong in agent.messages."
        )
    if refused := played.refused("Is it empty?"):
        return f"The user asks again, and {refused}"
    if "Done." not in str(played.asked[-1]):
        return (
            "The user asks again, and the model's last text is missing: a reply without a call "
            "belongs in agent.messages, too, so append it before the loop returns."
        )
    return None


@REPAIRS.add("Each call gets a result: after Ctrl-C, and when a reply is cut off.")
def check_answers(agent: Any) -> Verdict:
    """Whether each call has a result after Ctrl-C, and after a reply that was cut off."""
    return check_appends(agent) or _interrupted(agent) or _cut_off(agent)


def _interrupted(agent: Any) -> Verdict:
    played = _Played(agent, _calls("date", "sleep 60", "ls"), lk.say("I'm here."))
    try:
        played.refused("Go")
    except KeyboardInterrupt:
        pass
    else:
        return "After Ctrl-C the loop goes on. It should stop, as the user wants: raise it again."
    if refused := played.refused("Are you there?"):
        return f"After Ctrl-C, {refused}"
    if not (results := played.results()):
        return f"{_UNHEARD}: the reply that Ctrl-C interrupted, although a command of it has run."
    if results[0].get("is_error") or "output of date" not in str(results[0]["content"]):
        return (
            f"{_UNHEARD}: the first of three commands had ended before Ctrl-C; its output is lost."
        )
    return _errors(results[1:], "After Ctrl-C")


def _cut_off(agent: Any) -> Verdict:
    cut = _calls("rm -rf stations", "mkdir stations", stop_reason="max_tokens")
    played = _Played(agent, cut, lk.say("It was cut off."), lk.say("Yes."))
    refused = played.refused("Remove stations/tmp.")
    if played.ran:
        ran = " and ".join(f"`{one}`" for one in played.ran)
        return f"The reply was cut off at max_tokens, and {ran} ran all the same."
    if refused := refused or played.refused("Is it gone?"):
        return f"After a reply that was cut off, {refused}"
    if not (results := played.results()):
        return f"{_UNHEARD}: the reply that was cut off. Append it, with an error for each call."
    return _errors(results, "After a reply that was cut off")


def _errors(results: list[Json], when: str) -> Verdict:
    if all(one.get("is_error") for one in results):
        return None
    return f"{when}, a call that never ended has a result without is_error: it looks like a success"
