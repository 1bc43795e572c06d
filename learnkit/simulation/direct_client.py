"""A client without HTTP, for simulations of thousands of turns.

It passes requests to a policy and builds the SDK's own reply types. It leaves out what takes time:
serialising, the transport and the contract. Tests run the same policies with the real client too,
and compare, because the result of a simulation must not depend on this shortcut.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from anthropic.types import Message

from learnkit.clients.connect import model_setting
from learnkit.clients.scripted import Reply, Request
from learnkit.core.token_count import estimate_tokens
from learnkit.runtime.clock import Clock
from learnkit.runtime.virtual_clock import VirtualClock


class Direct:
    """Answers ``messages.create`` from a policy, in this process.

    Attributes:
        model: the model that an agent with this client asks for.
    """

    mode = "mechanical"

    def __init__(self, policy: Callable[[Request], Reply], clock: Clock | None = None) -> None:
        self.clock = clock or VirtualClock()
        self.model = model_setting()
        self._policy = policy
        self._numbers = {"msg": count(1), "toolu": count(1)}
        self.messages = self

    def create(self, **request: Any) -> Message:
        """Return the policy's reply, as the SDK's type; its usage counts estimated tokens."""
        answer = self._policy(request)
        self.clock.sleep(answer.latency)
        content = [self._with_id(block) for block in answer.content]
        calls = any(block["type"] == "tool_use" for block in content)
        # Marks for the cache add nothing to what the model sees.
        system, tools = request.get("system"), request.get("tools") or []
        if isinstance(system, list):
            system = "\n".join(block["text"] for block in system)
        tools = [{k: v for k, v in one.items() if k != "cache_control"} for one in tools]
        head = (system, tools)
        return Message.model_validate(
            {
                "id": f"msg_{next(self._numbers['msg']):04d}",
                "type": "message",
                "role": "assistant",
                "model": request["model"],
                "content": content,
                "stop_reason": answer.stop_reason or ("tool_use" if calls else "end_turn"),
                "stop_sequence": None,
                "usage": {
                    "input_tokens": sum(map(estimate_tokens, (*head, request["messages"]))),
                    "output_tokens": max(1, estimate_tokens(content)),
                    "simulated": True,
                },
            }
        )

    def _with_id(self, block: dict[str, Any]) -> dict[str, Any]:
        if block["type"] != "tool_use":
            return block
        return {**block, "id": f"toolu_{next(self._numbers['toolu']):04d}"}

    def close(self) -> None:
        """Do nothing: nothing is open, but every client has this method."""
