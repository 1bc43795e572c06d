"""``python -m learnkit``: the same commands, where the script is not on the path."""

from learnkit.terminal.cli import main

if __name__ == "__main__":
    main()
