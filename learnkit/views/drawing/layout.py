"""The layout of a dependency graph: in layers, with few crossings, and the same every time.

A node's layer is the earliest step at which it can be reached. An edge that passes a layer has its
own lane through it, so that it never runs across a node. The method is layered drawing as Sugiyama,
Tagawa and Toda described it in 1981 (longest-path layers, barycentre ordering). Within a layer,
isotonic regression puts each item as close to its neighbours as the distances allow.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter
from itertools import accumulate, pairwise
from statistics import fmean

Point = tuple[float, float]
Edge = tuple[int, int]
#: A node, or the place at which an edge passes a layer: (from, to, layer).
Item = int | tuple[int, int, int]

#: Rounds of two sweeps each: down, and up again.
SWEEPS = 8

#: In pixels: the width of a passing edge's lane, and the distance of two edges at one node.
LANE, PORT = 12.0, 7.0
#: In pixels: between two columns, and the least and the greatest width of a node in a column.
STEP, LEAST, MOST = 44.0, 96.0, 240.0


@dataclass(frozen=True, slots=True)
class Layout:
    """A graph with the places of its nodes and edges.

    Attributes:
        places: node -> left and top, in pixels.
        layers: the nodes of each layer, in order.
        ways: edge -> points from node to node; between two of them a curve, along the layers
            at both ends.
        size: width and height of a node.
        width: the width of the whole, in pixels.
        height: the height of the whole, in pixels.
        down: whether layers are rows; else they are columns.
    """

    places: dict[int, Point]
    layers: list[list[int]]
    ways: dict[Edge, list[Point]]
    size: Point
    width: float
    height: float
    down: bool

    def shifted(self, x: float, y: float) -> Layout:
        """The same layout, moved to the right and down."""
        places = {node: (u + x, v + y) for node, (u, v) in self.places.items()}
        ways = {edge: [(u + x, v + y) for u, v in points] for edge, points in self.ways.items()}
        return replace(self, places=places, ways=ways)

    def path(self, edge: Edge) -> str:
        """An edge as SVG path data, with a tip at its end."""
        ways = self.ways[edge]
        (x, y), parts = ways[0], [f"M{ways[0][0]:g} {ways[0][1]:g}"]
        for place, (u, v) in enumerate(ways[1:], start=1):
            if place % 2 == 0:  # straight through a layer
                parts.append(f"L{u:g} {v:g}")
            elif self.down:
                middle = round((y + v) / 2, 1)
                parts.append(f"C{x:g} {middle:g} {u:g} {middle:g} {u:g} {v:g}")
            else:
                middle = round((x + u) / 2, 1)
                parts.append(f"C{middle:g} {y:g} {middle:g} {v:g} {u:g} {v:g}")
            x, y = u, v
        tip = "m-3 -5l3 5l3 -5" if self.down else "m-5 -3l5 3l-5 3"
        return "".join([*parts, tip])


def layered(nodes: Iterable[int], edges: Iterable[Edge], room: float, tall: float) -> Layout:
    """Place a graph."""
    nodes = sorted(nodes)
    kept = without_circles(nodes, sorted(set(edges)))
    depth = depths(nodes, kept)
    lanes = {edge: list(range(depth[edge[0]] + 1, depth[edge[1]])) for edge in kept}
    layers: list[list[Item]] = [[] for _ in range(max(depth.values()) + 1)]
    for node in nodes:
        layers[depth[node]].append(node)
    links: list[tuple[Item, Item]] = []
    for (start, end), passed in lanes.items():
        chain: list[Item] = [start, *((start, end, layer) for layer in passed), end]
        for number, item in zip(passed, chain[1:], strict=False):
            layers[number].append(item)
        links += pairwise(chain)
    layers = ordered(layers, links)

    wide = (room - STEP * (len(layers) - 1)) / len(layers)
    down = len(layers) > 5 or wide < LEAST
    nodes_of = [[item for item in layer if isinstance(item, int)] for layer in layers]
    if down:
        passing = max(len(a) - len(own) for a, own in zip(layers, nodes_of, strict=True))
        wide = (room - LANE * passing) / max(map(len, nodes_of)) - 10
        size = min(max(wide, 62.0), 168.0), tall
        across, along, gap, step = size[0], tall, 10.0, 30.0
    else:
        size = min(wide, MOST), tall
        across, along, gap, step = tall, size[0], 10.0, STEP
    place = _placed(layers, links, across, gap, room if down else 0.0)

    places: dict[int, Point] = {}
    for node in nodes:
        side, begin = round(place[node] - across / 2, 1), round(depth[node] * (along + step), 1)
        places[node] = (side, begin) if down else (begin, side)
    ways = _ways(lanes, place, depth, across, along, step, down)
    corners = [(x + size[0], y + size[1]) for x, y in places.values()]
    corners += [point for points in ways.values() for point in points]
    width, height = max(x for x, _ in corners), max(y for _, y in corners)
    return Layout(places, nodes_of, ways, size, width, height, down)


def without_circles(nodes: Sequence[int], edges: Sequence[Edge]) -> list[Edge]:
    """The edges that are left once no cycle remains."""
    after: dict[int, list[int]] = {node: [] for node in nodes}
    kept = []
    for start, end in edges:
        reached, ahead = {end}, [end]
        while ahead:
            new = [one for one in after[ahead.pop()] if one not in reached]
            reached.update(new)
            ahead += new
        if start not in reached:
            after[start].append(end)
            kept.append((start, end))
    return kept


def depths(nodes: Sequence[int], edges: Sequence[Edge]) -> dict[int, int]:
    """The length of the longest path to each node."""
    sorter = TopologicalSorter({node: () for node in nodes})
    for start, end in edges:
        sorter.add(end, start)
    sorter.prepare()
    depth: dict[int, int] = {}
    layer = 0
    while sorter.is_active():
        ready = sorter.get_ready()
        depth.update(dict.fromkeys(ready, layer))
        sorter.done(*ready)
        layer += 1
    return depth


def _neighbours(links: Sequence[tuple[Item, Item]]) -> tuple[dict[Item, list[Item]], ...]:
    before: defaultdict[Item, list[Item]] = defaultdict(list)
    after: defaultdict[Item, list[Item]] = defaultdict(list)
    for start, end in links:
        after[start].append(end)
        before[end].append(start)
    return before, after


def ordered(layers: list[list[Item]], links: Sequence[tuple[Item, Item]]) -> list[list[Item]]:
    """The layers with their items in an order that has few crossings."""
    before, after = _neighbours(links)
    best, least = layers, crossings(layers, after)
    for sweep in range(2 * SWEEPS):
        downwards = sweep % 2 == 0
        near = before if downwards else after
        layers = list(layers)
        numbers = list(range(len(layers)))
        for number in numbers[1:] if downwards else numbers[-2::-1]:
            layer, other = layers[number], layers[number - 1 if downwards else number + 1]
            place = {item: index for index, item in enumerate(other)}
            means = {one: fmean(place[end] for end in near[one]) for one in layer if one in near}
            # An item without a neighbour there stays where it is; equal ones keep their order.
            moved = iter(sorted(means, key=means.__getitem__))
            layers[number] = [next(moved) if item in means else item for item in layer]
        if (found := crossings(layers, after)) < least:
            best, least = layers, found
    return best


def crossings(layers: list[list[Item]], after: dict[Item, list[Item]]) -> int:
    """How many pairs of links cross."""
    total = 0
    for upper, lower in pairwise(layers):
        place = {item: index for index, item in enumerate(lower)}
        passed: list[int] = []
        for item in upper:
            ends = sorted(place[end] for end in after.get(item, ()))
            total += sum(len(passed) - bisect_left(passed, end + 1) for end in ends)
            for end in ends:
                insort(passed, end)
    return total


def _placed(
    layers: list[list[Item]],
    links: Sequence[tuple[Item, Item]],
    across: float,
    gap: float,
    room: float,
) -> dict[Item, float]:
    """The centre of each item across the layers."""
    before, after = _neighbours(links)
    length = max(room, *(_middles(layer, across, gap)[1] for layer in layers))
    place: dict[Item, float] = {}
    for layer in layers:
        middles, used = _middles(layer, across, gap)
        place |= {item: (length - used) / 2 + at for item, at in zip(layer, middles, strict=True)}
    numbers = list(range(len(layers)))
    for sweep in range(2 * SWEEPS):
        downwards = sweep % 2 == 0
        for number in numbers if downwards else numbers[::-1]:
            layer = layers[number]
            wanted, weights = [], []
            for item in layer:
                near = [*before.get(item, ()), *after.get(item, ())]
                # Keeping a long edge straight matters more than keeping a node in the middle.
                passing = isinstance(item, tuple)
                heavy = [4.0 if passing and isinstance(one, tuple) else 1.0 for one in near]
                total = sum(heavy)
                mean = sum(place[one] * h for one, h in zip(near, heavy, strict=True))
                wanted.append(mean / total if near else place[item])
                weights.append(total or 0.1)
            spread = _spread(layer, wanted, weights, across, gap, length)
            place.update(zip(layer, spread, strict=True))
    first = min(at - (across if isinstance(one, int) else LANE) / 2 for one, at in place.items())
    return {item: at - first for item, at in place.items()}


def _middles(layer: Sequence[Item], across: float, gap: float) -> tuple[list[float], float]:
    """The centre of each item if they are packed, and the room that they take."""
    sizes = [across + gap if isinstance(item, int) else LANE for item in layer]
    ends = list(accumulate(sizes))
    return [end - size / 2 for end, size in zip(ends, sizes, strict=True)], ends[-1]


def _spread(
    layer: Sequence[Item],
    wanted: Sequence[float],
    weights: Sequence[float],
    across: float,
    gap: float,
    length: float,
) -> list[float]:
    """The places that are closest to the wanted ones and keep order, distances and both ends."""
    offsets, used = _middles(layer, across, gap)
    free = length - used
    blocks: list[tuple[float, float, int]] = []  # value, weight, how many
    for want, offset, weight in zip(wanted, offsets, weights, strict=True):
        value, count = want - offset, 1
        while blocks and blocks[-1][0] >= value:
            old, other, many = blocks.pop()
            value = (value * weight + old * other) / (weight + other)
            weight, count = weight + other, count + many
        blocks.append((value, weight, count))
    values = [value for value, _, count in blocks for _ in range(count)]
    return [min(max(v, 0.0), free) + o for v, o in zip(values, offsets, strict=True)]


def _ways(
    lanes: dict[Edge, list[int]],
    place: dict[Item, float],
    depth: dict[int, int],
    across: float,
    along: float,
    step: float,
    down: bool,
) -> dict[Edge, list[Point]]:
    """The points of every edge; edges at the same node are side by side, in order."""

    def next_to(edge: Edge, from_start: bool) -> float:
        passed = lanes[edge]
        item: Item = edge[1] if from_start else edge[0]
        if passed:
            item = (*edge, passed[0] if from_start else passed[-1])
        return place[item]

    ports: dict[tuple[Edge, bool], float] = {}
    for from_start in (True, False):
        ends: dict[int, list[Edge]] = {}
        for edge in lanes:
            ends.setdefault(edge[0 if from_start else 1], []).append(edge)
        for node, its in ends.items():
            by_place = {edge: (next_to(edge, from_start), edge) for edge in its}
            its.sort(key=by_place.__getitem__)
            each = min(PORT, (across - 8) / len(its))
            for index, edge in enumerate(its):
                ports[edge, from_start] = place[node] + (index - (len(its) - 1) / 2) * each
    ways: dict[Edge, list[Point]] = {}
    for edge, passed in lanes.items():
        points = [(ports[edge, True], depth[edge[0]] * (along + step) + along)]
        for layer in passed:
            at, begin = place[(*edge, layer)], layer * (along + step)
            points += [(at, begin), (at, begin + along)]
        points.append((ports[edge, False], depth[edge[1]] * (along + step)))
        turned = points if down else [(y, x) for x, y in points]
        ways[edge] = [(round(x, 1), round(y, 1)) for x, y in turned]
    return ways
