"""The replies of a model that does two of the four things that it was asked for."""

from __future__ import annotations

import learnkit as lk

_CODE = "\n\ndef coldest():\n    return min(names(), key=lambda name: latest(name).celsius)\n"

TWO_OF_FOUR = (
    lk.use("bash", command=f"cat >> heatwatch/parse.py <<'END'{_CODE}END"),
    lk.use("bash", command="echo 'parse.coldest() names the coldest station.' >> README.md"),
    lk.say("Done: coldest() is in parse.py, and the README describes it."),
)
