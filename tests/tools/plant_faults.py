"""Plant faults of one line, one at a time, and count those that the tests do not find.

Run by hand, from anywhere in the repository::

    python tests/tools/plant_faults.py --seed 3 --per-area 8 --jobs 2

Each fault goes into a scratch copy of the tree, and only the tests of the changed module are run
there. mutmut and cosmic-ray plant all the faults of a package and run one command for each of
them: hours, where a sample with a seed and a table of tests takes minutes.

A survivor is either a behaviour that no test asserts, or a change that makes no difference.
``--fault FILE:LINE`` plants every fault of one line, to see whether a new test finds them.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import os
import queue
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

#: Area -> (modules, test files): what is changed, and which tests have to find it. Patterns are
#: relative to the root; each has to match something, and a module's first row counts.
AREAS: dict[str, list[tuple[str, str]]] = {
    "contract": [
        (
            "learnkit/clients/contract/*.py",
            "tests/clients/test_contract.py tests/clients/test_contract_properties.py",
        ),
    ],
    "replay": [
        ("learnkit/clients/recordings/replay.py", "tests/clients/test_replay.py"),
        ("learnkit/clients/scripted.py", "tests/clients/test_scripted.py"),
        ("learnkit/clients/recordings/difference.py", "tests/clients/test_difference.py"),
        ("learnkit/clients/sse.py", "tests/clients/test_sse.py"),
        (
            "learnkit/clients/transport.py",
            "tests/clients/test_transport.py tests/clients/test_replay.py",
        ),
    ],
    "recordings": [
        ("learnkit/clients/recordings/recording.py", "tests/clients/test_recording.py"),
        (
            "learnkit/clients/recordings/request_hash.py",
            "tests/clients/test_prefix.py tests/clients/test_recording.py",
        ),
        ("learnkit/clients/recordings/record.py", "tests/clients/test_record.py"),
        ("learnkit/clients/recordings/rerecord.py", "tests/clients/test_record.py"),
        (
            "learnkit/runtime/secret_scan.py",
            "tests/runtime/test_secret_scan.py tests/clients/test_recording.py",
        ),
    ],
    "views": [
        (
            "learnkit/views/drawing/layout.py",
            "tests/views/test_layout.py tests/views/test_drawn.py",
        ),
        ("learnkit/views/tasks.py", "tests/views/test_drawn.py tests/views/test_tasks_view.py"),
        ("learnkit/views/drawing/text.py", "tests/views/test_text.py tests/views/test_drawn.py"),
        ("learnkit/views/drawing/theme.py", "tests/views/test_theme.py tests/views/test_drawn.py"),
        ("learnkit/views/schedule.py", "tests/views/test_drawn.py tests/views/test_schedule.py"),
        *(
            (
                f"learnkit/views/{name}.py",
                "tests/views/test_drawn.py tests/views/test_team_views.py "
                "tests/views/test_team_view.py",
            )
            for name in ("people", "protocol", "team", "traffic")
        ),
        ("learnkit/views/*.py", "tests/views/test_drawn.py tests/views"),
        (
            "learnkit/views/drawing/*.py",
            "tests/views/test_kit.py tests/views/test_drawn.py tests/views",
        ),
    ],
    "board": [
        (
            "learnkit/backends/files/board.py",
            "tests/backends/test_board.py tests/backends/test_conformance.py "
            "tests/backends/test_full_disk.py",
        ),
        (
            "learnkit/backends/rules.py",
            "tests/backends/test_board.py tests/backends/test_conformance.py",
        ),
        (
            "learnkit/backends/sql/*.py",
            "tests/backends/test_sql.py tests/backends/test_conformance.py "
            "tests/backends/test_connect.py tests/postgres/test_faults.py "
            "tests/postgres/test_locks.py tests/postgres/test_conformance.py",
        ),
        ("learnkit/backends/files/task_folder.py", "tests/backends/test_board.py"),
        ("learnkit/backends/task.py", "tests/backends/test_board.py"),
        ("learnkit/backends/files/store.py", "tests/backends/test_store.py tests/backends"),
    ],
    "mailbox": [
        ("learnkit/backends/files/mailbox.py", "tests/backends/test_mailbox.py"),
        ("learnkit/backends/mail.py", "tests/backends/test_mailbox.py"),
    ],
    "lab": [
        (
            "learnkit/course/lab.py",
            "tests/course/test_lab.py tests/course/test_games.py "
            "tests/course/first_edit/test_panel.py",
        ),
        ("learnkit/course/games/stage.py", "tests/course/test_games.py"),
    ],
    "exercise checks": [
        ("learnkit/course/exercise_checks.py", "tests/course/test_cards.py"),
        (
            "learnkit/course/lessons/s*/exercises.py",
            "tests/course/lessons/test_exercises.py tests/course/lessons",
        ),
    ],
}
#: What a scratch copy does without.
LEFT_OUT = shutil.ignore_patterns(
    *(".git", ".venv", "venv", ".hypothesis", "*_cache", "__pycache__", "site", "learnkit-course"),
    *("artifacts", "build", "dist"),
)

_COMPARE = {
    ast.Lt: ("<", ["<=", ">="]),
    ast.LtE: ("<=", ["<", ">"]),
    ast.Gt: (">", [">=", "<="]),
    ast.GtE: (">=", [">", "<"]),
    ast.Eq: ("==", ["!="]),
    ast.NotEq: ("!=", ["=="]),
    ast.Is: ("is", ["is not"]),
    ast.IsNot: ("is not", ["is"]),
    ast.In: ("in", ["not in"]),
    ast.NotIn: ("not in", ["in"]),
}
_TWINS = {"min": "max", "max": "min", "any": "all", "all": "any"}
#: Of a string that is a key, a class or a kind, and not a text that somebody reads.
_NAME = re.compile(r"[a-z_][a-z0-9_.-]*")


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One change of one line: columns count characters, the line from 1."""

    file: str
    line: int
    begin: int
    end: int
    new: str
    operator: str

    def planted(self, source: str) -> str:
        """The source with the fault in it."""
        lines = source.splitlines(keepends=True)
        line = lines[self.line - 1]
        lines[self.line - 1] = line[: self.begin] + self.new + line[self.end :]
        return "".join(lines)

    def said(self, source: str) -> str:
        """The line before and after."""
        after = self.planted(source).splitlines()[self.line - 1].strip()
        before = source.splitlines()[self.line - 1].strip()
        return f"{self.file}:{self.line} ({self.operator})\n    - {before}\n    + {after}"


def faults(source: str, file: str, *, functions_only: bool = False) -> list[Fault]:
    """Every fault that can be planted in a module, in a fixed order.

    Left out: docstrings, annotations, decorators, what is raised, texts that somebody reads, and
    whatever spans several lines.

    Args:
        source: the module.
        file: its name, as it is reported.
        functions_only: leave out what stands outside of functions, such as tables of texts.
    """
    lines = source.splitlines()
    whole = ast.dump(ast.parse(source))
    found: dict[tuple[int, int, int, str], Fault] = {}
    for operator, node, begin, end, new in _changes(ast.parse(source), lines, functions_only):
        if "\n" in new or not _at_its_place(node, lines):
            continue
        fault = Fault(file, node.lineno, begin, end, new, operator)
        try:
            changed = ast.parse(fault.planted(source))
        except SyntaxError:
            continue
        if ast.dump(changed) != whole:
            found.setdefault((fault.line, begin, end, new), fault)
    return sorted(found.values())


Change = tuple[str, ast.expr | ast.stmt, int, int, str]


def _changes(tree: ast.Module, lines: list[str], functions_only: bool) -> Iterator[Change]:
    """What could be changed: operator, the node, first and last column, the new text."""

    def column(line: int, offset: int) -> int:
        return len(lines[line - 1].encode()[:offset].decode())  # ast counts bytes

    def place(node: ast.expr | ast.stmt) -> tuple[int, int]:
        return column(node.lineno, node.col_offset), column(node.lineno, node.end_col_offset or 0)

    def text(node: ast.expr) -> str:
        begin, end = place(node)
        return lines[node.lineno - 1][begin:end]

    def put(operator: str, node: ast.expr | ast.stmt, new: str) -> Change:
        return operator, node, *place(node), new

    def between(a: ast.expr, b: ast.expr, old: str) -> tuple[int, int] | None:
        if a.end_lineno != b.lineno:
            return None
        gap = slice(place(a)[1], place(b)[0])
        hit = re.search(rf"(?<!\w){re.escape(old)}(?!\w)", lines[a.lineno - 1][gap])
        return None if hit is None else (gap.start + hit.start(), gap.start + hit.end())

    for node in _code(tree, functions_only):
        if isinstance(node, (ast.expr, ast.stmt)) and node.lineno != node.end_lineno:
            if isinstance(node, (ast.If, ast.While)) and node.test.lineno == node.test.end_lineno:
                yield from (put("condition", node.test, new) for new in ("True", "False"))
            continue
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                sign, news = _COMPARE[type(op)]
                if gap := between(left, right, sign):
                    yield from (("comparison", node, *gap, new) for new in news)
            case ast.BoolOp(op=op, values=[first, second, *_]):
                old, new = ("and", "or") if isinstance(op, ast.And) else ("or", "and")
                if gap := between(first, second, old):
                    yield "and/or", node, *gap, new
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                yield put("not", node, f"({text(inner)})")
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
                old, new = ("+", "-") if isinstance(op, ast.Add) else ("-", "+")
                if not (_textual(left) or _textual(right)) and (gap := between(left, right, old)):
                    yield "plus/minus", node, *gap, new
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                if not (_textual(left) or _textual(right)) and (gap := between(left, right, "*")):
                    yield "times", node, *gap, "/"
            case ast.Constant(value=bool() as value):
                yield put("constant", node, str(not value))
            case ast.Constant(value=int() | float() as value):
                yield put("constant", node, repr(value + 1))
                if value:
                    yield put("constant", node, repr(-value))
            case ast.Constant(value=str() as value) if _NAME.fullmatch(value):
                yield put("name", node, repr(f"x{value}"))
            case ast.IfExp(test=test, body=body, orelse=other):
                yield put("branches", node, f"{text(other)} if {text(test)} else {text(body)}")
                yield from (put("condition", test, new) for new in ("True", "False"))
            case ast.Subscript(slice=ast.Constant(value=0) as index):
                yield put("first/last", index, "-1")
            case ast.Subscript(slice=ast.UnaryOp(op=ast.USub(), operand=ast.Constant()) as index):
                yield put("first/last", index, "0")
            case ast.Subscript(slice=ast.Slice() as bounds):
                for bound in (bounds.lower, bounds.upper):
                    if bound is not None:
                        yield from (put("slice", bound, f"({text(bound)}) {s} 1") for s in "+-")
            case ast.Call(func=func, args=args):
                if isinstance(func, ast.Name) and func.id in _TWINS:
                    yield put("min/max", func, _TWINS[func.id])
                if len(args) > 1 and not any(isinstance(one, ast.Starred) for one in args[:2]):
                    first, second = args[:2]
                    comma = lines[node.lineno - 1][place(first)[1] : place(second)[0]]
                    swapped = f"{text(second)}{comma}{text(first)}"
                    yield "arguments", node, place(first)[0], place(second)[1], swapped
            case ast.Return(value=ast.expr() as value):
                if not (isinstance(value, ast.Constant) and value.value is None):
                    yield put("return", value, "None")
            case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise():
                yield put("dropped", node, "pass")
            case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
                yield put("dropped", node, "pass")
            case ast.Continue() | ast.Break():
                yield put("dropped", node, "pass")


def _code(tree: ast.AST, functions_only: bool, inside: bool = False) -> Iterator[ast.AST]:
    """The nodes in which a fault would be one of behaviour."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list", "exc", "cause", "format_spec"):
            continue
        for node in value if isinstance(value, list) else [value]:
            if not isinstance(node, ast.AST) or _no_code(node):
                continue
            deeper = inside or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            if deeper or not functions_only:
                yield node
            yield from _code(node, functions_only, deeper)


def _no_code(node: ast.AST) -> bool:
    match node:
        case ast.Expr(value=ast.Constant()):
            return True  # a docstring
        case ast.JoinedStr(values=values):
            texts = [str(one.value) for one in values if isinstance(one, ast.Constant)]
            return not any("<" in one or "=" in one for one in texts)  # a sentence; else markup
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Call(func=ast.Name(id="TypeVar" | "cast")):
            return True
        case ast.Call(func=ast.Name(id=name)) if name.endswith("Error"):
            return True
        case ast.keyword(arg="strict"):
            return True  # of zip: an assertion that holds
    return False


def _textual(node: ast.AST) -> bool:
    kinds = (ast.JoinedStr, ast.List, ast.ListComp, ast.Tuple)
    return isinstance(node, kinds) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _at_its_place(node: ast.expr | ast.stmt, lines: list[str]) -> bool:
    """Whether a node stands where it says: inside an f-string, Python 3.11 may be mistaken."""
    if isinstance(node, ast.stmt):
        return True
    line = lines[node.lineno - 1].encode()
    segment = line[node.col_offset : node.end_col_offset].decode(errors="replace")
    try:
        there = ast.parse(f"x[{segment}]" if isinstance(node, ast.Slice) else f"({segment})")
    except SyntaxError:
        return False
    return ast.dump(there.body[0].value) == ast.dump(node)  # type: ignore[attr-defined]


def sample(found: Sequence[Fault], count: int, chance: random.Random) -> list[Fault]:
    """So many faults, each operator as often as others, no two on one line."""
    kinds: dict[str, list[Fault]] = {}
    for fault in found:
        kinds.setdefault(fault.operator, []).append(fault)
    chosen: dict[tuple[str, int], Fault] = {}
    while kinds and len(chosen) < count:
        kind = chance.choice(sorted(kinds))
        fault = kinds[kind].pop(chance.randrange(len(kinds[kind])))
        chosen.setdefault((fault.file, fault.line), fault)
        if not kinds[kind]:
            del kinds[kind]
    return list(chosen.values())


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one fault."""

    area: str
    fault: Fault
    survived: bool
    seconds: float


#: What takes long to import, and is the same for each run.
WARM = ("anthropic.types", "hypothesis.stateful", "nbval.kernel", "nbval.plugin", "xdist.plugin")
#: Runs in a process of its own, which has imported what takes long and forks for every pytest:
#: reads its arguments and a time limit as a line of JSON, and answers with its exit code.
_SERVER = """
import contextlib, json, os, resource, signal, sys, time
import pytest
for name in sys.argv[1:]:
    __import__(name)
for line in sys.stdin:
    arguments, limit, output = json.loads(line)
    child = os.fork()
    if not child:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))  # a loop may fill the memory
        file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for number, target in ((0, os.open(os.devnull, os.O_RDONLY)), (1, file), (2, file)):
            os.dup2(target, number)
        code = 99
        try:
            code = int(pytest.main(arguments))
            sys.stdout.flush()
        finally:
            os._exit(code)
    end, done = time.monotonic() + limit, (0, 0)
    while not done[0] and time.monotonic() < end:
        time.sleep(0.02)
        done = os.waitpid(child, os.WNOHANG)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # and what a test has left running
    if not done[0]:
        os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(done[1]) if done[0] else "late", flush=True)
"""


class Copy:
    """A scratch copy of the tree, in which one fault at a time is planted and looked for."""

    def __init__(self, root: Path, folder: Path, warm: Sequence[str]) -> None:
        self.root = folder
        shutil.copytree(root, folder, ignore=LEFT_OUT, symlinks=True)
        environment = {
            **os.environ,
            "PYTHONPATH": str(folder),
            # Python takes a compiled file by its time in seconds and its size, and so an old one.
            "PYTHONDONTWRITEBYTECODE": "1",
            "CI": "1",  # the same examples each time
        }
        self._server = subprocess.Popen(
            [sys.executable, "-c", _SERVER, *warm],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def survives(self, fault: Fault, tests: str, limit: float) -> bool:
        """Whether the tests pass with the fault; those that do not end have found it."""
        path = self.root / fault.file
        source = path.read_text("utf-8")
        path.write_text(fault.planted(source), "utf-8")
        try:
            return self.passes(tests, limit)
        finally:
            path.write_text(source, "utf-8")

    def passes(self, tests: str, limit: float) -> bool:
        """Whether the tests pass here, as the tree is now.

        Raises:
            RuntimeError: when pytest could not do its work.
        """
        output = self.root / ".pytest_output"
        # What the server has imported cannot be rewritten, which is no matter here.
        options = [
            "-x",
            "-q",
            "-n",
            "0",
            "-m",
            "",
            "-W",
            "ignore::pytest.PytestAssertRewriteWarning",
        ]
        options += ["-o", f"cache_dir={self.root / '.pytest_cache'}"]
        shutil.rmtree(self.root / ".hypothesis", ignore_errors=True)
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(
            json.dumps([[*options, *tests.split()], limit, str(output)]) + "\n"
        )
        self._server.stdin.flush()
        code = self._server.stdout.readline().strip()
        if code in ("", "3", "4", "5"):
            told = output.read_text("utf-8", "replace") if output.exists() else ""
            if "Error while loading conftest" not in told:
                raise RuntimeError(f"pytest {tests} ended with {code!r}:\n{told[-2000:]}")
        return code == "0"

    def close(self) -> None:
        """End its process."""
        with self._server:
            self._server.terminate()


def plant(
    root: Path,
    areas: dict[str, list[tuple[str, str]]],
    *,
    seed: int = 1,
    per_area: int = 8,
    jobs: int = 1,
    limit: float = 240,
    only: str = "",
    warm: Sequence[str] = WARM,
) -> list[Result]:
    """Plant faults, look for them, and say what became of each.

    Args:
        root: the tree; it stays as it is.
        areas: like ``AREAS``.
        seed: another one plants others.
        per_area: how many in each area.
        jobs: how many at a time, each in a copy of its own.
        limit: seconds after which tests that do not end have found the fault.
        only: ``FILE:LINE``: every fault of this line, instead of a sample.
        warm: modules to import before.

    Raises:
        RuntimeError: if tests fail without any fault, or a pattern of the table matches nothing.
    """
    chosen: list[tuple[str, Fault, str]] = []
    for area, rows in areas.items():
        tests, found = {}, list[Fault]()
        for pattern, files in rows:
            if not (paths := sorted(root.glob(pattern))):
                raise RuntimeError(f"{area}: no file is called {pattern}; change the table")
            for path in paths:
                file = path.relative_to(root).as_posix()
                if file in tests:
                    continue  # an earlier row has it
                tests[file] = files
                table = path.name == "exercises.py"
                found += faults(path.read_text("utf-8"), file, functions_only=table)
        if only:
            picked = [fault for fault in found if f"{fault.file}:{fault.line}" == only]
        else:
            picked = sample(found, per_area, random.Random(f"{seed} {area}"))
        print(f"{area}: {len(picked)} of {len(found)} faults", flush=True)
        chosen += [(area, fault, tests[fault.file]) for fault in picked]

    with contextlib.ExitStack() as stack:
        scratch = tempfile.TemporaryDirectory(prefix="faults-", ignore_cleanup_errors=True)
        folder = Path(stack.enter_context(scratch))
        copies: queue.Queue[Copy] = queue.Queue()
        for number in range(jobs):
            copies.put(copy := Copy(root, folder / f"tree{number}", warm))
            stack.callback(copy.close)

        def sound(tests: str) -> None:
            copy = copies.get()
            began = time.monotonic()
            if not copy.passes(tests, limit):
                raise RuntimeError(f"without any fault, these do not pass: {tests}")
            print(f"  {time.monotonic() - began:5.1f} s  {tests}", flush=True)
            copies.put(copy)

        def look(one: tuple[str, Fault, str]) -> Result:
            area, fault, tests = one
            copy = copies.get()
            began = time.monotonic()
            survived = copy.survives(fault, tests, limit)
            copies.put(copy)
            result = Result(area, fault, survived, time.monotonic() - began)
            if survived:
                print(fault.said((root / fault.file).read_text("utf-8")), flush=True)
            return result

        pool = stack.enter_context(ThreadPoolExecutor(jobs))
        list(pool.map(sound, dict.fromkeys(tests for _, _, tests in chosen)))
        return list(pool.map(look, chosen))


def table(results: Sequence[Result]) -> str:
    """The counts by area, as a Markdown table."""
    rows = ["| area | planted | found | survived |", "| --- | --: | --: | --: |"]
    areas = dict.fromkeys(result.area for result in results)
    for area in [*areas, "all"]:
        its = [one for one in results if area in (one.area, "all")]
        lost = sum(one.survived for one in its)
        rows.append(f"| {area} | {len(its)} | {len(its) - lost} | {lost} |")
    return "\n".join(rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run from a shell."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--per-area", type=int, default=8)
    parser.add_argument("--area", action="append", choices=AREAS, help="may be given several times")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=float, default=240, help="seconds for one fault")
    parser.add_argument("--fault", default="", metavar="FILE:LINE", help="every fault of one line")
    given = parser.parse_args(arguments)
    areas = {name: rows for name, rows in AREAS.items() if name in (given.area or AREAS)}
    began = time.monotonic()
    results = plant(
        ROOT,
        areas,
        seed=given.seed,
        per_area=given.per_area,
        jobs=given.jobs,
        limit=given.limit,
        only=given.fault,
    )
    print(f"\n{table(results)}\n\nseed {given.seed}, {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
