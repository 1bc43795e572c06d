"""Which commands a command line runs: split as bash would, or not at all.

A rule about commands has to know every command that a line runs. So this reads the part of bash
whose commands are known beforehand: words, quotes, ``;`` ``&`` ``|`` and line ends. Where bash
would decide only when it runs, such as for ``$(…)``, or would write a file, it gives up.
"""

from __future__ import annotations

import re

#: A word of a command; None where bash makes it only when it runs, as with ``$name`` or ``*``.
Word = str | None

_TOO_LONG = 20_000
#: Where a command may begin, these begin something else.
_RESERVED = (
    *("if", "then", "else", "elif", "fi", "for", "while", "until", "select", "in", "do", "done"),
    *("case", "esac", "function", "time", "coproc", "{", "}", "!", "[[", "]]"),
)
#: Builtins that run the command in ``a[$(…)]`` even if it is in single quotes.
_EVALUATING = (
    *("printf", "test", "read", "unset", "let", "declare", "typeset", "local", "export"),
    *("readonly", "mapfile", "readarray", "getopts", "wait", "compgen"),
)
#: The only redirections that write to no file.
_HARMLESS = re.compile(
    r"(?:(?:&|[0-9]*)>>?[ \t]*/dev/null|[0-9]*>&[0-9])(?=[ \t\n;&|]|\Z)",
)
#: Bash makes another word, or several, of a word with one of these.
_EXPANDED = "*?[~{"
#: In double quotes, a backslash stands for itself before anything else.
_ESCAPED = ("$", "`", '"', "\\", "\n")


def commands_of(line: str) -> list[list[Word]] | None:
    """Return the words of each command that a line may run; None if that can't be known.

    Args:
        line: for ``bash -c``.
    """
    if len(line) > _TOO_LONG:
        return None
    try:
        return _Reader(line).commands()
    except ValueError:
        return None


class _Reader:
    def __init__(self, line: str) -> None:
        self._line, self._at = line, 0
        self._commands: list[list[Word]] = [[]]
        self._word: list[str] | None = None  # None between two words
        self._literal = True

    def commands(self) -> list[list[Word]]:
        line = self._line
        while self._at < len(line):
            char = line[self._at]
            # A digit in a word belongs to the word, and not to the redirection after it.
            if (self._word is None or char in "&>") and (found := _HARMLESS.match(line, self._at)):
                self._end_word()
                self._at = found.end()
                continue
            self._at += 1
            if char in " \t":
                self._end_word()
            elif char in ";&|\n":
                self._end_word()
                self._commands.append([])
            elif char == "#" and self._word is None:
                end = line.find("\n", self._at)
                self._at = len(line) if end < 0 else end
            elif char == "\\":
                self._escaped()
            elif char == "'":
                end = line.index("'", self._at)  # a ValueError where there is none
                self._add(line[self._at : end])
                self._at = end + 1
            elif char == '"':
                self._quoted()
            elif char in "<>()`" or (char < " " or char == "\x7f"):
                raise ValueError("bash does more here than to run a command")
            elif char == "$":
                self._variable()
            else:
                self._literal = self._literal and char not in _EXPANDED
                self._add(char)
        self._end_word()
        commands = [words for words in self._commands if words]
        if any(words[0] is None or words[0] in _RESERVED for words in commands):
            raise ValueError("a command has no name that is known")
        return commands

    def _add(self, text: str) -> None:
        if "\0" in text:
            raise ValueError("bash leaves it out")
        self._word = self._word or []
        self._word.append(text)

    def _end_word(self) -> None:
        if self._word is not None:
            command, text = self._commands[-1], "".join(self._word)
            evaluated = command and command[0] in _EVALUATING
            if evaluated and any(sign in text for sign in ("[", "$(", "`")):
                raise ValueError("this command evaluates its arguments")
            command.append(text if self._literal else None)
        self._word, self._literal = None, True

    def _escaped(self) -> None:
        char = self._line[self._at : self._at + 1]
        if not char:
            raise ValueError("it ends in a backslash")
        self._at += 1
        if char != "\n":  # which continues the line
            self._add(char)

    def _quoted(self) -> None:
        self._add("")  # an empty text is a word as well
        while (char := self._line[self._at : self._at + 1]) != '"':
            self._at += 1
            if char in ("", "`"):
                raise ValueError("the quotation has no end, or a command in it")
            if char == "$":
                self._variable()
            elif char == "\\" and self._line[self._at : self._at + 1] in _ESCAPED:
                self._escaped()
            else:
                self._add(char)
        self._at += 1

    def _variable(self) -> None:
        """What follows a ``$``: a name is a word that isn't known, and anything else too much."""
        if self._line[self._at : self._at + 1] in ("(", "{", "[", "'", '"', ""):
            raise ValueError("bash evaluates it")
        self._literal = False
        self._add("$")
