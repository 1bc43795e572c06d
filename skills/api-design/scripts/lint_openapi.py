"""Check an OpenAPI 3 description (JSON) against the rules of this skill.

    python lint_openapi.py [--json] [--ignore RULE[,RULE]] FILE

Prints one line a finding: severity, rule, place, what is wrong and what would be right. Exits 1 if
an error was found, 2 if the file is no OpenAPI JSON. Standard library only; for YAML convert first:
python -c "import json,sys,yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)" <api.yaml
"""

from __future__ import annotations

import argparse
import json
import re
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
VERBS = re.compile(
    r"^(get|list|fetch|create|add|make|update|modify|delete|remove|do|find)(?=[A-Z_-]|$)"
)
#: First segments that stand for the API or its version, not for a collection.
PREFIXES = re.compile(r"^(api|v\d+)$")
PAGING = {
    "limit",
    "page_size",
    "pagesize",
    "per_page",
    "perpage",
    "cursor",
    "page_token",
    "pagetoken",
}
PAGING |= {"page", "offset", "after", "starting_after"}


@dataclass(frozen=True)
class Finding:
    """One thing that a rule objects to."""

    severity: str
    rule: str
    place: str
    text: str


class Linter:
    """The rules, on one document.

    Args:
        document: the parsed OpenAPI description.
    """

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.error_schemas: dict[str, list[str]] = {}

    def run(self) -> list[Finding]:
        """All findings, errors first."""
        found = [*self.versions(), *self.properties()]
        for path, item in self.document["paths"].items():
            item = self.resolved(item)
            found += self.path(path)
            for method in METHODS:
                if isinstance(item.get(method), dict):
                    found += self.operation(path, method, item[method], item)
        found += [*self.operation_ids(), *self.envelope()]
        return sorted(found, key=lambda one: (one.severity != "error", one.rule, one.place))

    def resolved(self, node: Any) -> dict[str, Any]:
        """The object that a reference in this document leads to."""
        for _ in range(20):
            reference = node.get("$ref") if isinstance(node, dict) else None
            if not isinstance(reference, str) or not reference.startswith("#/"):
                break
            node = self.document
            for part in reference[2:].split("/"):
                key = part.replace("~1", "/").replace("~0", "~")
                node = node.get(key) if isinstance(node, dict) else None
        return node if isinstance(node, dict) else {}

    def versions(self) -> Iterator[Finding]:
        """One version for people, one for the wire."""
        version = str(self.document.get("info", {}).get("version", ""))
        if not re.fullmatch(r"\d+\.\d+\.\d+([-+].*)?|\d{4}-\d\d-\d\d", version):
            text = f"{version!r} is no version; write 1.4.0 or a date such as 2026-01-31"
            yield Finding("warning", "info-version", "info.version", text)
        servers = [
            str(self.resolved(one).get("url", "")) for one in self.document.get("servers", [])
        ]
        marked = [
            one for one in [*servers, *self.document["paths"]] if re.search(r"/v\d+(/|$)", one)
        ]
        if not marked and not self._has_version_header():
            text = "no major version in the server's URL, in the paths or in a header; add /v1"
            yield Finding("error", "wire-version", "servers", text)

    def _has_version_header(self) -> bool:
        names = (name for _, name, place in self.parameters() if place == "header")
        return any("version" in name.lower() for name in names)

    def parameters(self) -> Iterator[tuple[str, str, str]]:
        """Where, name and kind of every parameter."""
        for path, item in self.document["paths"].items():
            item = self.resolved(item)
            operations = [item, *(item[m] for m in METHODS if isinstance(item.get(m), dict))]
            for operation in operations:
                for one in map(self.resolved, operation.get("parameters", [])):
                    yield path, str(one.get("name", "")), str(one.get("in", ""))

    def path(self, path: str) -> Iterator[Finding]:
        """Paths name things: plural, lower case, hyphens, no verbs."""
        if path != "/" and path.endswith("/"):
            yield Finding("error", "trailing-slash", path, f"write {path.rstrip('/')}")
        segments = [one for one in path.split("/") if one]
        for place, segment in enumerate(segments):
            if "{" in segment or PREFIXES.match(segment):
                continue
            name = segment.partition(":")[0]  # /orders/{id}:cancel is a known form for actions
            if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
                text = f"{segment!r} must be lower case, with hyphens between words"
                yield Finding("error", "path-case", path, text)
            if VERBS.match(segment):
                text = f"{segment!r} is a verb; the method says what is done, the path to what"
                yield Finding("error", "path-verb", path, text)
            followed = segments[place + 1 : place + 2]
            if followed and followed[0].startswith("{") and not name.endswith("s"):
                text = f"{segment!r} is a collection ({followed[0]} follows); use the plural"
                yield Finding("warning", "path-plural", path, text)

    def operation(
        self, path: str, method: str, operation: dict[str, Any], item: dict[str, Any]
    ) -> Iterator[Finding]:
        """What one method of one path must say."""
        place = f"{method.upper()} {path}"
        given = [*item.get("parameters", []), *operation.get("parameters", [])]
        known = {(one.get("in"), one.get("name")) for one in map(self.resolved, given)}
        for name in re.findall(r"\{([^}]+)\}", path):
            if ("path", name) not in known:
                text = f"{{{name}}} is in the path and not among the parameters"
                yield Finding("error", "path-parameter", place, text)
        if "operationId" not in operation:
            text = "no operationId; generated clients name their methods by it"
            yield Finding("error", "operation-id", place, text)
        if method in ("get", "delete", "head") and "requestBody" in operation:
            yield Finding("error", "request-body", place, f"{method.upper()} takes no body")
        yield from self.responses(place, method, operation.get("responses", {}))
        yield from self.listing(place, method, operation, {str(name).lower() for _, name in known})

    def responses(self, place: str, method: str, responses: dict[str, Any]) -> Iterator[Finding]:
        """Status codes: what success means, and that failure has a form."""
        codes = {str(code) for code in responses}
        if not any(re.match(r"[23]", code) for code in codes):
            yield Finding("error", "no-success", place, "no 2xx or 3xx response is described")
        if not codes & {"default", "4XX"} and not any(code.startswith("4") for code in codes):
            text = "no 4xx or default response; say how it fails"
            yield Finding("error", "no-failure", place, text)
        if (
            method == "delete"
            and "200" in codes
            and "content" not in self.resolved(responses["200"])
        ):
            text = "an answer without content is 204, not 200"
            yield Finding("warning", "status-code", place, text)
        for code, response in responses.items():
            if not re.match(r"[45]|default", str(code)):
                continue
            content = self.resolved(response).get("content", {})
            for kind, media in content.items():
                schema = media.get("schema", {})
                name = schema.get("$ref") or json.dumps(schema, sort_keys=True)
                self.error_schemas.setdefault(f"{kind} {name}", []).append(f"{place} {code}")
            if not content:
                text = f"{code} has no content; errors need the common form as well"
                yield Finding("warning", "error-content", place, text)

    def listing(
        self, place: str, method: str, operation: dict[str, Any], names: set[str]
    ) -> Iterator[Finding]:
        """Lists come in an object, and in pages."""
        success = self.resolved(operation.get("responses", {}).get("200", {}))
        for media in success.get("content", {}).values():
            schema = self.resolved(media.get("schema", {}))
            arrays = [
                key
                for key, value in schema.get("properties", {}).items()
                if key in ("items", "data", "results")
                and self.resolved(value).get("type") == "array"
            ]
            if schema.get("type") == "array":
                text = 'a bare array cannot grow; return an object such as {"items": […]}'
                yield Finding("error", "bare-array", place, text)
            if method == "get" and (arrays or schema.get("type") == "array") and not names & PAGING:
                text = "a list without pages; add limit and cursor"
                yield Finding("warning", "paging", place, text)

    def operation_ids(self) -> Iterator[Finding]:
        """Operation ids are unique."""
        items = map(self.resolved, self.document["paths"].values())
        operations = (item[m] for item in items for m in METHODS if isinstance(item.get(m), dict))
        counts = Counter(str(one["operationId"]) for one in operations if "operationId" in one)
        for name, count in counts.items():
            if count > 1:
                yield Finding("error", "operation-id", name, f"{count} operations have this id")

    def envelope(self) -> Iterator[Finding]:
        """Every error has one form."""
        if len(self.error_schemas) < 2:
            return
        common = max(self.error_schemas, key=lambda name: len(self.error_schemas[name]))
        for name, places in self.error_schemas.items():
            if name != common:
                text = f"its form is {name}; most use {common}"
                yield Finding("error", "error-envelope", places[0], text)

    def properties(self) -> Iterator[Finding]:
        """Property names in one style, chosen by the majority."""
        found = list(_properties(self.document, "#"))
        styles = Counter(style for _, name in found if (style := _style(name)))
        if len(styles) < 2:
            return
        common = styles.most_common(1)[0][0]
        for place, name in found:
            if _style(name) not in ("", common):
                text = f"{name!r} is {_style(name)}; most properties are {common}"
                yield Finding("error", "property-case", place, text)


def _style(name: str) -> str:
    """How a name joins its words; empty for one word, which fits everywhere."""
    if re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)+", name):
        return "snake_case"
    if re.fullmatch(r"[a-z]+[a-z0-9]*([A-Z][a-z0-9]*)+", name):
        return "camelCase"
    return "" if re.fullmatch(r"[a-z0-9]+", name) else "another style"


def _properties(node: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, dict):
        schema = node.get("properties")
        if isinstance(schema, dict) and not place.endswith(("/example", "/examples")):
            yield from ((f"{place}/properties/{name}", name) for name in schema)
        for key, value in node.items():
            yield from _properties(value, f"{place}/{key}")
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from _properties(value, f"{place}/{index}")


def main() -> int:
    """Check the file of the command line."""
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("file", type=Path)
    parser.add_argument("--json", action="store_true", help="findings as a JSON list")
    parser.add_argument("--ignore", default="", help="rules to leave out, with commas between")
    arguments = parser.parse_args()
    try:
        document = json.loads(arguments.file.read_text("utf-8"))
        if not isinstance(document, dict) or not isinstance(document.get("paths"), dict):
            raise ValueError("no object with 'paths'; is this OpenAPI 3?")
    except (OSError, ValueError) as error:
        print(f"cannot check {arguments.file}: {error}", file=sys.stderr)
        return 2
    ignored = set(arguments.ignore.split(","))
    findings = [one for one in Linter(document).run() if one.rule not in ignored]
    if arguments.json:
        print(json.dumps([asdict(one) for one in findings], indent=2, ensure_ascii=False))
    else:
        for one in findings:
            print(f"{one.severity:7}  {one.rule:15}  {one.place}: {one.text}")
        errors = sum(one.severity == "error" for one in findings)
        print(f"{errors} errors, {len(findings) - errors} warnings")
    return 1 if any(one.severity == "error" for one in findings) else 0


if __name__ == "__main__":
    if hasattr(signal, "SIGPIPE"):  # with `| head`, end quietly as other commands do
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main())
