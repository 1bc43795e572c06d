"""What the smallest model makes of calls and tasks: lesson b4's table, measured on this machine.

    python benchmarks/measure_tiny.py [FILE]

It needs the extra `local`, and the model that `learnkit serve tiny` fetches. Twenty prompts, each
to be answered by one call of three tools, are asked in four ways: the tools in the prompt; four
examples as well; a grammar that allows nothing but a call or an answer; both. An agent then gets
ten small tasks, after one that is done, without a check when it stops and with one. Nothing is
rolled again. Temperature is 0, so another run on the same machine says the same. FILE gets what was
measured, as JSON; by default the one that the lesson shows.
"""

import datetime
import json
import math
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import xllamacpp

import learnkit as lk
from learnkit.clients import local

OUT = Path(__file__).resolve().parents[1] / "learnkit/course/lessons/b4/measured.json"
Json = dict[str, Any]

TOOLS: list[Json] = [
    {
        "name": name,
        "description": about,
        "input_schema": {
            "type": "object",
            "properties": {one: {"type": "string"} for one in arguments},
            "required": arguments,
        },
    }
    for name, about, arguments in (
        ("latest", "The last temperature at a station.", ["station"]),
        ("mail", "Send an email.", ["to", "text"]),
        ("stations", "List the names of all stations.", []),
    )
]
#: Each prompt, with the tool that answers it and what has to be in its arguments.
PROMPTS: list[tuple[str, str, list[str]]] = [
    ("How warm is it in Rome?", "latest", ["rome"]),
    ("Tell me the temperature in Oslo.", "latest", ["oslo"]),
    ("Is it hot in Cairo right now?", "latest", ["cairo"]),
    ("What did the station in Lima measure last?", "latest", ["lima"]),
    ("Beijing: how many degrees?", "latest", ["beijing"]),
    ("I am going to Paris. Will I need a coat?", "latest", ["paris"]),
    ("Read the thermometer in Quito.", "latest", ["quito"]),
    ("Which stations are there?", "stations", []),
    ("List all stations.", "stations", []),
    ("What places do we measure?", "stations", []),
    ("Do we have a station in Peru? Look at the list.", "stations", []),
    ("Show me the names of the stations.", "stations", []),
    ("How many stations do we have?", "stations", []),
    ("Mail Alice that it is hot.", "mail", ["alice", "hot"]),
    ("Send Bob an email that says: the tests fail.", "mail", ["bob", "fail"]),
    ("Write to charlie@heatwatch.org: do not delete the archive.", "mail", ["charlie", "archive"]),
    ("Tell Alice by email that lunch is ready.", "mail", ["alice", "lunch"]),
    ("Email the night shift: Cairo is above 30.", "mail", ["night", "cairo"]),
    ("Let Bob know by mail that Oslo has snow.", "mail", ["bob", "snow"]),
    ("Send me@heatwatch.org the word done.", "mail", ["me@heatwatch.org", "done"]),
]
#: Questions before the prompt, each with the reply that is wanted.
EXAMPLES = [
    ("How cold is it in Madrid?", '{"tool": "latest", "input": {"station": "Madrid"}}'),
    ("Give me the list of stations.", '{"tool": "stations", "input": {}}'),
    ("Mail Dora that it rains.", '{"tool": "mail", "input": {"to": "Dora", "text": "It rains."}}'),
    ("Hello!", '{"answer": "Hello!"}'),
]
#: Way -> whether there are examples, and a grammar.
WAYS = {
    "the tools in the prompt": (False, False),
    "four examples as well": (True, False),
    "a grammar": (False, True),
    "a grammar and four examples": (True, True),
}


def asked(prompt: str, examples: bool, grammar: bool) -> Json:
    """A request to llama.cpp."""
    request: Json = {"messages": [{"role": "user", "content": prompt}]}
    system, *messages = local._chat(request, TOOLS)
    before = [
        {"role": role, "content": text}
        for pair in EXAMPLES * examples
        for role, text in zip(("user", "assistant"), pair, strict=True)
    ]
    made: Json = {
        "messages": [system, *before, *messages],
        "max_tokens": 80,
        "temperature": 0.0,
        "logprobs": True,
        "top_logprobs": 8,
    }
    if grammar:
        schema = {"name": "reply", "schema": local._schema(request, TOOLS)}
        made["response_format"] = {"type": "json_schema", "json_schema": schema}
    return made


def valid(text: str) -> Json | None:
    """The call in a reply, or its answer, if it has the form."""
    try:
        said = json.loads(text)
        if isinstance(said.get("answer"), str):
            return said
        schema = next(one for one in TOOLS if one["name"] == said["tool"])["input_schema"]
        return said if {*said["input"]} == {*schema["required"]} else None
    except (ValueError, AttributeError, KeyError, TypeError, StopIteration):
        return None


def calls(complete: Callable[[Json], Json]) -> list[Json]:
    """Ask all prompts in each way."""
    table = []
    for way, (examples, grammar) in WAYS.items():
        rows, begun = [], time.monotonic()
        for prompt, tool, words in PROMPTS:
            choice = complete(asked(prompt, examples, grammar))["choices"][0]
            text = (choice["message"].get("content") or "").strip()
            said = valid(text)
            fits = said is not None and said.get("tool") == tool
            given = json.dumps((said or {}).get("input")).lower()
            right = fits and all(word in given for word in words)
            rows.append({"prompt": prompt, "text": text, "valid": said is not None, "right": right})
        seconds = round(time.monotonic() - begun, 1)
        table.append({"way": way, "rows": rows, "seconds": seconds})
        counts = [sum(row[what] for row in rows) for what in ("valid", "right")]
        print(
            f"{way:30} valid {counts[0]:2}, right {counts[1]:2} of {len(rows)}; {seconds} s",
            flush=True,
        )
    return table


def first_tokens(complete: Callable[[Json], Json]) -> list[Json]:
    """The first tokens of a reply with and without a grammar, and how probable each one was."""
    found = []
    for grammar in (False, True):
        choice = complete(asked(PROMPTS[0][0], False, grammar))["choices"][0]
        steps = [
            {
                "token": one["token"],
                "p": round(math.exp(one["logprob"]), 5),
                "likeliest": [
                    [other["token"], round(math.exp(other["logprob"]), 4)]
                    for other in one["top_logprobs"][:5]
                ],
            }
            for one in choice["logprobs"]["content"][:12]
        ]
        found.append({"grammar": grammar, "steps": steps})
    return found


Task = tuple[str, Callable[[Path], bool]]


def _has(name: str, text: str) -> Callable[[Path], bool]:
    return lambda folder: (
        (folder / name).is_file() and text in (folder / name).read_text("utf-8").lower()
    )


TASKS: list[Task] = [
    ("Write the word hello to a file hello.txt.", _has("hello.txt", "hello")),
    ("Create a file notes.txt that says: buy milk.", _has("notes.txt", "buy milk")),
    ("Read a.txt, and write the same text to b.txt.", _has("b.txt", "blue whale")),
    ("How many files are there? Write the number to count.txt.", _has("count.txt", "2")),
    ("Write 2 + 3 to sum.txt, as one number.", _has("sum.txt", "5")),
    ("Put the name of the animal in a.txt into animal.txt.", _has("animal.txt", "whale")),
    ("Write the text of c.csv to copy.csv.", _has("copy.csv", "rome,31")),
    ("Write the temperature in Rome, from c.csv, to rome.txt.", _has("rome.txt", "31")),
    (
        "Create x.txt and y.txt, each with the word ok.",
        lambda folder: all(_has(name, "ok")(folder) for name in ("x.txt", "y.txt")),
    ),
    (
        "Write the names of all files to list.txt.",
        lambda folder: all(_has("list.txt", name)(folder) for name in ("a.txt", "c.csv")),
    ),
]


def tools_in(folder: Path) -> list[Callable[..., str]]:
    """Three tools that work in a folder."""

    def list_files() -> str:
        """List the files."""
        return "\n".join(sorted(path.name for path in folder.iterdir()))

    def read_file(path: str) -> str:
        """Read a file."""
        return (folder / Path(path).name).read_text("utf-8")

    def write_file(path: str, content: str) -> str:
        """Write a file."""
        (folder / Path(path).name).write_text(content, "utf-8")
        return f"Wrote {path}."

    return [list_files, read_file, write_file]


#: A task that is done, at the beginning of each conversation.
DONE: list[Json] = [
    {"role": "user", "content": "Write the word bye to bye.txt."},
    {
        "role": "assistant",
        "content": [
            {
                "type": "tool_use",
                "id": "example",
                "name": "write_file",
                "input": {"path": "bye.txt", "content": "bye"},
            }
        ],
    },
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "example", "content": "Wrote bye.txt."}],
    },
    {"role": "assistant", "content": "Done: bye.txt has the word bye."},
]


class Check(lk.Mechanism):
    """When the model stops, it looks whether the task is done."""

    def __init__(self, done: Callable[[], bool]) -> None:
        self._done = done

    def on_stop(self, agent: Any) -> str | None:
        return None if self._done() else "Not done: the folder is not as asked."


def tasks(client: Any, checked: bool) -> list[Json]:
    """Let an agent do each task in a folder of its own."""
    rows, system = [], "You work with files. Use the tools. When it is done, answer."
    for prompt, check in TASKS:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "a.txt").write_text("The blue whale is an animal.\n")
            (folder / "c.csv").write_text("city,celsius\nRome,31\n")
            settings: Json = {"system": system, "max_turns": 6, "max_tokens": 200}
            checks = [Check(partial(check, folder))] * checked
            with lk.Agent(client, checks, tools=tools_in(folder), **settings) as agent:
                agent.messages[:] = DONE
                outcome = agent.run(prompt)
            ended, right = outcome.reason == "end_turn", check(folder)
        row = {"prompt": prompt, "ended": ended, "right": right, "turns": outcome.turns}
        text = outcome.text.replace(f"{name}/", "")  # a path in an error
        rows.append({**row, "text": text[:200]})
        print(
            f"{'ended' if ended else 'stopped':8} {'right' if right else 'wrong':6} {prompt}",
            flush=True,
        )
    return rows


def loaded() -> Callable[[Json], Json]:
    """The model on one thread: others wait for each other when the machine is busy."""
    params = xllamacpp.CommonParams()
    params.model.path, params.n_ctx, params.n_parallel = str(local.tiny()), 2048, 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.verbosity = -1
    complete: Callable[[Json], Json] = xllamacpp.Server(params).handle_chat_completions
    return complete


def main() -> None:
    out = Path(sys.argv[1]) if sys.argv[1:] else OUT
    complete = loaded()
    local.loaded = lambda *_: complete  # lk.local takes the same one
    measured = {
        "date": f"{datetime.date.today():%-d %B %Y}",
        "model": local.tiny().stem,
        "machine": f"one core of a {platform.machine()} with {platform.system()}",
        "script": "benchmarks/measure_tiny.py",
        "tools": TOOLS,
        "calls": calls(complete),
        "tokens": first_tokens(complete),
    }
    client = lk.local("tiny", context=2048)
    measured["tasks"] = {
        name: tasks(client, checked) for name, checked in (("no check", False), ("a check", True))
    }
    out.write_text(json.dumps(measured, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
