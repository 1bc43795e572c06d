"""Typed answers: a run whose last text has to be JSON of a type.

The type's schema goes with each request, as the API's structured output, so that a server which
knows it lets the model write nothing else. Not every server does, and a schema is not all that a
type can demand: the answer is checked in any case, and the model reads what is wrong with it.
"""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any

from learnkit.errors import UsageError

#: Answers of a run that are checked; after the last one the run ends without an output.
TRIES = 3


class Typed:
    """What a run's answer has to be."""

    def __init__(self, type: Any) -> None:
        self._type, self._tried = type, 0
        self.output: Any = None
        try:
            self.schema: dict[str, Any] = self._adapter.json_schema()
        except Exception as error:
            raise UsageError(f"output={type!r} is no type that JSON can hold: {error}") from None

    @cached_property
    def _adapter(self) -> Any:
        import pydantic

        return pydantic.TypeAdapter(self._type)

    def ask(self, body: dict[str, Any]) -> None:
        """Put the schema into a request, in place."""
        form = {"type": "json_schema", "schema": self.schema}
        body["output_config"] = {**body.get("output_config", {}), "format": form}

    def problem(self, text: str) -> str | None:
        """Read an answer; returns what the model should do about it, if it is not one."""
        begin, end = text.find("{"), text.rfind("}")
        bare = text[begin : end + 1] if text.strip().startswith("```") and begin >= 0 else text
        try:
            self.output = self._adapter.validate_json(bare)
        except ValueError as error:
            self._tried += 1
            if self._tried >= TRIES:
                return None
            schema = json.dumps(self.schema, ensure_ascii=False)
            return (
                f"That is not what was asked for: {error}\n"
                f"Answer with JSON of this schema, and nothing else: {schema}"
            )
        return None
