"""What every notebook of the course must satisfy.

``rules`` holds functions that take a notebook and return findings, ``runs`` those that need a
kernel, ``broken`` a way to break each of them, which proves that they bite.
"""
