"""The player in a real kernel, asked through the protocol that a notebook uses, without a browser.

A view has to be on the page while its cell still runs, grow from any thread, and answer a page
that missed something, also while the kernel is busy.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

WIDGET = "application/vnd.jupyter.widget-view+json"
START = """
import os, sys, threading
import learnkit as lk
from learnkit.events.log import EventLog
Messages = lk.views.Messages

def say(log, number, lane="lead"):
    log.append("message.added", lane=lane, index=number, message={"role": "user", "content": "x"})
"""
STATIC = """
log = EventLog()
with Messages(log).live():
    say(log, 0)
print(sorted({"anywidget", "ipywidgets", "nbformat"} & set(sys.modules)))
"""
BROKEN = """
os.environ.pop("LEARNKIT_STATIC", None)
class Broken(Messages):
    def fold(self, state, event):
        raise ValueError("this view cannot draw that")
log = EventLog()
with Broken(log).live():
    say(log, 0)
"""
LIVE = """
os.environ.pop("LEARNKIT_STATIC", None)
log, gate, intents = EventLog(), threading.Event(), []
view = Messages(log, on_intent=lambda intent: (intents.append(intent), say(log, 0)))
say(log, 0)
def work(name):
    for number in range(10):
        say(log, number)
with view.live():
    threads = [threading.Thread(target=work, args=(f"w{n}",)) for n in range(20)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
print("views" in {thread.name for thread in threading.enumerate()}, len(log))
"""


class Kernel:
    """A kernel, and what it says on its public channel."""

    def __init__(self, client: BlockingKernelClient) -> None:
        self.client = client

    def run(self, code: str) -> list[dict[str, Any]]:
        """Run a cell; return its messages up to the end."""
        return self._until_idle(self.client.execute(code))

    def tell(self, comm: str, content: dict[str, Any]) -> list[dict[str, Any]]:
        """Send what the page would; return what the kernel says to it."""
        data = {"method": "custom", "content": content}
        message = self.client.session.msg("comm_msg", {"comm_id": comm, "data": data})
        self.client.shell_channel.send(message)
        return self._until_idle(message["header"]["msg_id"])

    def _until_idle(self, request: str) -> list[dict[str, Any]]:
        messages = []
        while True:
            message = self.client.get_iopub_msg(timeout=60)
            messages.append(message)
            if (
                message["parent_header"].get("msg_id") == request
                and message["content"].get("execution_state") == "idle"
            ):
                return messages


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    # Socket files: no port that somebody else could take between choosing and binding it.
    name = str(tmp_path_factory.mktemp("k") / "k.json")
    manager = KernelManager(kernel_name="python3", transport="ipc", connection_file=name)
    root = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    manager.start_kernel(env={**os.environ, "LEARNKIT_STATIC": "1", "PYTHONPATH": path})
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        one = Kernel(client)
        one.run(START)
        yield one
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.cleanup_resources()


def displayed(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one["content"]["data"] for one in messages if one["msg_type"] == "display_data"]


def printed(messages: list[dict[str, Any]]) -> str:
    return "".join(one["content"]["text"] for one in messages if one["msg_type"] == "stream")


def sent(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What went to the player, in order."""
    custom = [one["content"]["data"] for one in messages if one["msg_type"] == "comm_msg"]
    return [data["content"] for data in custom if data.get("method") == "custom"]


@pytest.mark.slow
def test_static_is_shown_once_at_the_end_without_any_widget(kernel: Kernel) -> None:
    messages = kernel.run(STATIC)
    (bundle,) = displayed(messages)
    assert set(bundle) == {"text/html", "text/plain"}
    assert bundle["text/plain"].startswith("message array: 1 message")
    assert printed(messages) == "[]\n"
    assert not [one for one in messages if one["msg_type"].startswith("comm")]


def test_what_a_live_view_raises_is_raised_in_its_cell(kernel: Kernel) -> None:
    errors = [one["content"] for one in kernel.run(BROKEN) if one["msg_type"] == "error"]
    assert [error["evalue"] for error in errors] == ["this view cannot draw that"]


def test_live_grows_from_twenty_threads_and_answers_the_page(kernel: Kernel) -> None:
    messages = kernel.run(LIVE)
    (bundle,) = displayed(messages)
    assert WIDGET in bundle
    assert "0x" not in bundle["text/plain"]
    assert printed(messages) == "False 201\n"
    comm = bundle[WIDGET]["model_id"]

    numbered = sent(messages)
    steps = 0
    for message in numbered:
        assert message["seq"] == steps
        steps += len(message["patches"])
    assert steps == 202  # the start, and one step an event; all of it before the cell has ended
    kinds = [one["msg_type"] for one in messages]
    assert kinds.index("comm_open") < kinds.index("display_data") < kinds.index("comm_msg")

    again = sent(kernel.tell(comm, {"want": 200}))
    assert [(one["seq"], len(one["patches"])) for one in again] == [(200, 2)]
    assert not sent(kernel.tell(comm, {"want": 202}))

    # An intent reaches its handler, the handler appends, and the view grows by the log alone.
    reply = kernel.tell(comm, {"intent": {"do": "claim"}})
    after = reply + kernel.run("from learnkit.widget.pump import PUMP\nprint(intents, len(log))")
    assert printed(after) == "[{'do': 'claim'}] 202\n"
    assert {one["seq"] for one in sent(after + kernel.tell(comm, {"want": 202}))} == {202}
    for nonsense in ("", None, {"want": "x"}, {"intent": 1}):
        assert not sent(kernel.tell(comm, nonsense))  # type: ignore[arg-type]


@pytest.mark.slow
def test_after_another_width_was_asked_for_the_first_feed_is_silent() -> None:
    """The pump may be about to flush it: its steps would be taken for those of the new layout."""
    from learnkit.events.log import EventLog
    from learnkit.views import Traffic
    from learnkit.views.drawing.display import NARROW
    from learnkit.widget.host import Player
    from learnkit.widget.pump import Pump

    log = EventLog()
    log.append("run.started", prompt="x")
    player = Player(Traffic(log), Pump(idle=0.01))
    sent: list[dict[str, Any]] = []
    player.send = sent.append
    first = player._feed
    first.flush()
    player._heard(None, {"width": 10}, None)
    assert [message.get("reset") for message in sent] == [None, True, None]
    assert f'["size",{NARROW},' in json.dumps(sent[2]).replace('\\"', '"')
    log.append("team.spawned", name="bob", role="coder", prompt="x")
    first.flush()
    rest()
    assert [message["seq"] for message in sent[3:]] == [2]
    rest()
    player.close()
    log.append("team.spawned", name="carol", role="coder", prompt="x")
    rest()
    assert len(sent) == 4, "a closed player follows nothing"


def rest() -> None:
    """Return when no pump has anything to do."""
    for thread in threading.enumerate():
        if thread.name == "views":
            thread.join(timeout=10)
