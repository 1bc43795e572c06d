"""Find the files of the course: the notebooks with their recordings, the skills, the glossary.

In a clone, and after an editable install of one, they are at the top of the repository. A wheel
has them inside the package, in the same arrangement. All code that reads a file of the course finds
it with this module, so a clone and a wheel behave alike.
"""

from __future__ import annotations

from pathlib import Path

from learnkit.errors import UsageError
from learnkit.runtime import atomic_write

_PACKAGE = Path(__file__).resolve().parents[1]
#: Where a wheel has the course; pyproject.toml puts it there.
_CARRIED = _PACKAGE / "course"
#: The running example: the project that every workspace is a copy of.
EXAMPLE = Path(__file__).resolve().parent / "lessons" / "heatwatch"
#: The metadata of a notebook of the course.
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def checkout() -> Path | None:
    """Return the clone that this package runs from; None if it was installed from a wheel."""
    top = _PACKAGE.parent
    # Site-packages may hold another project's folder "notebooks", but no pyproject.toml.
    return top if (top / "pyproject.toml").is_file() and _has_course(top) else None


def root() -> Path:
    """Return the folder that holds ``notebooks``, ``skills`` and ``docs/glossary.md``."""
    found = checkout()
    if found is None and _has_course(_CARRIED):
        found = _CARRIED
    if found is None:
        raise UsageError(
            f"learnkit in {_PACKAGE.parent} has no lessons: its notebooks are missing. "
            "Install it again, from a wheel or a clone"
        )
    return found


def notebooks() -> Path:
    """Return the folder of the lessons' notebooks."""
    return root() / "notebooks"


def lessons(folder: Path) -> list[Path]:
    """Return the lessons' notebooks in a folder, in order."""
    return sorted(folder.glob("s[0-9][0-9]_*.ipynb"))


def part_two(folder: Path) -> list[Path]:
    """Return the notebooks of part two in a folder of lessons, in order."""
    return sorted((folder / "beyond").glob("b[0-9]_*.ipynb"))


def named(folder: Path) -> dict[str, Path]:
    """Return all notebooks by their lessons' names, ``s01`` to ``s12`` and ``b1`` to ``b4``."""
    return {name(path): path for path in lessons(folder) + part_two(folder)}


def name(path: Path) -> str:
    """Return the name of a notebook's lesson, such as ``s03``."""
    return path.stem.partition("_")[0]


def notebook(lesson: str) -> Path:
    """Return the course's own notebook of a lesson, not a learner's copy."""
    return named(notebooks())[lesson]


def recordings() -> Path:
    """Return the folder of the lessons' recordings."""
    return notebooks() / "recordings"


def skills() -> Path:
    """Return the folder of the skills that ship with the course."""
    return root() / "skills"


def originals() -> Path:
    """Return the folder of a clone's notebooks, which may be changed."""
    if checkout() is None:
        raise UsageError(
            f"the lessons in {notebooks()} belong to the installed package and are not changed. "
            "Clone the repository, and install it with: pip install -e '.[lab]'"
        )
    return notebooks()


def is_installed(folder: Path) -> bool:
    """Return whether a folder is inside the package, or beside it where packages are installed."""
    place = _PACKAGE if checkout() else _PACKAGE.parent
    return folder.resolve().is_relative_to(place)


def put(path: Path, text: str) -> bool:
    """Write a file if its text is new: JupyterLab asks the user about each file that changes."""
    if path.exists() and path.read_text("utf-8") == text:
        return False
    atomic_write.replace(path, text)
    return True


def _has_course(folder: Path) -> bool:
    return (folder / "notebooks" / "recordings").is_dir() and (folder / "skills").is_dir()
