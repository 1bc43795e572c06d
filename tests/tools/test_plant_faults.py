"""The tool that plants faults changes code only, a line at a time, and tells what survives."""

from __future__ import annotations

import ast
import random
from pathlib import Path

import pytest

from .plant_faults import AREAS, ROOT, faults, plant, sample, table

SOURCE = '''
"""A module's docstring, with 1 == 2 and not this."""

from typing import TypeVar

T = TypeVar("T")


def total(prices: list[int], limit: int = 3) -> int | None:
    """Add them, or else."""
    if not prices or len(prices) > limit:
        raise ValueError("too many, or none")
    kind = "small" if sum(prices) - 1 < 10 else "large"
    prices.append(0)
    for name, price in zip(prices[1:], prices[-1:], strict=True):
        if name == price:
            continue
        print(min(name, price), f"{price + 1} is dear", f'<b class="{price + 1}">ü</b>', price * 2)
    return prices[0] if kind == "small" else prices[-1]
'''.lstrip()


def changed(operator: str) -> set[tuple[str, str]]:
    """What an operator makes of the lines above: before and after."""
    found = set()
    for fault in faults(SOURCE, "shop.py"):
        if fault.operator == operator:
            after = fault.planted(SOURCE).splitlines()[fault.line - 1]
            found.add((SOURCE.splitlines()[fault.line - 1].strip(), after.strip()))
    return found


def test_every_fault_changes_one_line_of_code_and_compiles() -> None:
    found = faults(SOURCE, "shop.py")
    assert len(found) == len(set(found)) > 40
    for fault in found:
        after = fault.planted(SOURCE)
        pairs = zip(SOURCE.splitlines(), after.splitlines(), strict=True)
        differ = [number for number, (a, b) in enumerate(pairs, start=1) if a != b]
        assert differ == [fault.line]
        assert ast.dump(ast.parse(after)) != ast.dump(ast.parse(SOURCE))
        assert fault.said(SOURCE).startswith(f"shop.py:{fault.line} (")


@pytest.mark.parametrize(
    ("operator", "before", "after"),
    [
        ("comparison", "len(prices) > limit", "len(prices) >= limit"),
        ("comparison", "name == price", "name != price"),
        ("and/or", "not prices or len", "not prices and len"),
        ("not", "not prices or", "(prices) or"),
        ("condition", "if name == price", "if True"),
        ("condition", "if name == price", "if False"),
        ("constant", "limit: int = 3", "limit: int = 4"),
        ("constant", "< 10", "< -10"),
        ("name", 'kind = "small"', "kind = 'xsmall'"),
        ("branches", '"small" if sum(prices) - 1 < 10 else "large"', '"large" if sum'),
        ("plus/minus", "sum(prices) - 1", "sum(prices) + 1"),
        ("plus/minus", 'class="{price + 1}"', 'class="{price - 1}"'),
        ("times", "price * 2", "price / 2"),
        ("first/last", "prices[0]", "prices[-1]"),
        ("first/last", "prices[-1] ", "prices[0]"),
        ("slice", "prices[1:]", "prices[(1) + 1:]"),
        ("min/max", "min(name, price)", "max(name, price)"),
        ("arguments", "min(name, price)", "min(price, name)"),
        ("dropped", "prices.append(0)", "pass"),
        ("dropped", "continue", "pass"),
        ("dropped", 'raise ValueError("too many, or none")', "pass"),
        ("return", 'return prices[0] if kind == "small" else prices[-1]', "return None"),
    ],
)
def test_an_operator(operator: str, before: str, after: str) -> None:
    assert any(before in f"{old} " and after in new for old, new in changed(operator))


def test_texts_annotations_and_docstrings_stay() -> None:
    kept = ("docstring", "TypeVar", "Add them")
    lines = SOURCE.splitlines()
    for fault in faults(SOURCE, "shop.py"):
        line, cut = lines[fault.line - 1], slice(fault.begin, fault.end)
        assert not any(word in line for word in kept)
        assert "int | None" not in line[cut]
        assert line[cut] != '"too many, or none"'
        assert 'f"{price - 1} is dear"' not in fault.planted(SOURCE)
        assert "strict=False" not in fault.planted(SOURCE)


def test_a_table_of_texts_is_left_out_on_request() -> None:
    source = "LIMIT = 3\n\n\ndef f(x):\n    return x > 3\n"
    assert {fault.line for fault in faults(source, "f.py")} == {1, 5}
    assert {fault.line for fault in faults(source, "f.py", functions_only=True)} == {5}


def test_a_seed_gives_the_same_faults_on_lines_of_their_own() -> None:
    found = faults(SOURCE, "shop.py")
    chosen = sample(found, 6, random.Random("1"))
    assert chosen == sample(found, 6, random.Random("1"))
    assert chosen != sample(found, 6, random.Random("2"))
    assert len({fault.line for fault in chosen}) == 6
    assert len(sample(found, 900, random.Random("1"))) == len({one.line for one in found})


SHOP = """
def price(age):
    return 5 if age < 18 else 9


def name(age):
    return "child" if age < 18 else "adult"
""".lstrip()
TESTS = """
from shop import name, price


def test_price():
    assert [price(age) for age in (0, 17, 18, 80)] == [5, 5, 9, 9]


def test_name():
    assert name(5)
"""


@pytest.mark.slow
def test_what_a_test_asserts_is_found_and_what_none_asserts_survives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = "-p no:nbval -p no:hypothesispytest -p no:anyio"  # they take a second to load
    monkeypatch.setenv("PYTEST_ADDOPTS", quick)
    (tmp_path / "shop.py").write_text(SHOP, "utf-8")
    (tmp_path / "test_shop.py").write_text(TESTS, "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", "utf-8")
    areas = {"shop": [("shop.py", "test_shop.py")]}
    # Two faults, of the same operator, on the only two lines there are.
    results = plant(tmp_path, areas, seed=3, per_area=2, warm=())
    assert {result.fault.line: result.survived for result in results} == {2: False, 6: True}
    assert table(results).splitlines()[2:] == ["| shop | 2 | 1 | 1 |", "| all | 2 | 1 | 1 |"]
    assert (tmp_path / "shop.py").read_text("utf-8") == SHOP

    (tmp_path / "test_shop.py").write_text("def test_wrong():\n    assert False\n", "utf-8")
    with pytest.raises(RuntimeError, match="without any fault"):
        plant(tmp_path, areas, per_area=1, warm=())
    with pytest.raises(RuntimeError, match=r"no file is called till\.py"):
        plant(tmp_path, {"till": [("till.py", "test_shop.py")]})


def test_the_table_of_areas_is_up_to_date() -> None:
    for rows in AREAS.values():
        for pattern, tests in rows:
            assert list(ROOT.glob(pattern)), pattern
            assert all((ROOT / name).exists() for name in tests.split()), tests


def test_a_line_with_more_bytes_than_letters_is_changed_where_it_should_be() -> None:
    found = [one for one in faults("x = 'ü', 3 > 2\n", "x.py") if one.operator == "comparison"]
    assert [one.planted("x = 'ü', 3 > 2\n") for one in found] == [
        "x = 'ü', 3 <= 2\n",
        "x = 'ü', 3 >= 2\n",
    ]
