"""The layout: layers, distances, few crossings, and edges that never run across a node."""

from __future__ import annotations

import itertools
import random
import re
import time

from hypothesis import given, settings
from hypothesis import strategies as st
from profiles import examples

from learnkit.views.drawing.layout import Layout, layered

Edges = list[tuple[int, int]]


@st.composite
def graphs(draw: st.DrawFn, most: int = 14) -> tuple[list[int], Edges]:
    count = draw(st.integers(1, most))
    nodes = draw(st.permutations(range(1, count + 1)))
    pairs = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    edges = [(nodes[min(p)], nodes[max(p)]) for p in draw(st.lists(pairs, max_size=20))]
    return list(nodes), [(a, b) for a, b in edges if a != b]


def boxes(layout: Layout) -> dict[int, tuple[float, float, float, float]]:
    wide, tall = layout.size
    return {node: (x, y, x + wide, y + tall) for node, (x, y) in layout.places.items()}


def curve(layout: Layout, edge: tuple[int, int]) -> list[tuple[float, float]]:
    """Points along the drawn path, the tip left out."""
    points, here = [], (0.0, 0.0)
    for command, numbers in re.findall(r"([MLC])([^MLC]*)", layout.path(edge)):
        values = [float(one) for one in numbers.split()]
        pairs = list(zip(values[::2], values[1::2], strict=True))
        if command == "C":
            (a, b), (c, d), (e, f) = pairs
            for step in range(1, 21):
                t = step / 20
                k = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
                x = k[0] * here[0] + k[1] * a + k[2] * c + k[3] * e
                y = k[0] * here[1] + k[1] * b + k[2] * d + k[3] * f
                points.append((x, y))
        elif command == "L":
            (end,) = pairs
            points += [
                (here[0] + (end[0] - here[0]) * s / 10, here[1] + (end[1] - here[1]) * s / 10)
                for s in range(11)
            ]
        here = pairs[-1]
    return points


def check(layout: Layout, nodes: list[int], edges: Edges) -> None:
    assert sorted(layout.places) == sorted(nodes)
    layer = {node: n for n, layer in enumerate(layout.layers) for node in layer}
    for start, end in edges:
        assert layer[start] < layer[end]
    for node in nodes:  # as early as its blockers allow
        before = [layer[start] for start, end in edges if end == node]
        assert layer[node] == max(before, default=-1) + 1
    for (_, one), (_, other) in itertools.combinations(boxes(layout).items(), 2):
        apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
        assert apart, "two tasks overlap"
    for left, top, right, bottom in boxes(layout).values():
        assert left >= -0.1
        assert top >= -0.1
        assert right <= layout.width + 0.1
        assert bottom <= layout.height + 0.1
    assert set(layout.ways) == set(edges)
    for edge in layout.ways:
        for x, y in curve(layout, edge):
            for node, (left, top, right, bottom) in boxes(layout).items():
                inside = left + 0.5 < x < right - 0.5 and top + 0.5 < y < bottom - 0.5
                assert not inside, f"{edge} runs across {node}"


@settings(max_examples=examples(150))
@given(graphs(), st.sampled_from([24.0, 42.0]), st.sampled_from([316, 716, 1056]))
def test_every_graph_is_drawn_clearly(
    graph: tuple[list[int], Edges], tall: float, room: float
) -> None:
    nodes, edges = graph
    layout = layered(nodes, edges, room, tall)
    check(layout, nodes, edges)
    if layout.lies:
        assert abs(layout.width - room - 2) < 0.2, "it fills its room"


@given(graphs(), st.randoms())
def test_the_same_graph_looks_the_same_in_whatever_order_it_is_given(
    graph: tuple[list[int], Edges], chance: random.Random
) -> None:
    nodes, edges = graph
    first = layered(nodes, edges, 616, 42)
    chance.shuffle(nodes)
    chance.shuffle(edges)
    assert layered(nodes, edges + edges, 616, 42) == first


def test_a_hundred_and_twenty_tasks_take_no_noticeable_time() -> None:
    chance = random.Random(1)
    edges = [(a, b) for b in range(2, 121) for a in chance.sample(range(1, b), min(b - 1, 2))]
    began = time.process_time()
    layered(range(1, 121), edges, 616, 24)
    assert time.process_time() - began < 2  # a hundred times what it takes


def test_a_circle_is_opened() -> None:
    layout = layered([1, 2, 3, 4], [(1, 2), (2, 3), (3, 1), (3, 4)], 616, 42)
    assert {1, 2, 3, 4} == {node for layer in layout.layers for node in layer} == {*layout.places}
    assert (3, 4) in layout.ways
    assert 0 < len({(1, 2), (2, 3), (3, 1)} & layout.ways.keys()) < 3


def test_neighbours_are_opposite_each_other() -> None:
    edges = [(1, 6), (2, 5), (3, 4)]
    layout = layered(range(1, 7), edges, 616, 42)
    for start, end in edges:
        assert layout.places[start][1] == layout.places[end][1]
        assert layout.places[start][0] < layout.places[end][0], "from left to right"


def test_a_node_stands_in_the_middle_of_its_neighbours() -> None:
    layout = layered([1, 2, 3], [(1, 2), (1, 3)], 200, 42)
    assert not layout.lies, "it is too narrow for that"
    places = layout.places
    assert places[1][0] == (places[2][0] + places[3][0]) / 2
    assert places[3][0] - places[2][0] == layout.size[0] + 10
    assert places[2][1] == places[3][1] > places[1][1] + 42
