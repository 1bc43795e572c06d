"""Both clocks keep one contract; the virtual one is a reproducible scheduler besides."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from profiles import examples

from learnkit.errors import UsageError
from learnkit.runtime.clock import Clock, Signal, StuckError, SystemClock, Worker
from learnkit.runtime.virtual_clock import VIRTUAL_START, VirtualClock

LONG = 1e6  # seconds: nobody would wait for that


@pytest.fixture(params=[SystemClock, VirtualClock])
def clock(request: pytest.FixtureRequest) -> Iterator[Clock]:
    clock: Clock = request.param()
    yield clock
    clock.close()


def in_time(function: Callable[[], object]) -> None:
    """Run a function that must end; if it hangs, the test fails instead of hanging too."""
    problems: list[BaseException] = []

    def body() -> None:
        try:
            function()
        except BaseException as error:
            problems.append(error)

    thread = threading.Thread(target=body, daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive(), "it hangs"
    if problems:
        raise problems[0]


# What both clocks promise


def test_time_passes_while_one_sleeps(clock: Clock) -> None:
    before, at = clock.time(), clock.now()
    assert before < 20, "since the clock was made"
    assert clock.sleep(0.02) is False
    assert clock.time() - before >= 0.02
    assert clock.now() - at >= timedelta(seconds=0.02)
    assert clock.now().tzinfo is UTC


def test_a_wait_ends_with_any_of_its_signals_or_in_time(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("learnkit.runtime.clock.PATIENCE", LONG)
    mail, stop, other = clock.signal("mail"), clock.signal("stop"), clock.signal("other")
    clock.spawn("first in the queue", lambda: clock.wait(other))
    clock.sleep(0.01)
    waiter = clock.spawn("waiter", lambda: clock.wait(mail, stop))
    clock.sleep(0.01)
    stop.set()
    woken = waiter.join(timeout=20)
    other.set()
    assert woken is True
    assert clock.wait(mail, stop) is True
    stop.clear()
    assert not stop.is_set()
    assert clock.wait(mail, stop, timeout=0.01) is False
    assert clock.wait(mail, timeout=-5) is False


def test_an_exception_is_raised_by_join_every_time(clock: Clock) -> None:
    problem = LookupError("no such file")

    def fail() -> None:
        raise problem

    worker = clock.spawn("failing", fail)
    for _ in range(2):
        with pytest.raises(LookupError) as caught:
            worker.join()
        assert caught.value is problem
    clock.close()  # it has been told


@pytest.mark.parametrize("error", [LookupError("lost"), SystemExit(3), KeyboardInterrupt()])
def test_closing_raises_what_nobody_has_joined(clock: Clock, error: BaseException) -> None:
    def fail() -> None:
        raise error

    def fail_too() -> None:
        clock.sleep(0.01)
        raise ZeroDivisionError("a later one")

    ended = [clock.spawn("first", fail), clock.spawn("second", fail_too)]
    with pytest.raises(type(error)) as caught:
        clock.close()
    assert caught.value is error
    assert all(worker.done for worker in ended)
    clock.close()


def test_closing_stops_and_joins_everything(clock: Clock) -> None:
    before = threading.active_count()

    begun = []

    def agent() -> bool:
        stop = clock.signal("stop")
        with clock.interruptible(stop):
            begun.append(stop)
            return clock.sleep(LONG, stop)

    with clock:
        workers = [clock.spawn(f"agent {i}", agent) for i in range(5)]
        while len(begun) < 5:
            clock.sleep(0.01)
    assert [worker.join() for worker in workers] == [True] * 5
    assert threading.active_count() == before
    with pytest.raises(UsageError, match="cannot start 'late': this clock has been closed"):
        clock.spawn("late", agent)
    assert clock.sleep(0) is False  # only its threads are gone


def test_an_error_on_its_way_out_matters_more(clock: Clock) -> None:
    def fail() -> None:
        raise LookupError

    def block() -> None:
        with clock:
            clock.spawn("failing", fail)
            clock.sleep(0.01)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        block()


# The system clock


def test_a_thread_that_could_not_start_is_not_waited_for() -> None:
    clock = SystemClock()
    before = threading.stack_size(1 << 46)  # more than there is
    try:
        with pytest.raises(RuntimeError, match="start"):
            clock.spawn("too large", print)
    finally:
        threading.stack_size(before)
    in_time(clock.close)


# The virtual clock


def test_an_idle_hour_takes_no_time_and_dates_are_the_same_everywhere() -> None:
    clock = VirtualClock()
    in_time(lambda: clock.sleep(3600))
    assert clock.time() == 3600
    assert clock.now() == VIRTUAL_START + timedelta(hours=1)
    assert [clock.new_id(), clock.new_id()] == ["00000001", "00000002"]


def test_the_earliest_goes_first_and_ties_go_in_order_of_arrival() -> None:
    clock = VirtualClock()
    order: list[tuple[str, float]] = []

    def nap(name: str, seconds: float) -> None:
        clock.sleep(seconds)
        order.append((name, clock.time()))

    naps = {"a": 3.0, "b": 1.0, "c": 2.0, "d": 1.0, "e": 3.0}
    workers = [clock.spawn(name, nap, name, seconds) for name, seconds in naps.items()]
    for worker in workers:
        worker.join()
    assert order == [("b", 1.0), ("d", 1.0), ("c", 2.0), ("a", 3.0), ("e", 3.0)]
    waits = clock.spawn("f", nap, "f", 0.0)
    clock.sleep(0)
    clock.spawn("g", lambda: order.append(("g", clock.time()))).join()
    waits.join()
    assert order[5:] == [("f", 3.0), ("g", 3.0)], "a new thread came last"


def test_signals_come_before_time() -> None:
    clock = VirtualClock()
    order: list[str] = []
    mail = clock.signal("mail")

    def doze() -> None:
        clock.sleep(1)
        order.append("time")

    def read() -> None:
        clock.wait(mail)
        order.append("signal")

    workers = [clock.spawn("dozer", doze), clock.spawn("reader", read)]
    clock.sleep(0.5)
    busy_until = clock.spawn("busy", lambda: None)
    mail.set()
    assert order == []  # nothing moves before somebody waits
    clock.sleep(10)
    assert order == ["signal", "time"]
    for worker in [*workers, busy_until]:
        worker.join()


@pytest.mark.parametrize("by_signal", [False, True])
def test_another_seed_permutes_ties_and_nothing_else(by_signal: bool) -> None:
    def order(seed: int) -> str:
        clock = VirtualClock(seed)
        arrived: list[str] = []
        go = clock.signal("go")

        def nap(name: str) -> None:
            clock.wait(*([go] if by_signal else []), timeout=5)
            arrived.append(name)

        workers = [clock.spawn(name, nap, name) for name in "abcd"]
        clock.sleep(1)
        go.set()
        for worker in workers:
            worker.join()
        return "".join(arrived)

    assert order(0) == "abcd"
    orders = {order(seed) for seed in range(1, 60)}
    assert len(orders) > 10
    assert {"".join(sorted(one)) for one in orders} == {"abcd"}


def test_a_stuck_wait_names_who_waits_for_what() -> None:
    clock = VirtualClock()
    mail, go = clock.signal("mail for alice"), clock.signal("go")
    alice = clock.spawn("alice", lambda: clock.wait(mail, go))
    clock.spawn("bob", alice.join)
    clock.sleep(2)
    with pytest.raises(StuckError) as caught:
        clock.wait(clock.signal("the plan"))
    text = str(caught.value)
    assert "nobody can go on at 2 s" in text
    assert "alice waits for mail for alice or go" in text
    assert "bob waits for the end of 'alice'" in text
    assert "main waits for the plan" in text
    # The clock is as before: one that is given its signal goes on.
    go.set()
    assert alice.join() is True
    with pytest.raises(StuckError, match="main waits for nothing that can happen"):
        clock.wait()
    clock.close()


def test_closing_ends_threads_that_nothing_would_wake() -> None:
    clock = VirtualClock()
    before = threading.active_count()
    ends: list[str] = []

    def wait_for_ever(name: str) -> None:
        try:
            clock.wait(clock.signal("nothing"))
        except Exception:  # what tools do; it must not keep the thread alive
            ends.append(f"{name} went on")
        finally:
            clock.sleep(1)
            ends.append(f"{name} never comes here")

    def fail() -> None:
        raise LookupError("seen all the same")

    for name in "ab":
        clock.spawn(name, wait_for_ever, name)
    clock.spawn("failing", fail)
    clock.sleep(1)
    never_begun = clock.spawn("late", ends.append, "late")
    with pytest.raises(LookupError, match="seen all the same"):
        clock.close()
    assert threading.active_count() == before
    assert ends == ["late"]
    assert never_begun.done


def test_a_foreign_thread_is_told_what_to_do() -> None:
    clock = VirtualClock()
    clock.sleep(1)
    problems: list[str] = []

    def foreign() -> None:
        for use in (lambda: clock.sleep(1), lambda: clock.spawn("x", print), clock.close):
            try:
                use()
            except UsageError as error:
                problems.append(str(error))

    parked = clock.spawn("parked", lambda: clock.sleep(5) or "woke")
    thread = threading.Thread(target=foreign, name="pool-1")
    thread.start()
    thread.join(60)
    assert len(problems) == 3
    assert all("thread 'pool-1' is no part of this virtual clock" in one for one in problems)
    assert all("clock.spawn(name, function)" in one for one in problems)
    assert parked.join() == "woke"  # and nothing has been upset


def test_skipping_ends_the_pace_and_a_new_pace_begins_it_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("learnkit.runtime.virtual_clock.LONGEST", 1e6)
    clock = VirtualClock(pace=1000)

    def skip() -> None:
        while clock.time() < 10:  # virtual time is there before the real time has been spent
            time.sleep(0.001)
        clock.skip()

    skipper = threading.Thread(target=skip)
    skipper.start()
    in_time(lambda: clock.sleep(10))
    skipper.join(60)
    in_time(lambda: clock.sleep(1000))
    clock.skip()
    clock.pace = 0.05
    began = time.monotonic()
    in_time(lambda: clock.sleep(1))
    assert 0.05 <= time.monotonic() - began < 20  # and not for what was skipped


# Programs of many threads

NAPS = st.sampled_from([0.0, 0.5, 1.0, 1.0, 2.0])
SIGNALS = st.integers(0, 2)
SLEEP = st.tuples(st.just("sleep"), NAPS)
STEP = st.one_of(
    SLEEP,
    st.tuples(st.just("wait"), SIGNALS, NAPS),
    st.tuples(st.just("set"), SIGNALS),
    st.tuples(st.just("clear"), SIGNALS),
    st.tuples(st.just("id")),
    st.tuples(st.just("join"), NAPS),
)


def programs(step: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    """Lists of steps, in which a ``spawn`` step holds the steps of a thread of its own."""
    return st.recursive(
        st.lists(step, max_size=5),
        lambda inner: st.lists(
            st.one_of(step, st.tuples(st.just("spawn"), inner)), min_size=1, max_size=5
        ),
        max_leaves=6,
    )


class History:
    """Runs programs on a virtual clock, and writes down every step."""

    def __init__(self, programs: list[list[Any]], seed: int) -> None:
        self.clock = VirtualClock(seed)
        self.steps: list[tuple[Any, ...]] = []
        self.signals: list[Signal] = [self.clock.signal(f"signal {i}") for i in range(3)]
        self.inside = 0
        self.most = 0
        with self.clock:
            self.run("main", [("spawn", program) for program in programs])

    def run(self, name: str, program: list[Any]) -> str:
        children: list[Worker] = []
        for number, (kind, *rest) in enumerate(program):
            self.alone(name, number, kind)
            if kind == "sleep":
                result: Any = self.clock.sleep(rest[0])
            elif kind == "wait":
                result = self.clock.wait(self.signals[rest[0]], timeout=rest[1])
            elif kind == "set":
                result = self.signals[rest[0]].set()
            elif kind == "clear":
                result = self.signals[rest[0]].clear()
            elif kind == "id":
                result = self.clock.new_id()
            elif kind == "spawn":
                child = f"{name}.{number}"
                children.append(self.clock.spawn(child, self.run, child, rest[0]))
                result = child
            else:
                result = children[0].join(timeout=rest[0]) if children else None
                children = [*children[1:], *children[:1]]
            self.alone(name, number, f"{kind} gave {result}")
        for child_worker in children:
            child_worker.join()
        self.alone(name, len(program), "ended")
        return f"{name} ended"

    def alone(self, *step: Any) -> None:
        """Note a step; if another thread ran meanwhile, the count would show it."""
        self.inside += 1
        self.most = max(self.most, self.inside)
        time.sleep(0)  # lets another thread run, if there were one that may
        self.most = max(self.most, self.inside)
        self.steps.append((self.clock.time(), *step))
        self.inside -= 1


@pytest.mark.slow
@settings(max_examples=examples(8))
@given(st.lists(programs(STEP), min_size=20, max_size=20), st.integers(0, 5))
def test_the_same_seed_gives_the_same_history(programs: list[list[Any]], seed: int) -> None:
    histories = [History(programs, seed) for _ in range(20)]
    first = histories[0]
    assert all(one.steps == first.steps for one in histories)
    assert all(one.most == 1 for one in histories)
    times = [step[0] for step in first.steps]
    assert times == sorted(times)
    assert sum(step[-1] == "ended" for step in first.steps) >= 21
