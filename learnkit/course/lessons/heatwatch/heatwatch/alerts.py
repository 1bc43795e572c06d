"""Deciding what is too hot, and saying so."""

from pathlib import Path

OUTBOX = Path("outbox")

LIMIT = 30  # degrees Celsius; above it, a mail is written
KEEP = 30  # days that a mail stays in the outbox
WIDTH = 30  # characters in a subject line


def too_hot(reading):
    """Whether a reading is above the limit."""
    return reading.celsius > LIMIT


def mail(to, text):
    """Write a mail to the outbox, and return its path."""
    OUTBOX.mkdir(exist_ok=True)
    number = len(list(OUTBOX.glob("*.txt"))) + 1
    path = OUTBOX / f"{number:03}.txt"
    path.write_text(f"To: {to}\nSubject: {text[:WIDTH]}\n\n{text}\n", encoding="utf-8")
    return path
