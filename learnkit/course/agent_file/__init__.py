"""``agent.py``: the harness that a learner builds, one lesson's part after the other."""
