"""Run by each kernel that ``learnkit lab`` starts, before the first cell (``PYTHONSTARTUP``).

A learner who begins in the middle of a lesson then reads which cell to run first, although the
set-up cell has not run either. Any other Python in a terminal of that JupyterLab runs this too.
"""

try:
    from learnkit.course.jupyter.errors import explain_errors
    from learnkit.runtime.notebook import is_live
except ImportError:  # a Python that does not have learnkit
    pass
else:
    if is_live():
        explain_errors()
    del explain_errors, is_live
