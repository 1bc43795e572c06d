"""A view of your own: a fold over the event log, with a picture that says what it shows."""

from collections import Counter

import learnkit as lk
from learnkit.views.drawing.base import Diagram
from learnkit.views.drawing.display import Canvas


class Calls(Diagram):
    """How often each tool was called."""

    name = "calls"
    start = ()  # each name, as often as it was called

    def fold(self, state, event):
        if event.type != "tool.started":
            return state
        return (*state, event.data["name"])

    def says(self, state):
        counts = [f"{name} {number}×" for name, number in Counter(state).items()]
        return [", ".join(counts) or "No call yet."]

    def draw(self, state, width, rows):
        canvas = Canvas(width)
        for row, (name, number) in enumerate(Counter(state).items()):
            canvas.text(f"name {name}", 16, 24 + 24 * row, name, "m", width=120)
            canvas.bar(name, 140, 12 + 24 * row, 40 * number, 14, "call", says=f"{name} {number}×")
        return canvas


look, write = lk.use("bash", command="true"), lk.use("write_file", path="a.txt", content="a\n")
client = lk.scripted([lk.reply(look, look, write), lk.say("done")])
agent = lk.Agent(client, [lk.CodingTools("workspace")])
agent.run("Look, and write.")

view = Calls(agent.events)
print(view)  # in a notebook the view itself is the picture, and view.live() grows
print(len(view.html()) > 500)
