"""What the benchmarks share: the time of a call, the rows of a table, the line about a budget."""

import argparse
import time
from collections.abc import Callable
from typing import Any


def arguments(description: str | None, *names: str) -> argparse.Namespace:
    """The command line: ``--quick`` for fewer rounds, and optional words with these names."""
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=description, formatter_class=layout)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, as in CI")
    for name in names:
        parser.add_argument(name, nargs="?")
    return parser.parse_args()


def seconds(act: Callable[..., object], *positional: Any, **keywords: Any) -> float:
    """How long one call takes."""
    begin = time.perf_counter()
    act(*positional, **keywords)
    return time.perf_counter() - begin


def row(name: object, *cells: object) -> None:
    """Print a name, and cells that stand under each other; fractions get three decimals."""
    texts = [f"{cell:,.3f}" if isinstance(cell, float) else str(cell) for cell in cells]
    print(f"{name!s:<28}" + "".join(f"{text:>11}" for text in texts), flush=True)


def over(what: str, measured: float, budget: float, margin: float = 1) -> bool:
    """Print whether a budget is kept; returns whether more than so many budgets were taken."""
    kept = "kept" if measured <= budget else "not kept"
    print(f"{what}: {measured:.3f}, budget {budget:g}: {kept}", flush=True)
    return measured > margin * budget
