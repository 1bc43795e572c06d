"""A common remote: a repository, perhaps on a server, that several clones push branches to.

Its address is fixed when the object is made, before any agent works in the repository: an agent can
write the repository's configuration, and must not choose where branches go, nor a program that git
runs on the way. What the user has configured (ssh, credentials, proxies) is used.
"""

from __future__ import annotations

import os
import shlex

from learnkit.errors import UsageError
from learnkit.runtime.git import LIMIT, Git, GitError, preamble
from learnkit.runtime.shell import LocalShell

#: Where a fetched branch is noted, out of the way of the remotes that the user has set up.
_NOTED = "refs/remotes/learnkit"
#: What ssh needs of the user's environment.
_AGENTS = ("SSH_AUTH_SOCK", "SSH_AGENT_PID")
_GONE = "couldn't find remote ref"


class GitRemote:
    """A repository that several clones share."""

    def __init__(self, git: Git, address: str) -> None:
        self._git = git
        # It has to reach a server, so it cannot run in a sandbox; git runs nothing of an agent's.
        self._shell = LocalShell({name: os.environ[name] for name in _AGENTS if name in os.environ})
        if not any(sign in address for sign in "/:"):
            try:
                address = git.run("config", "--get", f"remote.{address}.url").strip()
            except GitError:
                raise UsageError(
                    f"this repository has no remote {address!r}; add one with git remote add"
                ) from None
        if address.startswith("-") or "::" in address:
            raise UsageError(f"{address!r} cannot be used as a common remote; give a URL or a path")
        self._address = address

    def fetch(self, branch: str) -> str | None:
        """Get a branch."""
        noted = f"{_NOTED}/{branch}"
        plain = ("--no-tags", "--no-recurse-submodules", "--no-auto-maintenance")
        program = "--upload-pack=git-upload-pack"
        try:
            self._run("fetch", "-q", *plain, program, f"+refs/heads/{branch}:{noted}")
        except GitError as error:
            if _GONE in str(error):
                return None
            raise
        return self._git.commit_of(noted)

    def push(self, branch: str) -> None:
        """Send a branch of this clone."""
        plain = ("--no-verify", "--no-signed", "--recurse-submodules=no")
        ref = f"refs/heads/{branch}"
        self._run("push", "-q", *plain, "--receive-pack=git-receive-pack", f"{ref}:{ref}")

    def _run(self, command: str, *arguments: str) -> None:
        *options, ref = arguments
        words = shlex.join(["git", command, *options, "--", self._address, ref])
        result = self._shell.run(
            f"{preamble(address=self._address)}\n{words} 2>&1", self._git.root, LIMIT
        )
        if result.timed_out:
            raise GitError(f"git {command}: the common remote has not answered in {LIMIT:g} s")
        if result.code != 0:
            said = result.output.strip().replace(self._address, "the common remote")
            raise GitError(f"git {command}: {said or f'exit code {result.code}'}")
