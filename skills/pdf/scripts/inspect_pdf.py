"""Look into a PDF before working on it: pages, title, encryption, forms, text or scan.

    python inspect_pdf.py [--json] FILE [FILE ...]

Standard library only. It reads the structure, not the contents: no text is extracted, nothing is
written. What it cannot know (an encrypted file, a damaged one) is said, not guessed. Exits 1 if a
file is no PDF or cannot be read.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import signal
import sys
import zlib
from pathlib import Path
from typing import Any

#: Bytes that a compressed part may unpack to; a small file can claim to hold gigabytes.
UNPACKED = 64_000_000
OBJECT = re.compile(rb"(?<![\w.])(\d{1,10})[ \t\r\n]+(\d{1,5})[ \t\r\n]+obj\b")
REFERENCE = rb"/%s[ \t\r\n]*(\d+)[ \t\r\n]+\d+[ \t\r\n]+R\b"
#: What 0x80 to 0x9e and 0xa0 mean in PDF text, where Latin-1 has control characters.
SPECIAL = (
    "\u2022\u2020\u2021\u2026\u2014\u2013\u0192\u2044\u2039\u203a\u2212\u2030\u201e\u201c\u201d"
    "\u2018\u2019\u201a\u2122\ufb01\ufb02\u0141\u0152\u0160\u0178\u017d\u0131\u0142\u0153\u0161\u017e"
)
DOC_ENCODING = {0x80 + place: sign for place, sign in enumerate(SPECIAL)} | {0xA0: "\u20ac"}
FIELDS = (
    "Title",
    "Author",
    "Subject",
    "Keywords",
    "Creator",
    "Producer",
    "CreationDate",
    "ModDate",
)


class NotAPdf(Exception):
    """The file is no PDF; the text says why."""


class Pdf:
    """The objects of a PDF, by number.

    Args:
        data: the whole file.
    """

    def __init__(self, data: bytes) -> None:
        header = re.search(rb"%PDF-(\d\.\d)", data[:1024])
        if header is None:
            raise NotAPdf("does not begin with %PDF-; look at it with: file")
        self.version = header[1].decode()
        self.complete = b"%%EOF" in data[-2048:]
        self.objects: dict[int, bytes] = {}
        self.trailers: list[bytes] = []
        self._read(data)

    def _read(self, data: bytes) -> None:
        starts = list(OBJECT.finditer(data))
        packed = []
        ends = [*(one.start() for one in starts[1:]), len(data)][: len(starts)]
        for start, end in zip(starts, ends, strict=True):
            body = data[start.end() : end]
            self.objects[int(start[1])] = body  # a later one replaces it: so PDFs are updated
            head = dictionary(body)
            if re.search(rb"/Type[ \t\r\n]*/XRef\b", head):
                self.trailers.append(head)
            elif re.search(rb"/Type[ \t\r\n]*/ObjStm\b", head):
                packed.append((head, body))
        self.trailers += [data[one.end() :][:4096] for one in re.finditer(rb"\btrailer\b", data)]
        self.encrypted = any(b"/Encrypt" in dictionary(one) for one in self.trailers)
        if not self.encrypted:
            for head, body in packed:
                self._unpack(head, body)

    def _unpack(self, head: bytes, body: bytes) -> None:
        """Take the objects out of an object stream."""
        count, first = number(head, b"N"), number(head, b"First")
        stream = unpacked(head, body)
        if count is None or first is None or stream is None:
            return
        with contextlib.suppress(ValueError, IndexError):  # what is damaged is left out
            table = [int(one) for one in stream[:first].split()[: 2 * count]]
            places = [*table[1::2], len(stream) - first]
            for index, key in enumerate(table[0::2]):
                text = stream[first + places[index] : first + places[index + 1]]
                self.objects.setdefault(key, text)

    def follow(self, text: bytes, key: bytes) -> bytes:
        """The object that ``/key n g R`` refers to, or nothing."""
        found = re.search(REFERENCE % key, text)
        return self.objects.get(int(found[1]), b"") if found else b""

    def from_trailer(self, key: bytes) -> bytes:
        """The same for the trailers, the newest first."""
        return next(
            (found for one in reversed(self.trailers) if (found := self.follow(one, key))), b""
        )


def dictionary(body: bytes) -> bytes:
    """The first ``<< … >>`` of an object, to its end."""
    start, depth = body.find(b"<<"), 0
    if start < 0:
        return b""
    for mark in re.finditer(rb"<<|>>|\((?:\\.|[^\\()])*\)", body[start : start + 1_000_000]):
        depth += {b"<<": 1, b">>": -1}.get(mark[0], 0)
        if depth == 0:
            return body[start : start + mark.end()]
    return body[start:]


def number(text: bytes, key: bytes) -> int | None:
    """The number of ``/key n``; None if it is missing or refers to another object."""
    found = re.search(rb"/%s[ \t\r\n]+(\d{1,9})\b(?![ \t\r\n]+\d+[ \t\r\n]+R)" % key, text)
    return int(found[1]) if found else None


def unpacked(head: bytes, body: bytes) -> bytes | None:
    """The contents of a stream, if it is plain or deflated."""
    start = re.search(rb"\bstream\r?\n", body)
    if start is None:
        return None
    raw = body[start.end() :]
    if b"/Filter" not in head:
        return raw[: raw.rfind(b"endstream")]
    if b"/FlateDecode" not in head or b"/DecodeParms" in head:
        return None
    with contextlib.suppress(zlib.error):
        return zlib.decompressobj().decompress(raw, UNPACKED)
    return None


def text_of(raw: bytes) -> str:
    """A PDF string, ``(…)`` or ``<…>``, as text."""
    if raw.startswith(b"<"):
        digits = re.sub(rb"[^0-9A-Fa-f]", b"", raw)
        data = bytes.fromhex((digits + b"0" * (len(digits) % 2)).decode())
    else:
        known = {
            b"n": b"\n",
            b"r": b"\r",
            b"t": b"\t",
            b"b": b"\b",
            b"f": b"\f",
            b"\n": b"",
            b"\r\n": b"",
        }

        def unescape(match: re.Match[bytes]) -> bytes:
            code = match[1]
            return bytes([int(code, 8) & 255]) if code.isdigit() else known.get(code, code)

        data = re.sub(rb"\\([0-7]{1,3}|\r?\n|.)", unescape, raw[1:-1], flags=re.DOTALL)
    if data.startswith((b"\xfe\xff", b"\xff\xfe")):
        return data.decode("utf-16", "replace")
    if data.startswith(b"\xef\xbb\xbf"):
        return data[3:].decode("utf-8", "replace")
    return data.decode("latin-1").translate(DOC_ENCODING)


def metadata(info: bytes) -> dict[str, str]:
    """The fields of the document information dictionary."""
    found = {}
    for key in FIELDS:
        string = rb"\((?:\\.|[^\\()]|\((?:\\.|[^\\()])*\))*\)|<[0-9A-Fa-f\s]*>"
        match = re.search(rb"/%s[ \t\r\n]*(%s)" % (key.encode(), string), info, re.DOTALL)
        if match and (text := " ".join(text_of(match[1]).split())):
            found[key] = text
    return found


def inspect(data: bytes) -> dict[str, Any]:
    """What can be said about a PDF."""
    pdf = Pdf(data)
    catalog = pdf.from_trailer(b"Root")
    bodies = [dictionary(body) for body in pdf.objects.values()]
    leaves = sum(re.search(rb"/Type[ \t\r\n]*/Page\b", body) is not None for body in bodies)
    pages = number(dictionary(pdf.follow(catalog, b"Pages")), b"Count")
    fonts = any(re.search(rb"/Type[ \t\r\n]*/Font\b", body) for body in bodies)
    images = sum(re.search(rb"/Subtype[ \t\r\n]*/Image\b", body) is not None for body in bodies)
    report = {
        "version": pdf.version,
        "pages": pages if pages is not None else leaves or None,
        "encrypted": pdf.encrypted,
        "metadata": {} if pdf.encrypted else metadata(pdf.from_trailer(b"Info")),
        "form": b"/AcroForm" in catalog,
        "xfa": any(b"/XFA" in body for body in bodies),
        "images": images,
        "fonts": fonts,
    }
    return {**report, "advice": advice(report, complete=pdf.complete)}


def advice(report: dict[str, Any], *, complete: bool) -> list[str]:
    """What to do next."""
    notes = []
    if report["encrypted"]:
        notes.append("encrypted: a password may be needed; what is said here may be incomplete")
    elif report["pages"] is None:
        notes.append("no pages found: damaged, or built in an unusual way; try: qpdf --check")
    elif report["images"] and not report["fonts"]:
        notes.append("images and no fonts: probably a scan; text needs OCR")
    if report["xfa"]:
        notes.append("an XFA form: most libraries cannot fill it")
    elif report["form"]:
        notes.append("has form fields: list them before you fill them")
    if not complete:
        notes.append("the end is missing: perhaps cut off in a download")
    return notes


def main() -> int:
    """Inspect the files of the command line."""
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--json", action="store_true", help="one JSON object for each file")
    arguments = parser.parse_args()
    failed = 0
    for name in arguments.files:
        try:
            report = {"file": name, **inspect(Path(name).read_bytes())}
        except (OSError, NotAPdf) as error:
            failed = 1
            report = {"file": name, "error": getattr(error, "strerror", None) or str(error)}
        if arguments.json:
            print(json.dumps(report, ensure_ascii=False))
        else:
            print("\n".join(f"{key}: {_plain(value)}" for key, value in report.items()), end="\n\n")
    return failed


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return "".join(f"\n  {key}: {text}" for key, text in value.items()) or "none"
    if isinstance(value, list):
        return "; ".join(value) or "nothing special"
    if value is None or isinstance(value, bool):
        return {True: "yes", False: "no", None: "unknown"}[value]
    return str(value)


if __name__ == "__main__":
    if hasattr(signal, "SIGPIPE"):  # with `| head`, end quietly as other commands do
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main())
