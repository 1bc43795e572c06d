"""A mechanism of your own: hooks around the loop, and the loop does not change.

This one refuses tools after a number of calls, and says so once behind the results.
"""

import learnkit as lk


class Budget(lk.Mechanism):
    """Lets so many calls through."""

    def __init__(self, calls):
        self.left = calls

    def refuse(self, agent, call):
        self.left -= 1
        return "the budget is spent" if self.left < 0 else None

    def after_tools(self, agent, calls):
        return "That was the last call." if self.left == 0 else None


look = lk.use("bash", command="echo looking")
client = lk.scripted([look, look, look, lk.say("I stop here.")])
agent = lk.Agent(client, [lk.CodingTools("workspace"), Budget(calls=2)])
outcome = agent.run("Look around.")

for event in agent.events:
    if event.type == "tool.ended":
        print(event.data["how"], "|", event.data["output"].strip())
print(outcome.text)
