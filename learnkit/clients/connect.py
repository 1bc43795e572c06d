"""Where a client's replies come from: replay, record, live, or a script.

A key in the environment never changes the mode; only ``connect("live")`` uses it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learnkit.core.request import live_key
from learnkit.errors import UsageError
from learnkit.runtime.clock import Clock, SystemClock
from learnkit.runtime.virtual_clock import VirtualClock

if TYPE_CHECKING:
    from learnkit.clients.recordings.replay import Replay
    from learnkit.clients.scripted import Script, Source
    from learnkit.clients.transport import Client

MODES = ("replay", "record", "live")


def model_setting() -> str:
    """The one model setting: ``LEARNKIT_MODEL``, else the course's default."""
    from learnkit.core.catalog import DEFAULT_MODEL

    return os.environ.get("LEARNKIT_MODEL") or DEFAULT_MODEL


def scripted(script: Script | Source, clock: Clock | None = None) -> Client:
    """A client whose replies are written in Python.

    Args:
        script: replies in order, e.g. ``[use("bash", command="ls"), say("done")]``; or a function
            of the request; or a dict of these by lane (the agent's name); or any source of replies.
        clock: by default a new ``VirtualClock``.
    """
    from learnkit.clients.scripted import Scripted, Source

    source = script if isinstance(script, Source) else Scripted(script)
    return from_source(source, clock or VirtualClock(), "scripted")


def from_source(source: Source, clock: Clock, mode: str, model: str | None = None) -> Client:
    """A client over any source of replies."""
    from learnkit.clients.transport import OfflineTransport, offline_client

    return offline_client(OfflineTransport(source, clock), clock, mode, model or model_setting())


def connect(
    mode: str = "replay",
    *,
    recording: str | Path | None = None,
    scenario: str | None = None,
    clock: Clock | None = None,
    upstream: Any = None,
) -> Client:
    """A client for one of the modes.

    Args:
        mode: ``replay`` answers from a recording; ``record`` asks ``upstream`` and writes a
            recording; ``live`` asks the API.
        recording: path of the recording, for replay and record.
        scenario: the part of the recording to use; by default its first.
        clock: by default a ``VirtualClock`` in replay, and a ``SystemClock`` elsewhere.
        upstream: for record: a script as in :func:`scripted`, or None for the API.

    Returns:
        A real ``anthropic.Anthropic`` that also knows its clock.

    Raises:
        UsageError: for an unknown mode, a missing recording, or live without a key.
    """
    if mode == "replay":
        replay = recorded(_needed(recording, mode), scenario)
        return from_source(replay, clock or VirtualClock(), "replay", replay.model)
    if mode == "record":
        return _record(_needed(recording, mode), scenario or "main", clock, upstream)
    if mode == "live":
        return _live(clock or SystemClock())
    modes = f"the modes are {', '.join(MODES)}; for a script of your own call scripted([...])"
    raise UsageError(f"there is no mode {mode!r}; {modes}")


def _needed(recording: str | Path | None, mode: str) -> Path:
    if recording is None:
        raise UsageError(f"mode {mode!r} needs recording=<path of a .yaml file>")
    return Path(recording)


def recorded(path: str | Path, scenario: str | None = None) -> Replay:
    """The recorded replies of a scenario."""
    from learnkit.clients.recordings.recording import Recording
    from learnkit.clients.recordings.replay import Replay

    return Replay(Recording.load(path), scenario)


def _record(path: Path, scenario: str, clock: Clock | None, upstream: Any) -> Client:
    from learnkit.clients.recordings.record import Recorder, RecordingTransport
    from learnkit.clients.transport import OfflineTransport, offline_client

    recorder = Recorder(path, scenario, "recorded" if upstream is None else "scripted")
    if upstream is not None:
        from learnkit.clients.scripted import Scripted

        source = upstream if hasattr(upstream, "answer") else Scripted(upstream)
        clock = clock or VirtualClock()
        transport = OfflineTransport(source, clock, recorder)
        return offline_client(transport, clock, "record", model_setting())
    live = _live(clock or SystemClock(), transport=RecordingTransport(recorder))
    live.mode = "record"
    return live


def _live(clock: Clock, transport: Any = None) -> Client:
    key = live_key()
    import anthropic

    from learnkit.clients.transport import Client

    http = None if transport is None else anthropic.DefaultHttpxClient(transport=transport)
    client = Client(api_key=key, http_client=http)
    client.clock, client.mode, client.model = clock, "live", model_setting()
    return client
