"""What is put around a command: time that is counted, or a watch over its agent.

On a virtual clock ``sleep`` counts instead of sleeping, so that minutes take no time. On the wall
clock something has to notice when the agent's process is killed, since then nothing waits for the
limit any more.
"""

from __future__ import annotations

import shlex

_MARK = "\x1eslept "

# Durations as in coreutils: numbers with a fraction, a unit, several of them are added up. At the
# limit the job is ended, so that a loop which waits for something comes to an end too.
_SLEEP = r"""#!/usr/bin/env bash
[ $# -gt 0 ] || { echo 'sleep: missing operand' >&2; exit 1; }
sum=0
for one; do
  if [[ $one == infinity || $one == inf ]]; then one=$((LEARNKIT_LIMIT / 1000 + 1)); fi
  if ! [[ $one =~ ^\.?[0-9] && $one =~ ^([0-9]*)(\.([0-9]*))?([smhd]?)$ ]]; then
    echo "sleep: invalid time interval '$one'" >&2
    exit 1
  fi
  case ${BASH_REMATCH[4]} in m) unit=60 ;; h) unit=3600 ;; d) unit=86400 ;; *) unit=1 ;; esac
  fraction=${BASH_REMATCH[3]}000
  sum=$((sum + (10#0${BASH_REMATCH[1]} * 1000 + 10#${fraction:0:3}) * unit))
done
total=$(($(< "$LEARNKIT_SLEPT/ms") + sum))
echo "$total" > "$LEARNKIT_SLEPT/ms"
if [ "$total" -ge "$LEARNKIT_LIMIT" ]; then
  kill -KILL "$LEARNKIT_JOB"
  exec tail -f /dev/null
fi
"""


def counted(command: str, limit: float) -> str:
    """The command with a ``sleep`` on its PATH that only counts; :func:`slept` reads the sum.

    Several at the same time are added up as if they came one after the other. A ``sleep`` called
    by its full path is a real one.
    """
    inner = shlex.quote(f"export LEARNKIT_JOB=$$\n{command}")
    return "\n".join(
        [
            "export LEARNKIT_SLEPT=$(mktemp -d)",
            f"export LEARNKIT_LIMIT={round(limit * 1000)}",
            f'printf %s {shlex.quote(_SLEEP)} > "$LEARNKIT_SLEPT/sleep"',
            'chmod +x "$LEARNKIT_SLEPT/sleep"; echo 0 > "$LEARNKIT_SLEPT/ms"',
            "exec 3>&2 2> /dev/null",  # bash itself would report that the command was killed
            f'PATH="$LEARNKIT_SLEPT:$PATH" bash -c {inner} 2>&3 3>&-',
            "code=$?",
            f'printf \'{_MARK}%s\' "$(< "$LEARNKIT_SLEPT/ms")"',
            'rm -r "$LEARNKIT_SLEPT"; exit "$code"',
        ]
    )


def slept(output: str) -> tuple[str, float]:
    """What a counted command printed, and the seconds that it slept; 0 if it was cut short."""
    text, mark, sum = output.rpartition(_MARK)
    if not mark or not sum.isdecimal():
        return output, 0.0
    return text, int(sum) / 1000


# Bash goes back to the end of each line that it reads of a file, and for a read from another place
# the kernel writes these files anew. A process that has fallen asleep meanwhile has a status of
# another length, and the line with its parent is missed: so everything is read in one go. The name,
# in parentheses, may hold anything; what follows is the state, the parent, and more: proc(5).
HAS_PARENT = """
has_parent() {
  [ -d /proc/self ] || { kill -0 "$PPID" 2> /dev/null; return; }
  local stat
  read -r -d '' stat < /proc/$$/stat
  set -- ${stat##*)}
  [ "$2" = "$PPID" ]
}
""".strip()


def watched(command: str) -> str:
    """The command with a watch beside it: when the process that started it is gone, all ends.

    It looks once a second, at whose child the command is. (That a process of its parent's number
    exists would say nothing: it may be a zombie, or another one by now.) SIGTERM comes first, so
    that git removes its locks. What has left the process group gets away.
    """
    end = "trap '' TERM; kill -TERM 0; sleep 2; kill -KILL 0"
    watch = f"{HAS_PARENT}; while has_parent; do sleep 1; done; {end}"
    return f"({watch}) < /dev/null > /dev/null 2>&1 &\nexec bash -c {shlex.quote(command)}"
