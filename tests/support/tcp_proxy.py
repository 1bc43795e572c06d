"""A proxy between a client and a server, which can cut the line at the worst moment."""

from __future__ import annotations

import contextlib
import socket
import threading


class Proxy:
    """Passes bytes on to a port of this machine."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._open: set[socket.socket] = set()
        self._cut_at, self._within = b"", False
        self.cuts = 0
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut_after(self, words: bytes) -> None:
        """Once, when a client says this, let the server do it, and cut the line then."""
        with self._lock:
            self._cut_at, self._within = words, False

    def cut_within(self, words: bytes) -> None:
        """Once, when a client says this: pass on only half of it, and cut the line."""
        with self._lock:
            self._cut_at, self._within = words, True

    @property
    def armed(self) -> bool:
        """Whether a line is still to be cut, once the words are said."""
        return bool(self._cut_at)

    def cut_all(self) -> None:
        """Cut every line."""
        with self._lock:
            lines = [*self._open]
        for one in lines:
            _shut(one)

    def close(self) -> None:
        """Take no more connections, and cut those that there are."""
        _shut(self._listener)
        self.cut_all()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                _shut(client)
                continue
            with self._lock:
                self._open |= {client, server}
            doomed = threading.Event()
            for source, sink, of_client in ((client, server, True), (server, client, False)):
                line = (source, sink, of_client, doomed)
                threading.Thread(target=self._pass_on, args=line, daemon=True).start()

    def _pass_on(
        self, source: socket.socket, sink: socket.socket, of_client: bool, doomed: threading.Event
    ) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                with self._lock:
                    said = of_client and self._cut_at and self._cut_at in data
                    if said:
                        self._cut_at = b""
                if said and self._within:
                    self.cuts += 1
                    sink.sendall(data[: len(data) // 2])
                    break
                if said:
                    doomed.set()
                if doomed.is_set() and not of_client:  # it has answered, so it is done
                    self.cuts += 1
                    break
                sink.sendall(data)
        _shut(source)
        _shut(sink)
        with self._lock:
            self._open -= {source, sink}


def _shut(one: socket.socket) -> None:
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
