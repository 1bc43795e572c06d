"""No network but this machine: a block that reaches Python's sockets wherever they are made.

It is an audit hook, because a patched ``socket.socket`` is passed by everyone who imported it
earlier or goes through ``_socket``. A hook cannot be taken off again, which is what a gate wants.
``sitecustomize.py`` beside this file switches it on in kernels and their Python children; the
root ``conftest.py`` in pytest itself. Programs that are not Python are out of its reach: the gate
runs the notebooks once more in a network namespace, where that is possible.
"""

from __future__ import annotations

import errno
import sys

SWITCH = "LEARNKIT_BLOCK_SOCKETS"
"""The environment variable that ``sitecustomize.py`` looks at: ``1`` switches the block on."""

_CONNECTS = {"socket.connect", "socket.sendto", "socket.sendmsg"}
_LOOKUPS = {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"}
_ON_THIS_MACHINE = {"", "localhost", "127.0.0.1", "::1", "0.0.0.0", "::"}
_installed = False


class NetworkBlocked(PermissionError):
    """Something tried to leave this machine during a test.

    An ``OSError``, as a firewall's refusal would be, so that a library that only tries (to learn
    its own address, say) goes on as it would on a machine without a network.
    """


def is_loopback(host: object) -> bool:
    """Whether a host, as given to a socket function, can only mean this machine."""
    if host is None:
        return True
    text = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
    text = text.partition("%")[0].lower()
    if text in _ON_THIS_MACHINE:
        return True
    import ipaddress  # here: most children never get so far, and it takes them 10 ms

    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)


def block() -> None:
    """Refuse every connection, datagram and name look-up beyond this machine, in this process.

    Unix sockets, listening sockets and loopback stay as they are. A second call changes nothing.
    """
    global _installed
    if not _installed:
        sys.addaudithook(_audit)
        _installed = True


def _audit(event: str, args: tuple[object, ...]) -> None:
    if not event.startswith("socket."):
        return
    if event in _CONNECTS:
        address = args[1]  # a path for Unix sockets, (host, port, ...) for the internet's
        if isinstance(address, tuple) and isinstance(address[0], str | bytes):
            host = address[0]
            if not is_loopback(host):
                _refuse(event, f"{host!s}:{address[1]}")
    elif event in _LOOKUPS and not is_loopback(args[0]):
        _refuse(event, repr(args[0]))


def _refuse(event: str, target: str) -> None:
    raise NetworkBlocked(
        errno.EPERM,
        f"{event} to {target} refused: tests run without a network ({SWITCH}=1). "
        "Use a server on 127.0.0.1, a recording, or a scripted client",
    )
