"""git, as far as worktrees need it: one command at a time, and what it answers.

Everything goes through a shell, so that the environment, the time limit and the end of processes
are the same as for any command.

A repository can name programs that git runs: hooks, filters, a file system monitor. An agent can
write files that name them, and these commands run without anybody's permission. So git gets a
configuration in which nothing that the repository names is run. Of the user's own configuration it
takes the identity and a few keys that are only data.

What a repository names depends on where git looks: a conditional include holds in one worktree, or
on one branch, and a command may work in another. So every file that could be included counts,
whether or not its condition holds where the command starts.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from learnkit.errors import ToolError, UsageError
from learnkit.runtime.shell import BwrapShell, LocalShell, Shell

#: Seconds that one git command may take.
LIMIT = 60.0
#: The first git that takes configuration from GIT_CONFIG_KEY_0 and its like.
OLDEST = (2, 31)

#: Programs that git's own keys name, and features that would run one or reach for a server.
_OFF = {
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.pager": "cat",
    "core.editor": ":",
    "sequence.editor": ":",
    "core.askPass": "",
    "core.sshCommand": "false",
    "core.gitProxy": "",
    "core.alternateRefsCommand": "false",
    "credential.helper": "",
    "gpg.program": "false",
    "gpg.openpgp.program": "false",
    "gpg.ssh.program": "false",
    "gpg.ssh.defaultKeyCommand": "false",
    "gpg.x509.program": "false",
    "commit.gpgSign": "false",
    "log.showSignature": "false",
    "merge.verifySignatures": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "submodule.recurse": "false",
    "status.submoduleSummary": "false",
    "safe.bareRepository": "explicit",  # a folder that only looks like a repository is none
}
#: The same for keys with a name of the repository's choice in them, if it has them. A merge driver
#: that fails is a conflict; an empty one would be taken for a merge without one.
_OFF_IF_THERE = """
    filter.*.clean|filter.*.smudge|filter.*.process) off "$key" '' ;;
    filter.*.required) off "$key" false ;;
    merge.*.driver) off "$key" false ;;
    hook.*.command) off "$key" : ;;
    branch.*.mergeoptions) off "$key" '' ;;
    pull.twohead|pull.octopus) off "$key" recursive ;;
    submodule.*.update) off "$key" none ;;
"""
#: Keys of the user and of the repository that are data for git, and no program's name.
_KEPT = """
    user.name|user.email|user.useconfigonly|author.name|author.email|committer.name) ;;
    committer.email|core.autocrlf|core.eol|core.safecrlf|core.excludesfile|core.longpaths) ;;
"""
#: Keys of the user alone. A repository of another person's must not say that it is safe.
_USERS = "safe.directory"
#: Git follows a chain of ten included files, and refuses a longer one.
_INCLUDED = 10


#: What git needs to reach a server, and what it may be reached by. Values of the repository's own
#: are replaced by these; the user's come after them.
_ONLINE = {"core.sshCommand": "ssh", "credential.helper": "", "core.askPass": ""}
_PROTOCOLS = "file:ssh:http:https"
_KEPT_ONLINE = "core.sshcommand|ssh.*|credential.*|http.*|url.*"

#: Bash that turns off what the configuration of a folder names. It lists the configuration, then
#: lists it again with each file that a conditional include in it names, until no new one appears.
_LOOK = r"""
refuse() { echo "this repository's configuration $1"; exit 1; }
look() {
  local also=() known= depth scope origin key value entry path before=-1
  for ((depth = 0; depth <= LIMIT && before < ${#also[@]}; depth++)); do
    before=${#also[@]} scope=
    while IFS= read -r -d '' scope && IFS= read -r -d '' origin && IFS= read -r -d '' entry; do
      key=${entry%%$'\n'*} value=${entry#*$'\n'}
      case $entry in *$'\n'*) ;; *) value=true ;; esac  # a key without '=' is true
      if [ "$1$depth" = .0 ]; then
        case $key in KEPT *) false ;; esac && off "$key" "$value"
      fi
      case $scope in system|global)
        case $key in USERS) ;; *) false ;; esac && off "$key" "$value"
        continue ;;
      esac
      case $key in FORBIDDEN) refuse "has $key" ;; esac
      case $key in OFF esac
      case $key in include.path|includeif.*.path) ;; *) continue ;; esac
      case $value in /*|'~'*|'%(prefix)'*) path=$value ;; *)
        # git copies this file into new worktrees, where the include would lead to another file.
        case $origin in *config.worktree)
          refuse "has $key = $value in config.worktree; make this path an absolute one" ;;
        esac
        origin=${origin#file:}  # it is relative to the top folder, or absolute
        case $origin in /*) ;; *)
          origin=$(cd "$1" && cd "./$(git rev-parse --show-cdup)" && pwd)/$origin ;;
        esac
        path=${origin%/*}/$value
      esac
      case $key$known in include.path*|*$'\n'"$path"$'\n'*) continue ;; esac
      known+=$'\n'$path$'\n' also+=(-c "include.path=$path")
    done < <(git -C "$1" "${also[@]}" config --list --show-scope --show-origin -z && printf 'end\0')
    [ "$scope" = end ] || refuse 'could not be listed'
  done
}
"""


def preamble(*places: str, address: str = "") -> str:
    """Bash that leaves git nothing to run but itself; it is read anew before each command."""
    online = bool(address)
    look = {
        "LIMIT": str(_INCLUDED),
        "KEPT": _KEPT,
        "USERS": f"{_USERS}|{_KEPT_ONLINE}" if online else _USERS,
        # They would lead to another server.
        "FORBIDDEN": f"url.*|remote.{shlex.quote(address)}.*url" if online else "''",
        "OFF": _OFF_IF_THERE,
    }
    return "\n".join(
        [
            "n=0",
            'off() { export "GIT_CONFIG_KEY_$n=$1" "GIT_CONFIG_VALUE_$n=$2"; n=$((n + 1)); }',
            "for name in ${!GIT_@}; do case $name in",
            "  GIT_AUTHOR_*|GIT_COMMITTER_*|GIT_CONFIG_GLOBAL|GIT_CONFIG_SYSTEM) ;;",
            "  GIT_CONFIG_NOSYSTEM) ;;",
            "  *) unset $name ;;",
            "esac; done",
            *(f"off {key} {shlex.quote(value)}" for key, value in _ONLINE.items() if online),
            re.sub("|".join(look), lambda found: look[found[0]], _LOOK),
            "look .",
            *(f"[ ! -d {place} ] || look {place}" for place in map(shlex.quote, places)),
            *(
                f"off {key} {shlex.quote(value)}"
                for key, value in _OFF.items()
                if not (online and key in _ONLINE)
            ),
            "export GIT_CONFIG_COUNT=$n GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1",
            "export GIT_ATTR_NOSYSTEM=1 GIT_NO_LAZY_FETCH=1",
            f"export GIT_ALLOW_PROTOCOL={_PROTOCOLS if online else 'none'}",
            "export GIT_TERMINAL_PROMPT=0 GIT_EDITOR=: GIT_PAGER=cat",
        ]
    )


class GitError(ToolError):
    """git has refused; the text is what it said.

    Attributes:
        code: its exit code; None if it was ended.
    """

    code: int | None = None


@dataclass(frozen=True, slots=True)
class Checkout:
    """One line of work that git has checked out somewhere.

    Attributes:
        path: of the folder.
        branch: its branch, without ``refs/heads/``; empty if it has none.
        commit: its newest commit.
        gone: whether the folder is not there any more.
        locked: whether git keeps it from being pruned and removed, as it does until it is complete.
    """

    path: Path
    branch: str
    commit: str
    gone: bool = False
    locked: bool = False


class Git:
    """A repository."""

    def __init__(self, folder: str | Path, shell: Shell | None = None) -> None:
        self._shell = LocalShell() if shell is None else shell
        if isinstance(self._shell, BwrapShell):
            self._shell = self._shell.for_git()
        folder = Path(folder)
        if not folder.is_dir():
            raise UsageError(f"{str(folder)!r} is no folder")
        _check_version(self._shell.run("git version", folder, LIMIT).output)
        try:
            self.root = Path(self.run("rev-parse", "--show-toplevel", cwd=folder).strip())
        except GitError as error:
            hint = "; make one with git init" if "not a git repository" in str(error) else ""
            raise UsageError(
                f"{str(folder)!r} is in no git repository that git can use ({error}){hint}"
            ) from None

    def run(self, *arguments: str, cwd: Path | None = None, places: Sequence[Path] = ()) -> str:
        """What a git command prints."""
        command = f"{preamble(*map(str, places))}\n{shlex.join(('git', *arguments))} 2>&1"
        result = self._shell.run(command, cwd or self.root, LIMIT)
        if result.code != 0:
            said = result.output.strip() or f"exit code {result.code}"
            error = GitError(f"git {arguments[0]}: {said}")
            error.code = result.code
            raise error
        return result.output

    def succeeds(self, *arguments: str) -> bool:
        """Whether a git command ends without an error."""
        try:
            self.run(*arguments)
        except GitError:
            return False
        return True

    def commit_of(self, name: str) -> str:
        """The commit that a branch, a tag or a hash stands for."""
        try:
            return self.run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}").strip()
        except GitError:
            raise GitError(f"there is no commit {name!r} in this repository") from None

    def checkouts(self) -> list[Checkout]:
        """The main folder and all worktrees, as git knows them."""
        found = []
        for block in self.run("worktree", "list", "--porcelain").split("\n\n"):
            fields = dict(line.partition(" ")[::2] for line in block.splitlines())
            if "worktree" in fields:
                path = Path(fields["worktree"])
                branch = fields.get("branch", "").removeprefix("refs/heads/")
                gone = "prunable" in fields or not path.is_dir()
                locked = "locked" in fields
                found.append(Checkout(path, branch, fields.get("HEAD", ""), gone, locked))
        return found

    def changes(self, folder: Path, *, ignored: bool = False) -> list[str]:
        """What differs from the last commit, a line a file, as ``git status --short`` has it."""
        more = ("--ignored",) if ignored else ()
        # A submodule's own configuration is not looked at here, so git must not look into it. And
        # with status.showUntrackedFiles=no it would keep silent about new files.
        text = self.run(
            *("status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=dirty"),
            *more,
            cwd=folder,
        )
        return [line for line in text.splitlines() if line.strip()]

    def exclude(self, pattern: str) -> None:
        """Let this clone ignore a pattern, without a file that is committed. Twice is once."""
        place = self.run("rev-parse", "--git-path", "info/exclude").strip()
        path = self.root / place  # it is relative to the top, or absolute
        text = path.read_text("utf-8", "surrogateescape") if path.exists() else ""
        if pattern in text.splitlines():
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{'' if text.endswith(chr(10)) or not text else chr(10)}{pattern}\n")

    def tracked(self, path: str, folder: Path, besides: str = "") -> bool:
        """Whether git tracks a path or something below it, in upper or lower case."""
        paths = [f":(icase,literal){path}"]
        paths += [f":(exclude,literal){besides}"] if besides else []
        return bool(self.run("ls-files", "--", *paths, cwd=folder).strip())

    def unnamed_commits(self, folder: Path) -> list[str]:
        """The commits of a checkout that are in no branch, tag or stash: hash and subject each.

        They would be lost with the checkout: its detached HEAD, and references of its own, are all
        that leads to them.
        """
        try:
            self.run("rev-parse", "--verify", "--quiet", "HEAD", cwd=folder)
        except GitError as error:
            if error.code != 1:
                raise
            return []  # its branch has no commit yet
        named = ("--branches", "--tags", "--remotes", "--glob=refs/stash")
        own = ("--glob=refs/worktree/*", "--glob=refs/rewritten/*")
        text = self.run("log", "--format=%h %s", "HEAD", *own, "--not", *named, cwd=folder)
        return text.splitlines()


def _check_version(text: str) -> None:
    found = re.match(r"git version (\d+)\.(\d+)", text)
    if found is None:
        raise UsageError(f"git does not work here: {text.strip() or 'it said nothing'}")
    if (int(found[1]), int(found[2])) < OLDEST:
        needed = ".".join(map(str, OLDEST))
        raise UsageError(f"this is {text.strip()}; worktrees need git {needed} or newer")
