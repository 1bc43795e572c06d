import inspect
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Lock

TOOLS = {}  # name -> function
JSON_TYPES = {str: "string", int: "integer", bool: "boolean", list: "array"}
# For tools of a group: allow, ask or deny. Those of other groups are allowed.
POLICY = {"write": os.getenv("AGENT_WRITE", "ask")}
ASKING = Lock()
PROCESS = {
    # A command that prints its environment must not print your key.
    "env": {name: value for name, value in os.environ.items() if "ANTHROPIC" not in name},
    "start_new_session": True,  # so that all that a command has started can be ended with it
    "stdin": subprocess.DEVNULL,
    "stdout": subprocess.PIPE,
    "stderr": subprocess.STDOUT,
    "text": True,
    "errors": "replace",
}
MAX_SECONDS, MAX_OUTPUT = 120, 50_000


def tool(*groups):
    """Register a function as a tool. An agent that has one of these groups may call it."""

    def register(function):
        function.groups = {*groups}
        TOOLS[function.__name__] = function
        return function

    return register


def spec_of(function) -> dict:
    """What the model sees of a tool: the name, the docstring, and a schema of the arguments."""
    _agent, *arguments = inspect.signature(function).parameters.values()
    schema = {
        "type": "object",
        "properties": {
            argument.name: {"type": JSON_TYPES[argument.annotation]} for argument in arguments
        },
        "required": [argument.name for argument in arguments if argument.default is argument.empty],
    }
    description = inspect.getdoc(function)
    return {"name": function.__name__, "description": description, "input_schema": schema}


class Agent:
    """A conversation with the model, and the tools and the folder that it has."""

    def __init__(self, folder=None, groups=("read", "write")):
        self.folder, self.system, self.messages = Path(folder or ROOT).resolve(), SYSTEM, []
        self.tools = {name: tool for name, tool in TOOLS.items() if {*groups} & tool.groups}
        self.specs = [spec_of(tool) for tool in self.tools.values()]


def run_call(agent: Agent, call: dict) -> dict:
    """Run a call. Whatever goes wrong, the model should read it, and go on."""
    try:
        if call["name"] not in agent.tools:
            raise LookupError(f"no tool {call['name']!r}; there are: {', '.join(agent.tools)}")
        if why := refusal(agent, call):
            raise PermissionError(why)
        return result_of(call, shortened(agent.tools[call["name"]](agent, **call["input"])))
    except Exception as error:
        return result_of(call, f"{type(error).__name__}: {error}", is_error=True)


def shortened(text: str, limit: int = MAX_OUTPUT) -> str:
    """Keep the beginning and the end of a long text, and say how much is missing."""
    if len(text) <= limit:
        return text
    left_out = f"[{len(text) - limit:,} characters left out]"
    return "\n".join([text[: limit // 2], left_out, text[-limit // 2 :]])


def refusal(agent: Agent, call: dict) -> str | None:
    """Why a call may not run, or None."""
    groups = agent.tools[call["name"]].groups
    decision = next((POLICY[group] for group in groups if group in POLICY), "allow")
    if decision == "ask" and ask_user(f"{call['name']} {call['input']}"):
        return None
    return None if decision == "allow" else f"the user does not allow this {call['name']}"


def ask_user(question: str) -> bool:
    if not sys.stdin.isatty():  # nobody is there
        return False
    with ASKING:
        return input(f"Allow {question}? [y/N] ").strip().lower() == "y"


def path_in(agent: Agent, path: str) -> Path:
    """A path in the agent's folder; a link or `..` must not lead out of it."""
    full = (agent.folder / path).resolve()
    if not full.is_relative_to(agent.folder):
        raise PermissionError(f"{path} is outside of your folder")
    return full


def start(command: str, folder: Path) -> subprocess.Popen:
    return subprocess.Popen(["bash", "-c", command], cwd=folder, **PROCESS)


def output_of(process: subprocess.Popen, seconds: int) -> str:
    """Wait for a command, at most so long; nothing that it has started stays behind."""
    with process:
        try:
            output = process.communicate(timeout=seconds)[0]
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    return f"{output}(exit code {process.returncode})" if process.returncode else output


@tool("write")
def bash(agent: Agent, command: str) -> str:
    """Run a bash command in the project's folder and return its output, for at most 120 seconds.
    Each command starts in that folder. It cannot ask for input, or leave something running."""
    return output_of(start(command, agent.folder), MAX_SECONDS)


@tool("read")
def read_file(agent: Agent, path: str, limit: int = 2000, offset: int = 0) -> str:
    """Read a text file in the project's folder: at most `limit` lines, after the first `offset`."""
    lines = path_in(agent, path).read_text("utf-8").splitlines()
    return "\n".join(lines[offset : offset + limit])


@tool("write")
def write_file(agent: Agent, path: str, content: str) -> str:
    """Write a file in the project's folder. It replaces a file that exists."""
    full = path_in(agent, path)
    full.parent.mkdir(parents=True, exist_ok=True)
    full.write_text(content, "utf-8")
    return f"Wrote {len(content)} characters to {path}."


@tool("write")
def edit_file(agent: Agent, path: str, old_text: str, new_text: str) -> str:
    """Replace the first occurrence of a text in a file. Copy a line or two around the place into
    old_text, so that it occurs only once."""
    full = path_in(agent, path)
    text = full.read_text("utf-8")
    if old_text not in text:
        raise ValueError(f"{path} does not contain this old_text; read the file again")
    full.write_text(text.replace(old_text, new_text, 1), "utf-8")
    return f"Edited {path}; old_text occurred {text.count(old_text)} time(s)."
