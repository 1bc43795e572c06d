"""Imports follow modules that moved: whole names only, and nothing else in a cell changes."""

from __future__ import annotations

import ast
import pkgutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnkit.course.workbook.moved_modules import MODULES as MOVED
from learnkit.course.workbook.moved_modules import rewrite

MODULES = {
    "learnkit.trees": "learnkit.git.trees",
    "learnkit.board": "learnkit.tasks.board",
    "learnkit.client": "learnkit.api",
    "learnkit.client.modes": "learnkit.connecting",
    "learnkit.seat": "learnkit.games.be_the_model",
}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import learnkit.trees", "import learnkit.git.trees"),
        ("import learnkit.trees as t", "import learnkit.git.trees as t"),
        ("import json, learnkit.trees as t, re", "import json, learnkit.git.trees as t, re"),
        ("from learnkit.trees import Commit", "from learnkit.git.trees import Commit"),
        ("from  learnkit.trees import *", "from  learnkit.git.trees import *"),
        ("from learnkit import trees", "from learnkit.git import trees"),
        ("from learnkit import trees as t", "from learnkit.git import trees as t"),
        ("from learnkit import seat", "from learnkit.games import be_the_model as seat"),
        (
            "from learnkit import Agent, trees, board",
            "from learnkit import Agent\nfrom learnkit.git import trees\n"
            "from learnkit.tasks import board",
        ),
        (
            "if x:\n\tfrom learnkit import Agent, trees",
            "if x:\n\tfrom learnkit import Agent\n\tfrom learnkit.git import trees",
        ),
        (
            "x = 1; from learnkit import Agent, trees; y = 2",
            "x = 1; from learnkit import Agent; from learnkit.git import trees; y = 2",
        ),
        ("from learnkit.client.sse import to_bytes", "from learnkit.api.sse import to_bytes"),
        ("from learnkit.client.modes import connect", "from learnkit.connecting import connect"),
        ("from learnkit.client import modes", "from learnkit import connecting as modes"),
        (
            "import learnkit.trees\nprint(learnkit.trees.log('é'), learnkit.trees)",
            "import learnkit.git.trees\nprint(learnkit.git.trees.log('é'), learnkit.git.trees)",
        ),
        (
            "from learnkit.trees import (\n    Commit,  # mine\n)\nCommit()",
            "from learnkit.git.trees import (\n    Commit,  # mine\n)\nCommit()",
        ),
        (
            "%%time\n%cd ..\nfiles = !ls\nfrom learnkit.trees import Commit\n!echo learnkit.trees",
            "%%time\n%cd ..\nfiles = !ls\nfrom learnkit.git.trees import Commit\n"
            "!echo learnkit.trees",
        ),
    ],
)
def test_an_import_of_a_module_that_moved_is_rewritten(before: str, after: str) -> None:
    assert rewrite(before, MODULES) == after
    assert rewrite(after, MODULES) == after


@pytest.mark.parametrize(
    "source",
    [
        "from learnkit.treeshop import Tree",
        "import learnkit.board_games",
        "from mylearnkit.trees import Commit",
        "from .trees import Commit",
        "from learnkit import Agent, Team",
        "trees = lk.trees; my.learnkit.trees",
        "print('from learnkit.trees import Commit')  # import learnkit.trees",
        "from learnkit.trees import (",
        "%%bash\nfrom learnkit.trees import Commit",
        "",
    ],
)
def test_what_only_looks_like_one_stays(source: str) -> None:
    assert rewrite(source, MODULES) == source


def test_a_table_without_rows_changes_nothing() -> None:
    assert rewrite("from learnkit.trees import Commit", {}) == "from learnkit.trees import Commit"


lines = st.sampled_from(
    [
        "from learnkit.trees import A",
        "from learnkit import trees, b",
        "import learnkit.board, os",
        "x = 'ü\x0c\u2028learnkit.trees'",
        "y = learnkit.trees.z(learnkit.board)",
        "for a in b:\n    from learnkit import seat, trees",
        "s = '''\n% learnkit.trees\n'''",
        "# learnkit.trees",
    ]
)


@given(st.lists(lines, max_size=6).map("\n".join))
def test_a_cell_stays_python_and_has_only_new_names(source: str) -> None:
    after = rewrite(source, MODULES)
    assert rewrite(after, MODULES) == after
    assert comments(after) == comments(source)
    bound = lambda text: {  # noqa: E731
        one.asname or one.name.partition(".")[0]
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for one in node.names
    }
    assert bound(after) == bound(source)


def comments(source: str) -> list[str]:
    return [line for line in source.splitlines() if line.startswith("#")]


def test_what_has_moved_is_where_the_table_says() -> None:
    for new in MOVED.values():
        assert pkgutil.resolve_name(new).__name__.rpartition(".")[2] == new.rpartition(".")[2]
