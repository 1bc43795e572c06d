"""Take hold of a run at a step, let it go on in another way, and share both as one page."""

from tempfile import TemporaryDirectory

import learnkit as lk


def work(script):
    """One run, in a fresh workspace: what a fork gives again has to find it as it was."""
    client = lk.scripted(script)
    with client.clock, TemporaryDirectory() as workspace:
        agent = lk.Agent(client, [lk.CodingTools(workspace)])
        agent.run("Write hello.py, and try it.")
    return agent


write = lk.use("write_file", path="hello.py", content="print('Hello')\n")
first = work([write, lk.say("It will surely work.")])

written = next(event.seq for event in first.events if event.type == "tool.ended")
point = lk.fork(first, written + 1)
print(point)

other = work(point.then([lk.use("bash", command="python3 hello.py"), lk.say("It greets.")]))
print(other.messages[-2]["content"][0]["content"])

compared = lk.views.Branches.of(first, other)
print(compared)
print(lk.share([compared, lk.views.Messages(other.events)], "run.html", title="A fork"))
