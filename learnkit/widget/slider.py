"""A slider over any list of values. That of ipywidgets has a handle without an accessible name."""

from __future__ import annotations

from pathlib import Path

from learnkit.errors import lab_extra

with lab_extra():
    import anywidget
    import traitlets

_HERE = Path(__file__).parent


class Slider(anywidget.AnyWidget):
    """A slider; its value is one of the options, and is set when the reader lets go.

    Args:
        options: JSON-ready values, in order.
        value: the one that is chosen.
        description: the slider's name, shown before it and read aloud.

    Raises:
        traitlets.TraitError: for a value that is no option.
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
