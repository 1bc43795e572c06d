"""Sessions: what an agent did, read from the file that it keeps, as a log that every view draws.

``read.py`` opens a file and lists those on this machine; each format has a reader beside it.
Everything is local and read only.
"""
