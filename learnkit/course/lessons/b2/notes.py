"""What lesson b2 reads: many notes, and a stranger's page."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread


def write_notes(folder: Path, number: int, about: str = "What counts as hot in Oslo.") -> None:
    """Write notes as the lesson's agent does, each a day newer than the one before it."""
    folder.mkdir(parents=True, exist_ok=True)
    for day in range(1, number + 1):
        path = folder / f"note-{day:04}.md"
        path.write_text(
            f"(2026-11-26, by lead, from the user) {about}\n\nHot from 28 °C.\n", "utf-8"
        )
        os.utime(path, (86_400 * day, 86_400 * day))


@contextmanager
def page(text: str) -> Iterator[str]:
    """Serve a page on this machine, in a block that gets its address."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Page) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
