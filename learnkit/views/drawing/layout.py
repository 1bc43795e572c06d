"""The layout of a dependency graph: in layers, with few crossings, and the same every time.

A node's layer is the earliest step at which it can be reached. An edge that passes a layer has its
own lane through it, so that it never runs across a node. Each layer is in the middle of the whole,
and its items are ordered by the mean place of their neighbours, as Sugiyama, Tagawa and Toda
described it in 1981. Layers stand from left to right over the whole room, or, where that is too
narrow or too tall for them, below each other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from statistics import fmean

Point = tuple[float, float]
Edge = tuple[int, int]
#: A node, or the place at which an edge passes a layer: (from, to, layer).
Item = int | tuple[int, int, int]

#: Rounds of two sweeps each: down, and up again.
SWEEPS = 4

#: In pixels: the width of a passing edge's lane, between two nodes, and between two rows.
LANE, GAP, FALL = 12.0, 10.0, 30.0
#: In pixels: from the picture's edge, where a line has its width.
EDGE = 2.0
#: In pixels: the least and the greatest width of a node.
LEAST, MOST = 62.0, 240.0
#: From left to right: the least width of a node and between two layers, in pixels, and the most
#: nodes in a layer.
LYING, BETWEEN, STACK = 104.0, 56.0, 6


@dataclass(frozen=True, slots=True)
class Layout:
    """A graph with the places of its nodes and edges.

    Attributes:
        places: node -> left and top, in pixels.
        layers: the nodes of each layer, in order.
        ways: edge -> points from node to node; between two of them a curve, along the layers
            at both ends.
        size: width and height of a node.
        lies: whether the layers stand from left to right.
        width: the width of the whole, in pixels.
        height: the height of the whole, in pixels.
    """

    places: dict[int, Point]
    layers: list[list[int]]
    ways: dict[Edge, list[Point]]
    size: Point
    lies: bool
    width: float
    height: float

    def tip(self, edge: Edge) -> str:
        """The tip of an edge as SVG path data."""
        x, y = self.ways[edge][-1]
        return f"M{x:g} {y:g}l{'-8 -4v8z' if self.lies else '-4 -8h8z'}"

    def path(self, edge: Edge) -> str:
        """An edge as SVG path data."""
        ways = self.ways[edge]
        (x, y), parts = ways[0], [f"M{ways[0][0]:g} {ways[0][1]:g}"]
        for place, (u, v) in enumerate(ways[1:], start=1):
            if place % 2 == 0:  # straight through a layer
                parts.append(f"L{u:g} {v:g}")
            else:
                a, b = round((x + u) / 2, 1), round((y + v) / 2, 1)
                turns = f"{a:g} {y:g} {a:g} {v:g}" if self.lies else f"{x:g} {b:g} {u:g} {b:g}"
                parts.append(f"C{turns} {u:g} {v:g}")
            x, y = u, v
        return "".join(parts)


def layered(nodes: Iterable[int], edges: Iterable[Edge], room: float, tall: float) -> Layout:
    """Place a graph."""
    nodes, edges = sorted(nodes), sorted(set(edges))
    depth = depths(nodes, edges)
    layers: list[list[Item]] = [[] for _ in range(max(depth.values()) + 1)]
    for node in nodes:
        layers[depth[node]].append(node)
    chains: dict[Edge, list[Item]] = {}
    for start, end in edges:
        if depth[start] < depth[end]:  # the others close a circle
            passed = [(start, end, layer) for layer in range(depth[start] + 1, depth[end])]
            for lane in passed:
                layers[lane[2]].append(lane)
            chains[start, end] = [start, *passed, end]
    _order(layers, chains.values())

    nodes_of = [[item for item in layer if isinstance(item, int)] for layer in layers]
    passing = max(len(a) - len(own) for a, own in zip(layers, nodes_of, strict=True))
    many, most = len(layers), max(map(len, nodes_of))
    wide = (room + BETWEEN) // many - BETWEEN
    lies = many > 1 and wide >= LYING and most <= STACK
    wide = min(wide if lies else max((room - LANE * passing) / most - GAP, LEAST), MOST)
    across, along = (tall, wide) if lies else (wide, tall)
    step = (room - wide) / (many - 1) if lies else tall + FALL
    middle = _middles(layers, across)

    def point(number: int, at: float, far: float = 0.0) -> Point:
        """A place in a layer: across it, and along the way through it."""
        place = round(at + EDGE, 1), round(number * step + far + EDGE, 1)
        return place[::-1] if lies else place

    places = {node: point(depth[node], middle[node] - across / 2) for node in nodes}
    ways: dict[Edge, list[Point]] = {}
    for (start, end), (_, *between, _) in chains.items():
        way = [point(depth[start], middle[start], along)]
        for number, item in enumerate(between, start=depth[start] + 1):
            way += [point(number, middle[item]), point(number, middle[item], along)]
        ways[start, end] = [*way, point(depth[end], middle[end])]
    corners = [(x + wide, y + tall) for x, y in places.values()]
    corners += [corner for way in ways.values() for corner in way]
    width, height = max(x for x, _ in corners), max(y for _, y in corners)
    return Layout(places, nodes_of, ways, (wide, tall), lies, width, height)


def depths(nodes: Sequence[int], edges: Sequence[Edge]) -> dict[int, int]:
    """The length of the longest path to each node; what goes round in a circle is cut somewhere."""
    depth = dict.fromkeys(nodes, 0)
    for _ in nodes:
        for start, end in edges:
            depth[end] = max(depth[end], depth[start] + 1)
    used = sorted(set(depth.values()))
    return {node: used.index(far) for node, far in depth.items()}


def _order(layers: list[list[Item]], chains: Iterable[Sequence[Item]]) -> None:
    """Sort each layer by the mean place of the neighbours in the one before it, and after it."""
    before: defaultdict[Item, list[Item]] = defaultdict(list)
    after: defaultdict[Item, list[Item]] = defaultdict(list)
    for chain in chains:
        for start, end in pairwise(chain):
            after[start].append(end)
            before[end].append(start)
    for sweep in range(2 * SWEEPS):
        way, near = (layers, before) if sweep % 2 == 0 else (layers[::-1], after)
        for fixed, moved in pairwise(way):
            place = {item: number for number, item in enumerate(fixed)}
            ends = {item: [place[one] for one in near[item]] for item in moved}
            mean = {item: fmean(ends[item] or [number]) for number, item in enumerate(moved)}
            moved.sort(key=mean.__getitem__)


def _middles(layers: list[list[Item]], across: float) -> dict[Item, float]:
    """The centre of each item across its layer, which is in the middle of the longest one."""
    found: dict[Item, float] = {}
    sizes = [[across + GAP if isinstance(one, int) else LANE for one in la] for la in layers]
    longest = max(map(sum, sizes))
    for layer, its in zip(layers, sizes, strict=True):
        begin = (longest - sum(its) - GAP) / 2
        for item, end, size in zip(layer, accumulate(its), its, strict=True):
            found[item] = begin + end - size / 2
    first = min(at - (across if isinstance(one, int) else LANE) / 2 for one, at in found.items())
    return {item: at - first for item, at in found.items()}
