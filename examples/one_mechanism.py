"""One mechanism alone: a todo list on the bare loop.

Runs offline: a script stands in for the model. With a key, give ``model="…"`` in place of a client.
"""

import learnkit as lk

PLAN = [
    {"id": "1", "text": "write the function", "status": "completed"},
    {"id": "2", "text": "test it", "status": "in_progress"},
]

client = lk.scripted([lk.use("todo", items=PLAN), lk.say("One of two is done.")])
todo = lk.Todo()
outcome = lk.Agent(client, [todo]).run("Write a function and test it.")

print(outcome.text)
for item in todo.items:
    print(item)
