"""A view of your own: a fold over the event log, with a picture and the same facts as a table."""

import learnkit as lk
from learnkit.views import View
from learnkit.views.drawing import static
from learnkit.views.drawing.static import Picture
from learnkit.views.drawing.text import esc


class Calls(View):
    """How often each tool was called."""

    name = "calls"

    def init(self):
        return {}

    def step(self, state, event):
        if event.type != "tool.started":
            return state
        name = event.data["name"]
        return {**state, name: state.get(name, 0) + 1}

    def frame(self, state):
        return {name: f"<p>{esc(name)}: {number}</p>" for name, number in state.items()}

    def head(self, state):
        return ", ".join(f"{name} {number}×" for name, number in state.items()) or "No call yet."

    def picture(self, state, rows):
        picture = Picture(f"Calls: {self.head(state)}", height=20 + 24 * len(state))
        for row, (name, number) in enumerate(state.items()):
            picture.text(16, 24 + 24 * row, name, "m", 120)
            picture.bar(140, 12 + 24 * row, 40 * number, 14, "call")
        return picture

    def facts(self, state, rows):
        return static.table(["tool", "calls"], state.items())


look, write = lk.use("bash", command="true"), lk.use("write_file", path="a.txt", content="a\n")
client = lk.scripted([lk.reply(look, look, write), lk.say("done")])
agent = lk.Agent(client, [lk.CodingTools("workspace")])
agent.run("Look, and write.")

view = Calls(agent.events)
print(view)  # in a notebook the view itself is the picture, and view.live() grows
print(len(view.html()) > 500)
