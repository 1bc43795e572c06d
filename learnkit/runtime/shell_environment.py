"""The environment of a command: what an allow-list passes on, and a few settings; never a key.

In a user's repository a command finds what the user would: their virtual environment first,
their name in git, their proxy. A lesson needs the opposite, outputs that are the same everywhere,
and asks for it with ``LEARNKIT_REPRODUCIBLE=1``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

#: The environment variable that asks for the same environment on every machine.
SWITCH = "LEARNKIT_REPRODUCIBLE"

_ALWAYS = ("PATH", "HOME", "TERM", "TMPDIR", "USER")
_PROXIES = ("http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy")
_THEIRS = (
    *("LOGNAME", "SHELL", "TZ", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"),
    *("VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV"),
    *_PROXIES,
    *(name.upper() for name in _PROXIES),
    # Certificates of a proxy that looks into TLS.
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
    *("NODE_EXTRA_CA_CERTS", "PIP_CERT", "GIT_SSL_CAINFO"),
    # GIT_CONFIG_VALUE_0 and its like stay out: they carry tokens for servers.
    *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "EMAIL"),
    *("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE"),
    *("GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE"),
)
#: What the model reads is in one language and encoding; decides over LANG and every LC_ name.
_LOCALE = {"LC_ALL": "C.UTF-8"}

#: One author, one date, one branch name and no configuration of the user's: hashes repeat.
REPRODUCIBLE: Mapping[str, str] = MappingProxyType(
    {
        "PYTHONDONTWRITEBYTECODE": "1",
        "GIT_AUTHOR_NAME": "learnkit",
        "GIT_AUTHOR_EMAIL": "learnkit@example.org",
        "GIT_AUTHOR_DATE": "2026-01-01T00:00:00+00:00",
        "GIT_COMMITTER_NAME": "learnkit",
        "GIT_COMMITTER_EMAIL": "learnkit@example.org",
        "GIT_COMMITTER_DATE": "2026-01-01T00:00:00+00:00",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "init.defaultBranch",
        "GIT_CONFIG_VALUE_0": "main",
    }
)


def environment(extra: Mapping[str, str]) -> dict[str, str]:
    """The variables that a command gets."""
    reproducible = os.environ.get(SWITCH) == "1"
    names = _ALWAYS if reproducible else (*_ALWAYS, *_THEIRS)
    env = {name: os.environ[name] for name in names if name in os.environ} | _LOCALE
    path, python = env.get("PATH", os.defpath), str(Path(sys.executable).parent)
    if reproducible:
        # `python` is the one that runs the notebook.
        return {**env, **REPRODUCIBLE, "PATH": os.pathsep.join((python, path)), **extra}
    # Ours comes last: where learnkit has an environment of its own, it must not hide theirs.
    parts = [path, python]
    if venv := env.get("VIRTUAL_ENV") or _local_venv():
        env["VIRTUAL_ENV"] = venv
        parts.insert(0, str(Path(venv) / "bin"))
    return {**env, "PATH": os.pathsep.join(parts), **extra}


def _local_venv() -> str | None:
    """The environment that runs us, if it is one in the current folder that was not activated."""
    inside = sys.prefix != sys.base_prefix and Path(sys.prefix).parent == Path.cwd()
    return sys.prefix if inside else None
