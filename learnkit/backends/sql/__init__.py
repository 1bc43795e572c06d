"""A team's state in a database: PostgreSQL for several machines, SQLite for one.

Both keep the promises of ``interface`` with the same statements. A reader selects the messages that
are not done, and never those after the last one it has seen: transactions become visible in another
order than they got their numbers in. What a call changes, it changes in one transaction, and each
transaction notes the call's key: after a broken connection a call can find out whether it has
happened, so nothing is lost or done twice.

It needs an extra, ``learnkit[sql]`` or ``learnkit[postgres]``.
"""
