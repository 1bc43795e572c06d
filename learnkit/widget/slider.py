"""A slider over any list of values. The handle of ipywidgets' slider has no accessible name."""

from __future__ import annotations

from pathlib import Path

from learnkit.errors import lab_extra

with lab_extra():
    import anywidget
    import traitlets

_HERE = Path(__file__).parent


class Slider(anywidget.AnyWidget):
    """A slider whose value is one of the options, and changes when the reader lets go.

    Args:
        options: JSON-ready values, in order.
        value: the chosen option.
        description: the slider's name, shown before it and read aloud.

    Raises:
        traitlets.TraitError: for a value that isn't an option.
    """

    _esm = (_HERE / "slider.js").read_text("utf-8")
    _css = (_HERE / "slider.css").read_text("utf-8")
    options: traitlets.List[object] = traitlets.List().tag(sync=True)
    value = traitlets.Any().tag(sync=True)
    description = traitlets.Unicode().tag(sync=True)

    @traitlets.validate("value")
    def _one_of_the_options(self, proposal: dict[str, object]) -> object:
        value = proposal["value"]
        if value not in self.options:
            raise traitlets.TraitError(f"{value!r} is none of the slider's options")
        return value
