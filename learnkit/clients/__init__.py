"""Where replies come from: the API, a recording, a script, or the learner.

Every mode is a real ``anthropic.Anthropic`` over a transport of ours, so the SDK's types,
retries, streaming and errors are the real ones. See ``modes.connect`` and ``modes.scripted``.
"""
