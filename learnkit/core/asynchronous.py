"""A run for programs of asyncio: the loop stays as it is, and works in a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from learnkit.events.log import Event
from learnkit.runtime.clock import Signal

T = TypeVar("T")
_END = object()


async def in_thread(work: Callable[[], T], stop: Callable[[], Signal]) -> T:
    """The result of ``work``, which a thread does; if the task is cancelled, it is stopped."""
    loop = asyncio.get_running_loop()
    future = loop.run_in_executor(None, work)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        stop().set()
        with contextlib.suppress(Exception):  # the cancellation counts
            await future
        raise


async def streamed(
    events: Generator[Event, None, Any], stop: Callable[[], Signal]
) -> AsyncGenerator[Event, None]:
    """What a generator yields, which runs in a thread; leaving it stops the work."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[Any] = asyncio.Queue()
    left = threading.Event()

    def work() -> None:
        with contextlib.closing(events):
            for event in events:
                if left.is_set():
                    return
                loop.call_soon_threadsafe(queue.put_nowait, event)

    future = loop.run_in_executor(None, work)
    future.add_done_callback(lambda done: queue.put_nowait(_END))
    try:
        while (event := await queue.get()) is not _END:
            yield event
    finally:
        left.set()
        if not future.done():
            stop().set()
        await asyncio.shield(future)


def finished(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, in a loop of its own; also where another loop is running."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
