"""Which lines of the package make a tool's schema: what lesson 2 shows beside its own."""

from __future__ import annotations

from learnkit.core.tool_schema import Arguments

__all__ = ["IN_ARGUMENTS", "Arguments"]

#: The lines of ``Arguments`` that do what the lesson's ``schema_of`` does, by a part of each.
IN_ARGUMENTS = (
    *("class Arguments", "def __init__", "signature = _signature(", "def schema"),
    *("model_json_schema(", "return _normal(", "def _model", "hints = "),
    *("for number, (name, parameter)", '["default"] = parameter.default', "field = (hints[name]"),
    *('extra="forbid"', "return pydantic.create_model("),
)
