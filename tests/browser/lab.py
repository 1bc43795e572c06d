"""A real JupyterLab in a real browser, for tests that have to see what a learner sees.

    with lab(folder, scratch) as url, browser() as page:
        notebook = Notebook(page, url, "s01.ipynb")
        notebook.run_all()
        notebook.theme("JupyterLab Dark")
        notebook.screenshot(scratch / "dark.png")

The server runs in a folder of its own choosing with its settings, kernels' connection files and
workspaces in a scratch folder, so nothing of the user's JupyterLab is read or changed.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Error, Locator, Page, expect, sync_playwright

#: The themes that come with JupyterLab and that every view has to be readable in.
THEMES = ("JupyterLab Light", "JupyterLab Dark", "JupyterLab Dark High Contrast")

#: axe's rules of the category cat.color that check what WCAG asks of everyone, at level AA.
_OF_COLOUR = ["color-contrast", "link-in-text-block"]
#: JupyterLab's own colours, too pale in some of its themes: of code in Markdown, and of tracebacks.
_NOT_OURS = [[".jp-RenderedMarkdown pre"], [".jp-RenderedText pre"]]
# JupyterLab's body has no height, and hides what leaves it: axe takes all text for hidden, as well
# as what has to be scrolled to, and would look at the colours of none of it.
_UNCUT = """(uncut) => {
  if (!uncut) return document.getElementById('uncut').remove();
  const rule = ':has(.jp-Notebook) { overflow: visible !important; }';
  document.head.insertAdjacentHTML('beforeend', `<style id="uncut">${rule}</style>`);
}"""
_SETTINGS = {
    "@jupyterlab/docmanager-extension:plugin": {"autosave": False},
    "@jupyterlab/apputils-extension:themes": {"theme": THEMES[0]},
}
expect.set_options(timeout=30_000)  # playwright's 5 s are not enough for a page on a busy machine
_CHROMIUM = (
    *("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
    *("--disable-background-networking", "--force-color-profile=srgb"),
)


def free_port() -> int:
    """A port on the loopback address that nobody listens to right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def write_notebook(path: Path, cells: Sequence[str]) -> None:
    """Write a notebook of code cells without outputs."""
    body = [
        {
            "cell_type": "code",
            "id": f"cell{number}",
            "metadata": {},
            "source": source,
            "outputs": [],
            "execution_count": None,
        }
        for number, source in enumerate(cells)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = {"cells": body, "metadata": {"kernelspec": kernel}, "nbformat": 4}
    path.write_text(json.dumps({**notebook, "nbformat_minor": 5}), encoding="utf-8")


def environment(scratch: Path, **more: str) -> dict[str, str]:
    """An environment in which JupyterLab keeps everything it writes under ``scratch``."""
    settings = scratch / "settings"
    settings.mkdir(parents=True, exist_ok=True)
    (settings / "overrides.json").write_text(json.dumps(_SETTINGS), encoding="utf-8")
    folders = {
        name: str(scratch / name.lower())
        for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    }
    folders["JUPYTERLAB_SETTINGS_DIR"] = str(scratch / "user-settings")
    folders["JUPYTERLAB_WORKSPACES_DIR"] = str(scratch / "workspaces")
    folders["IPYTHONDIR"] = str(scratch / "ipython")
    kept = {key: value for key, value in os.environ.items() if key != "LEARNKIT_STATIC"}
    return {**kept, **folders, "PYTHONWARNINGS": "ignore", **more}


#: What a server needs so that a test can drive it; its settings come from ``environment``.
def arguments(scratch: Path, port: int) -> list[str]:
    """Options of ``jupyter lab`` for a server that only this test uses."""
    return [
        *("--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}"),
        *("--IdentityProvider.token=", "--ServerApp.disable_check_xsrf=True"),
        "--LabApp.expose_app_in_browser=True",
        f"--LabApp.app_settings_dir={scratch / 'settings'}",
    ]


@contextlib.contextmanager
def lab(
    folder: Path, scratch: Path, command: Sequence[str] | None = None, **env: str
) -> Iterator[str]:
    """Serve a folder, and stop the server with everything it started."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    start = [*(command or (sys.executable, "-m", "jupyterlab")), *arguments(scratch, port)]
    if command is None:
        start.append(f"--ServerApp.root_dir={folder}")
    environ = environment(scratch, **env)
    log = scratch / "server.log"
    with started(start, folder, environ, log) as server:
        for _ in range(600):
            if server.poll() is not None:
                break
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/api", timeout=2):
                break
            time.sleep(0.1)
        else:
            server.poll()
        if server.returncode is not None:
            raise RuntimeError(f"JupyterLab ended:\n{log.read_text(errors='replace')[-2000:]}")
        yield url


def shut_kernels(url: str) -> None:
    """End the kernels that pages have left: a notebook that is opened again would go on in its."""
    with urllib.request.urlopen(f"{url}/api/sessions", timeout=30) as answer:
        sessions = json.load(answer)
    for session in sessions:
        request = urllib.request.Request(f"{url}/api/sessions/{session['id']}", method="DELETE")
        urllib.request.urlopen(request, timeout=30).close()


@contextlib.contextmanager
def started(
    command: Sequence[str], folder: Path, env: dict[str, str], log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a server in a session of its own, and stop it with everything it started."""
    with log.open("wb") as out:
        server = subprocess.Popen(
            command, cwd=folder, env=env, stdout=out, stderr=out, start_new_session=True
        )
    try:
        yield server
    finally:
        # Kernels have sessions of their own; the server shuts them down when it is asked nicely.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGTERM)
        try:
            server.wait(timeout=15)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()


def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that LEARNKIT_SHOTS names, or a throw-away one."""
    asked = os.environ.get("LEARNKIT_SHOTS")
    folder = Path(asked) if asked else tmp_path_factory.mktemp("shots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def faults(page: Page, within: str = "html", *, colours: bool = False) -> list[str]:
    """What axe finds that a reader would stumble over."""
    # No selectors of what is found, and no lists of what is fine: nobody reads those.
    options: dict[str, Any] = {"resultTypes": ["violations"], "selectors": False}
    if colours:
        options["runOnly"] = {"type": "rule", "values": _OF_COLOUR}
    page.evaluate(_UNCUT, True)
    scope = {"include": [[within]], "exclude": _NOT_OURS}
    found: dict[str, Any] = Axe().run(page, scope, options).response
    page.evaluate(_UNCUT, False)
    return [
        f"{one['id']}: {one['help']}: {node['html'][:160]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


def chromium() -> str | None:
    """An installed Chromium, or None: then playwright uses the one it brought."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)


@contextlib.contextmanager
def chromium_for_all() -> Iterator[None]:
    """Keep one Chromium for every ``browser`` of the block: starting one takes a second."""
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium(), args=list(_CHROMIUM))
        _running.append(running)
        try:
            yield
        finally:
            _running.remove(running)
            running.close()


_running: list[Browser] = []
#: JupyterLab 4.6 puts a cell under an observer that it has already dropped, when a notebook closes
#: or a cell leaves the window that is drawn. None of our code is on that stack.
_WINDOWING = ("reading 'observe'", "/static/lab/jlab_core")
#: ipykernel stops the one thread that may write to its socket before it ends itself. Whoever still
#: writes then writes at once, and two messages can become one that nobody can read. JupyterLab says
#: so and drops it; a picture that misses a message would ask for it again.
_MIXED = ("Kernel message validation error", "/static/lab/jlab_core")


@contextlib.contextmanager
def browser(width: int = 1200, height: int = 900) -> Iterator[Page]:
    """A fresh page that shares nothing with others; its errors are kept in ``page.errors``."""
    with contextlib.ExitStack() as stack:
        if not _running:
            stack.enter_context(chromium_for_all())
        page = _running[0].new_page(viewport={"width": width, "height": height})
        stack.callback(page.close)
        errors: list[str] = []

        def keep(error: Error) -> None:
            told = error.stack or str(error)
            if not any(all(part in told for part in known) for known in (_WINDOWING, _MIXED)):
                errors.append(told)

        page.on("pageerror", keep)
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" else 0)
        page.errors = errors  # type: ignore[attr-defined]
        yield page


def failed(page: Page) -> list[tuple[list[str], str]]:
    """Tags and text of each cell of the open notebook that shows an error."""
    found: list[tuple[list[str], str]] = page.evaluate(
        """() => jupyterapp.shell.currentWidget.content.widgets
          .filter(({ model }) => model.type === 'code'
            && model.outputs.toJSON().some((one) => one.output_type === 'error'))
          .map(({ model }) => [model.getMetadata('tags') ?? [], model.sharedModel.getSource()])"""
    )
    return found


class Notebook:
    """A notebook that is open in JupyterLab."""

    def __init__(self, page: Page, url: str, path: str, *, again: bool = False) -> None:
        self.page = page
        if again:
            page.evaluate(_OPEN, path)
            page.wait_for_function(_READY, timeout=90_000, polling=_EVERY)
            return
        workspace = secrets.token_hex(4)
        page.goto(f"{url}/lab/workspaces/{workspace}/tree/{quote(path)}?reset")
        page.wait_for_function(_READY, timeout=90_000, polling=_EVERY)

    def environ(self, name: str, value: str) -> None:
        """Set an environment variable in the kernel, before the cells are run."""
        code = f"import os; os.environ[{name!r}] = {value!r}; del os"
        self.page.evaluate(
            """async (code) => {
              const { kernel } = jupyterapp.shell.currentWidget.sessionContext.session;
              await kernel.requestExecute({ code, silent: true }).done;
            }""",
            code,
        )

    def run_all(self, timeout: float = 90.0) -> None:
        """Run all cells, and wait up to ``timeout`` seconds until the last one is done."""
        self.start_all()
        self.wait_idle(timeout)

    def start_all(self) -> None:
        """Run all cells without waiting for them."""
        self.page.evaluate(f"() => {{ {_START} }}")

    def run_cell(self) -> None:
        """Run the selected cell, and wait until it is done."""
        self.page.evaluate(
            """async () => {
              window.ranAll = false;
              await jupyterapp.commands.execute('notebook:run-cell').catch(() => {});
              window.ranAll = true;
            }"""
        )
        self.wait_idle()

    def run_cell_only(self) -> None:
        """Run the selected cell, and wait until it is done, whatever the others have done."""
        self.page.evaluate(
            """async () => {
              const { sessionContext } = jupyterapp.shell.currentWidget;
              await jupyterapp.commands.execute('notebook:run-cell').catch(() => {});
              while (sessionContext.session.kernel.status !== 'idle') {
                await new Promise((done) => setTimeout(done, 50));
              }
            }"""
        )

    def draw_all(self) -> None:
        """Draw every cell, also those far away: JupyterLab leaves them out at first."""
        self.page.evaluate(
            """() => {
              const { content } = jupyterapp.shell.currentWidget;
              content.notebookConfig = { ...content.notebookConfig, windowingMode: 'none' };
            }"""
        )

    def side_bar(self, shown: bool) -> None:
        """Show or hide the file browser."""
        if self.page.evaluate("() => !jupyterapp.shell.leftCollapsed") != shown:
            self.command("application:toggle-left-area")

    def wait_idle(self, timeout: float = 90.0) -> None:
        """Wait until every code cell has run.

        JupyterLab's own promise ends at the first error, also at one that a tag expects.
        """
        self.page.wait_for_function(
            "() => window.ranAll === true", timeout=timeout * 1000, polling=100
        )
        self.page.wait_for_function(_DONE, timeout=timeout * 1000, polling=_EVERY)

    def output(self, number: int) -> Locator:
        """The last output of a code cell, scrolled into sight."""
        content = "jupyterapp.shell.currentWidget.content"
        self.page.evaluate(f"(n) => {content}.scrollToItem(n, 'start')", number)
        return self.page.locator(".jp-CodeCell").nth(number).locator(".jp-OutputArea-output").last

    def shoot(self, number: int, path: Path) -> None:
        """Pictures of a cell's last output in the light and the dark theme."""
        for theme in THEMES[:2]:
            self.theme(theme)
            name = f"{path.name}-{theme.split()[-1].lower()}.png"
            self.output(number).screenshot(path=path.with_name(name))
        self.theme(THEMES[0])

    def theme(self, name: str) -> None:
        """Switch to a theme, by the name in the menu, and wait until the page wears it."""
        if self.page.evaluate("document.body.dataset.jpThemeName") == name:
            return
        self.page.evaluate(
            "theme => jupyterapp.commands.execute('apputils:change-theme', {theme})", name
        )
        self.page.wait_for_function(
            "name => document.body.dataset.jpThemeName === name", arg=name, timeout=20_000
        )
        self.page.wait_for_timeout(400)  # the theme's colours fade in

    def command(self, name: str, **options: Any) -> None:
        """Carry out one of JupyterLab's commands, such as ``kernelmenu:restart``."""
        self.page.evaluate(
            "([name, options]) => { jupyterapp.commands.execute(name, options) }", [name, options]
        )

    def screenshot(self, path: Path, selector: str | None = None) -> None:
        """Save a picture of the page, or of the first element that matches."""
        path.parent.mkdir(parents=True, exist_ok=True)
        (self.page.locator(selector).first if selector else self.page).screenshot(path=path)


#: Milliseconds. playwright would ask at each frame of the page, and so have it paint 60 a second.
_EVERY = 100
# The status line says idle before there is a session, and running cells then waits for a dialog.
_READY = """() => {
  const context = window.jupyterapp?.shell.currentWidget?.sessionContext;
  const kernel = context?.session?.kernel;
  return context?.isReady && kernel?.connectionStatus === 'connected' && kernel.status === 'idle';
}"""
_OPEN = """async (path) => {
  for (const widget of [...jupyterapp.shell.widgets('main')]) {
    await widget.context?.save?.();
    await widget.sessionContext?.shutdown?.();
    widget.close();
  }
  await jupyterapp.commands.execute('docmanager:open', { path, factory: 'Notebook' });
}"""
_DONE = """() => {
  const { content, sessionContext } = jupyterapp.shell.currentWidget;
  const code = content.widgets.filter((cell) => cell.model.type === 'code');
  const left = code.filter((cell) => cell.model.sharedModel.getSource().trim()
    && (cell.model.executionCount === null || cell.prompt === '*'));
  return left.length === 0 && sessionContext.session.kernel.status === 'idle';
}"""
_START = """
  window.ranAll = false;
  jupyterapp.commands.execute('notebook:run-all-cells').finally(() => { window.ranAll = true; });
"""
