"""Which layer of a graph a node belongs to, and in which order, so that few edges cross.

The first half of layered drawing as Sugiyama, Tagawa and Toda described it in 1981: longest-path
layers, and sweeps that put each item at the mean place of its neighbours in the layer before.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from itertools import pairwise

Edge = tuple[int, int]
#: A node, or the place at which an edge passes a layer: (from, to, layer).
Item = int | tuple[int, int, int]

#: Rounds of sweeps, down and up again.
SWEEPS = 8


def without_circles(nodes: Sequence[int], edges: Sequence[Edge]) -> list[Edge]:
    """The edges without those that lead back to where the search came from."""
    after: dict[int, list[int]] = {node: [] for node in nodes}
    for start, end in edges:
        after[start].append(end)
    kept: list[Edge] = []
    state = dict.fromkeys(nodes, 0)  # 1: on the way here, 2: done
    for root in nodes:
        stack = [(root, iter(after[root]))] if not state[root] else []
        state[root] = state[root] or 1
        while stack:
            node, rest = stack[-1]
            for end in rest:
                if state[end] == 1:
                    continue
                kept.append((node, end))
                if not state[end]:
                    state[end] = 1
                    stack.append((end, iter(after[end])))
                    break
            else:
                state[node] = 2
                stack.pop()
    return sorted(kept)


def depths(nodes: Sequence[int], edges: Sequence[Edge]) -> dict[int, int]:
    """The length of the longest way to each node."""
    waits = dict.fromkeys(nodes, 0)
    for _, end in edges:
        waits[end] += 1
    after: dict[int, list[int]] = {node: [] for node in nodes}
    for start, end in edges:
        after[start].append(end)
    depth = dict.fromkeys(nodes, 0)
    queue = [node for node in nodes if not waits[node]]
    for node in queue:
        for end in after[node]:
            depth[end] = max(depth[end], depth[node] + 1)
            waits[end] -= 1
            if not waits[end]:
                queue.append(end)
    return depth


def neighbours(links: Sequence[tuple[Item, Item]]) -> tuple[dict[Item, list[Item]], ...]:
    before: dict[Item, list[Item]] = {}
    after: dict[Item, list[Item]] = {}
    for start, end in links:
        after.setdefault(start, []).append(end)
        before.setdefault(end, []).append(start)
    return before, after


def ordered(layers: list[list[Item]], links: Sequence[tuple[Item, Item]]) -> list[list[Item]]:
    """The layers with their items in an order that has few crossings."""
    before, after = neighbours(links)
    best, least = layers, crossings(layers, after)
    for sweep in range(2 * SWEEPS):
        downwards = sweep % 2 == 0
        near = before if downwards else after
        layers = [list(layer) for layer in layers]
        numbers = list(range(len(layers)))
        for number in numbers[1:] if downwards else numbers[-2::-1]:
            other = layers[number - 1 if downwards else number + 1]
            place = {item: index for index, item in enumerate(other)}
            own = {item: index for index, item in enumerate(layers[number])}

            def weight(
                item: Item, near: dict[Item, list[Item]] = near, place: dict[Item, int] = place
            ) -> float | None:
                found = [place[one] for one in near.get(item, [])]
                return sum(found) / len(found) if found else None

            movable = [item for item in layers[number] if weight(item) is not None]
            movable.sort(key=lambda item, own=own: (weight(item), own[item]))  # type: ignore[misc]
            moved = iter(movable)  # who has no neighbour there stays where it is
            layers[number] = [
                item if weight(item) is None else next(moved) for item in layers[number]
            ]
        if (count := crossings(layers, after)) < least:
            best, least = layers, count
    return best


def crossings(layers: list[list[Item]], after: dict[Item, list[Item]]) -> int:
    """How many pairs of links cross."""
    total = 0
    for upper, lower in pairwise(layers):
        place = {item: index for index, item in enumerate(lower)}
        passed: list[int] = []
        for item in upper:
            ends = sorted(place[end] for end in after.get(item, []))
            total += sum(len(passed) - bisect_left(passed, end + 1) for end in ends)
            for end in ends:
                insort(passed, end)
    return total
