"""Run by each kernel that ``learnkit lab`` starts, before the first cell (``PYTHONSTARTUP``).

So a learner who begins in the middle of a lesson is told which cell to run first, although the
set-up cell has not run either.
"""

from learnkit.explain import explain_errors
from learnkit.notebook import is_live

if is_live():
    explain_errors()
del explain_errors, is_live
