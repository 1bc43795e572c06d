"""The stand-in: a model that reads the request in hand by rules, and is not an LLM.

``model`` makes the reply. ``conversation`` finds in the request what was asked, done and received;
``clauses`` splits a prompt; ``rules`` says what each kind of clause means; ``hands`` carries it out
with the tools on offer; ``matching`` chooses a skill, and ``summary`` is its rule for a summary.
"""
