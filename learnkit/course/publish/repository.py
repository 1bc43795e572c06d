"""The address of the project's repository, and the links that are made from it.

The address is stated once, as ``Repository`` in ``pyproject.toml``. Binder's badge, the lessons'
links to Binder and the links to the project's pages on GitHub are rendered from it, so a fork
changes one line and refreshes the rest. Binder opens the working copy that ``binder/postBuild``
makes, which has no outputs.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from learnkit.course import files as course_files
from learnkit.course.progress import COPY
from learnkit.errors import UsageError

#: The form of an address; Binder needs the owner and the name.
_ADDRESS = re.compile(r"https://github\.com/([\w.-]+/[\w.-]+)")
#: Links to this project, whatever repository they name now: Binder's, and GitHub's pages about a
#: repository as a whole. A link to one issue or file belongs to another project.
_OURS = re.compile(
    r"(?P<binder>https://mybinder\.org/v2/gh/)[\w.-]+/[\w.-]+/HEAD\?labpath=[\w-]+(?=/)"
    r"|(?P<github>https://github\.com/)[\w.-]+/[\w.-]+"
    r"(?=/(?:actions/workflows|compare|discussions|issues/new|releases|security/advisories)\b)"
    r"|(?P<field>^repository-code: \"https://github\.com/)[\w.-]+/[\w.-]+(?=\"$)",
    re.MULTILINE,
)
#: The files that may have such links.
_RENDERED = (
    *("*.md", "docs/*.md", "CITATION.cff", "notebooks/*.ipynb"),
    *(".github/*.md", ".github/ISSUE_TEMPLATE/*.yml"),
)


def address(checkout: Path | None = None) -> str:
    """Return the repository's address, from ``pyproject.toml`` or the installed metadata."""
    if found := checkout or course_files.checkout():
        declared = found / "pyproject.toml"
        urls = tomllib.loads(declared.read_text("utf-8"))["project"]["urls"]
        return _checked(urls.get("Repository", ""), declared.name)
    listed = metadata.metadata("learnkit").get_all("Project-URL") or []
    pairs = (line.partition(", ") for line in listed)
    urls = {label: url for label, _, url in pairs}
    return _checked(urls.get("Repository", ""), "the package's metadata")


def rendered(text: str, repository: str) -> str:
    """Return a text in which every link to this project's pages has the given address."""
    name = repository.removeprefix("https://github.com/")

    def ours(match: re.Match[str]) -> str:
        if match["binder"]:
            return f"{match['binder']}{name}/HEAD?labpath={COPY}"
        return f"{match['github'] or match['field']}{name}"

    return _OURS.sub(ours, text)


def refresh(checkout: Path | None = None) -> Iterator[str]:
    """Write the address into every file of a checkout that has links to the project."""
    checkout = checkout or course_files.originals().parent
    repository = address(checkout)
    for path in holders(checkout):
        if course_files.put(path, rendered(path.read_text("utf-8"), repository)):
            yield path.relative_to(checkout).as_posix()


def holders(checkout: Path | None = None) -> list[Path]:
    """Return the files of a checkout that may have links to the project, in order."""
    folder = checkout or course_files.originals().parent
    return sorted({path for pattern in _RENDERED for path in folder.glob(pattern)})


def _checked(found: str, where: str) -> str:
    if not _ADDRESS.fullmatch(found):
        raise UsageError(
            f"{where}: the URL called Repository is {found!r}; "
            "it must be https://github.com/OWNER/NAME, because Binder's links are made from it"
        )
    return found
