"""A session as one HTML file: what it lost tokens and time to, in pictures, and every turn.

The page loads nothing and says nothing to anyone: its policy, its escaping and most of its pictures
are those of :func:`learnkit.share`. Turns stand in it as packed parts, each drawn when one scrolls
to it, so that a long session opens at once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path, PurePath

from learnkit.core.catalog import PRICES_OF
from learnkit.core.usage import Usage
from learnkit.events.log import EventLog
from learnkit.events.sentences import stopped
from learnkit.events.text import count, excerpt, one_line, quoted
from learnkit.sessions import charts
from learnkit.sessions.charts import anchor, lasted
from learnkit.sessions.findings import FINDERS, Finding, findings, tokens
from learnkit.sessions.redact import HIDDEN
from learnkit.sessions.turns import Session, Thread, Turn, session_of
from learnkit.views.compaction import Compaction
from learnkit.views.drawing import theme
from learnkit.views.drawing.array import Array, message_card
from learnkit.views.drawing.base import css_beside
from learnkit.views.drawing.display import Canvas, sheet
from learnkit.views.drawing.plot import short
from learnkit.views.drawing.text import esc, scale_of
from learnkit.views.drawing.time_axis import duration
from learnkit.views.messages import Messages
from learnkit.widget import frozen

_HERE = Path(__file__).parent
#: Widths for which pictures are laid out, in pixels, of the column and on a phone; rows of a view.
WIDE, NARROW, ROWS = 928, 328, 16
#: Turns in a part; characters of a text that are shown, the first number that keeps all turns under
#: the bytes they may have. With the gap named, the most is less than what a card shows of a text.
PART, SHOWN, BYTES = 20, (2300, 700, 200, 60), 2_500_000
#: What the tokens of findings are.
_UNIT = """<p class="kind">Full-price tokens: one read from the cache counts a tenth, so a result
costs its length once, then a tenth in each later request. Findings overlap: don’t add them.</p>"""

#: The numbers of a turn's findings, as links to them.
_Badges = dict[tuple[str, int], str]

_REMOVED = re.compile(f"{HIDDEN}+")
_FORMATS = {"claude-code": "Claude Code", "codex": "Codex", "atif": "ATIF"}


def page(
    log: EventLog,
    found: Sequence[Finding] | None = None,
    *,
    lessons: Mapping[str, tuple[str, str]] | None = None,
    notes: Sequence[str] = (),
    above: str = "",
) -> str:
    """Draw a session.

    Args:
        log: of the session, as ``open_session`` or an agent has it.
        found: its findings; by default those of the log.
        lessons: name such as ``s06`` -> title and address of the lesson that a finding links to.
        notes: sentences about the page itself, such as what was removed from it.
        above: the line above the title; by default the first words of the session.

    Returns:
        The page as HTML, in one piece.
    """
    session = session_of(log)
    found = findings(session) if found is None else found
    sections = [
        _header(session, found, above),
        _found(session, found, lessons or {}),
        _numbers(session),
        _filled(session.lead) if session.lead.turns else "",
        _time(session) if session.lead.turns and session.end > session.begin else "",
        _agents(session) if len(session.threads) > 1 else "",
        _compaction(session) if session.lead.cuts else "",
        _turns(session, found),
    ]
    said = "".join(f"<p>{esc(note)}</p>" for note in (*notes, *_read(session)))
    body = (
        f'<main class="s">{"".join(sections)}<footer>{said}<p>Made with learnkit, on this machine. '
        "Texts are estimated at four characters a token (≈); prices are those of "
        f"{PRICES_OF}.</p></footer></main>"
    )
    # On paper it is light.
    look = sheet(theme.MARKS, " screen and (prefers-color-scheme:dark)") + css_beside(__file__)
    return frozen.page("A session", _lengths(body) + _scripts(), look=look)


def _lengths(text: str) -> str:
    """A text in which lengths stand for what was removed."""
    return _REMOVED.sub(lambda gone: f"[{count(len(gone[0]), 'character')}]", text)


def _scripts() -> str:
    turn, script = ((_HERE / name).read_text("utf-8") for name in ("turn.css", "page.js"))
    return (
        f'<script type="text/plain" id="sheet">{frozen.sheet()}{Messages.css}{turn}</script>'
        f'<script type="module">{script}</script>'
    )


# The first screen.


def _header(session: Session, found: Sequence[Finding], above: str) -> str:
    about, lead, cost = session.about, session.lead, Usage.of(session.replies).cost
    waited = f", {lasted(session.waited)} of it waiting for you" * (session.waited >= 60)
    took = session.end - session.begin
    parts = [PurePath(about.cwd).name, _FORMATS.get(about.format, one_line(about.format, 20))]
    parts += [_when(session, 0, "%-d %b %Y, %H:%M"), count(len(lead.turns), "turn")]
    parts += [(lasted(took) + waited) * (took >= 1), f"${cost:.2f}" if cost else ""]
    parts += [count(len(found), "finding")] * bool(found)
    title = found[0].sentence if found else "Nothing stands out in this session."
    alt = "Tokens of each request, and what filled it. A press on a column leads to its turn."
    figure = _figure(lambda width: charts.context(lead, found, width), alt) if lead.turns else ""
    above = above or (quoted(about.title, 110) if about.title else "")
    return (
        f'<header><p class="kind">{esc(above)}</p><h1>{esc(title)}</h1>'
        f'<p class="sub">{esc(" · ".join(filter(None, parts)))}</p>'
        f'<p class="sub">{esc(_outcome(lead))}</p></header>{figure}'
    )


def _outcome(lead: Thread) -> str:
    """How the session came out: why it ended, and what the model said last."""
    said = next((turn.said for turn in reversed(lead.turns) if turn.said), "")
    last = f" Its last words: {quoted(said, 160)}" if said else ""
    how = f"How it ended: {stopped(lead.ended)}." if lead.ended else "It hasn’t come to an end."
    return f"{how}{last}" if lead.turns else ""


def _when(session: Session, at: float, form: str) -> str:
    """A time of the log on the clock and in the zone of this machine; empty if it isn't known."""
    started = session.about.started
    known = 0 < started < 2**33
    return datetime.fromtimestamp(started + at).astimezone().strftime(form) if known else ""


def _figure(draw: Callable[[float], Canvas], alt: str) -> str:
    """A picture, laid out for both widths."""
    pictures = ""
    for name, canvas in (("wide", draw(WIDE)), ("narrow", draw(NARROW))):
        size = f'viewBox="0 0 {canvas.width:g} {canvas.height:g}"'
        body = "".join(shape.markup() for shape in canvas.shapes)
        pictures += f'<svg class="{name}" {size} role="group" aria-label="{esc(alt)}">{body}</svg>'
    return f"<figure>{pictures}</figure>"


def _found(
    session: Session, found: Sequence[Finding], lessons: Mapping[str, tuple[str, str]]
) -> str:
    items = ""
    for number, one in enumerate(found, start=1):
        lost = [f"≈ {tokens(one.tokens)} full-price tokens"] * bool(one.tokens)
        lost += [lasted(60 * one.minutes)] * (one.minutes >= 0.5)
        title, address = lessons.get(one.lesson, ("", ""))
        said = esc(f"lesson {int(one.lesson[1:])}{f', {title}' if title else ''}")
        link = f'<a href="{esc(address)}">{said}</a>' if address else said
        items += (
            f'<li id="f{number}"><span class="disc">{number}</span><div><b>{esc(one.sentence)}</b>'
            f"<p>{' · '.join([_links(session, one), *lost, link])}</p><p>{esc(one.remedy)}</p>"
            "</div></li>"
        )
    none = f"<p>{len(FINDERS)} kinds of loss were looked for, and none was found.</p>"
    unit = _UNIT if any(one.tokens for one in found) else ""
    return f'<ol class="found">{items}</ol>{unit}' if found else none


def _links(session: Session, one: Finding, most: int = 8) -> str:
    shown = one.turns[:most]
    links = [f'<a href="#{esc(anchor(*turn))}">{turn[1]}</a>' for turn in shown]
    whose = "turn" if shown[0][0] == session.lead.lane else "of a subagent, turn"
    more = ", …" * (len(one.turns) > most)
    return f"{whose}{'s' * (len(links) > 1)} {', '.join(links)}{more}"


# Sections.


def _section(kind: str, title: str, body: str, line: str = "") -> str:
    below = f"<p>{esc(line)}</p>" if line else ""
    return f'<section><p class="kind">{kind}</p><h2>{esc(title)}</h2>{below}{body}</section>'


def _numbers(session: Session) -> str:
    lead, calls, usage = session.lead, list(session.calls), Usage.of(session.replies)
    names = Counter(one_line(call.name, 30) for call in calls if call.failed)
    failed = ", ".join(f"{name} {number:,}" for name, number in names.most_common())
    cached = usage.cache_read_input_tokens / max(usage.sent, 1)
    retries = sum(one.retries for one in session.threads.values())
    facts = [
        ("turns", f"{len(lead.turns):,}", f"after {count(lead.prompts, 'prompt')}"),
        ("tokens sent", short(usage.sent), f"{cached:.0%} cached"),
        ("tokens written", short(usage.output_tokens), ""),
        ("longest request", short(max(map(lead.size, lead.turns), default=0)), "tokens"),
        ("tool calls", f"{len(calls):,}", f"failed: {failed}" * bool(failed)),
        ("failed requests", f"{retries:,}", "or sent again"),
    ]
    shown = (fact for fact in facts if fact[1] != "0")
    rows = (f"<div><dt>{a}</dt><dd>{b}<small>{esc(c)}</small></dd></div>" for a, b, c in shown)
    return f"<section><dl>{''.join(rows)}</dl></section>"


def _filled(lead: Thread) -> str:
    turn, rows = max(lead.turns, key=lead.size), charts.fillers(lead)
    pile = charts.piled(lead, turn, charts.marks_of(lead))
    most, size = max(pile.items(), key=lambda one: one[1])
    share, full = size / max(sum(pile.values()), 1), max([1, *(row[2] for row in rows)])
    most = f"Output of {most}" if most not in charts.KINDS else most[0].upper() + most[1:]
    body = "".join(
        f'<tr><td>{esc(name).replace("/", "/<wbr>")}</td><td class="long">'
        f'<i style="width:{100 * size / full:.1f}%;background:var(--lk-{mark}-edge)"></i></td>'
        f'<td class="n">≈&nbsp;{size:,}</td>'
        f'<td class="n">{count(calls, "call") if calls else ""}</td></tr>'
        for name, mark, size, calls in rows
    )
    whole = lead.fixed() == lead.head
    by = "as the log has them" if whole else "by the file’s counts (it doesn’t hold them)"
    fixed = f" System prompt and tools: ≈{lead.fixed():,}, {by}." if lead.fixed() else ""
    title = f"{most}: {share:.0%} of the longest request."
    line = f"Turn {turn.number} had {lead.size(turn):,} tokens.{fixed}"
    return _section("What fills the context", title, f"<table>{body}</table>", line)


def _time(session: Session) -> str:
    tools, model = map(charts.busy, charts.worked(*session.threads.values()))
    waits = f", and {lasted(session.waited)} went by waiting for you" if session.waited >= 1 else ""
    title = f"The model worked {lasted(model)}, its tools {lasted(tools)}{waits}."
    return _section("Time", title, _figure(lambda width: charts.time_line(session, width), title))


def _compaction(session: Session) -> str:
    """The last compaction, as the course draws it."""
    view = Compaction(session.events)
    state = view.at()
    finding = view.finding(state)
    figure = _figure(lambda width: view.draw(state, width, ROWS), finding)
    return _section("The last compaction", finding, figure, view.because(state))


def _agents(session: Session) -> str:
    """The tree of agents, each with the tokens and the price of those that it has started."""
    every = session.threads.values()

    def rows(parent: str | None, depth: int) -> str:
        known = session.threads
        its = [one for one in every if (one.parent if one.parent in known else None) == parent]
        return "".join(row(one, depth) + rows(one.lane, depth + 1) for one in its if depth < 50)

    def row(one: Thread, depth: int) -> str:
        rolled, own = Usage.of(session.replies, one.lane), sum(t.usage.sent for t in one.turns)
        name = esc(one_line("main agent" if one is session.lead else one.title or one.lane, 70))
        if one.turns:
            name = f'<a href="#{esc(anchor(one.lane, 1))}">{name}</a>'
        below = f"{rolled.sent:,}" if any(child.parent == one.lane for child in every) else ""
        cost = f"${rolled.cost:.2f}" if rolled.cost else "–"
        few = f"{len(one.turns)}", f"{len(one.calls)}", cost
        cells = "".join(f'<td class="n extra">{value}</td>' for value in few)
        cells += f'<td class="n">{own:,}</td><td class="n">{below}</td>'
        return f'<tr><td style="padding-left:{1.2 * min(depth, 8):.1f}em">{name}</td>{cells}</tr>'

    few = "".join(f'<th class="n extra">{name}</th>' for name in ("turns", "calls", "cost"))
    head = f'<th>agent</th>{few}<th class="n">tokens sent</th><th class="n">with subagents</th>'
    others = [one for one in every if one is not session.lead]
    theirs = sum(t.usage.sent for one in others for t in one.turns)
    share = theirs / max(Usage.of(session.replies).sent, 1)
    noun = "subagent" if all(one.parent for one in others) else "other agent"
    title = f"{count(len(others), noun)} sent {share:.0%} of all tokens."
    return _section("Agents", title, f"<table><tr>{head}</tr>{rows(None, 0)}</table>")


# Every turn.


def _turns(session: Session, found: Sequence[Finding]) -> str:
    every = [one for one in session.threads.values() if one.turns]
    badges: _Badges = {}
    for number, finding in enumerate(found, start=1):
        badge = f'<a class="disc" href="#f{number}" title="{esc(finding.sentence)}">{number}</a>'
        badges |= {turn: badges.get(turn, "") + badge for turn in finding.turns}
    for shown in SHOWN:
        parts = "".join(_thread(session, one, shown, badges) for one in every)
        if len(parts) < BYTES:
            break
    script = "<noscript><p>Turns are drawn by a script, which is off.</p></noscript>"
    cut = f"Texts are cut at {shown:,} characters." if shown < SHOWN[0] else ""
    agents = f" of {len(every)} agents" * (len(every) > 1)
    title = f"Every message of {count(sum(len(one.turns) for one in every), 'turn')}{agents}."
    return _section("Messages", title, script + parts, cut)


def _thread(session: Session, one: Thread, shown: int, badges: _Badges) -> str:
    ends = {True: theme.FAILED, False: theme.DONE}
    calls = {
        id: (call.name, theme.PENDING if call.end is None else ends[call.failed], place)
        for place, (id, call) in enumerate(one.calls.items())
    }
    array, parts, index = Array(one.lane, calls=calls), [], 0

    def cut(text: str) -> str:
        return excerpt(_lengths(text), shown)

    full = scale_of(max([100, *(call.tokens for call in one.calls.values())]))
    for first in range(0, len(one.turns), PART):
        turns, html = one.turns[first : first + PART], ""
        for turn in turns:
            cards = ""
            for message, injected in turn.shown:
                cards += message_card(array, index, message, injected, calls, cut).html
                index += 1
            html += (
                f'<article class="turn" id="{esc(anchor(one.lane, turn.number))}" tabindex="-1">'
                f"<h3>Turn {turn.number} {badges.get((one.lane, turn.number), '')}"
                f"<span>{esc(_about(session, one, turn))}</span></h3>{cards}</article>"
            )
        html = html.replace('"note">from the harness<', '"note">a tool’s result<')
        names = " ".join(anchor(one.lane, turn.number) for turn in turns)
        size = f"--lk-full:{full};min-height:{240 * len(turns)}px"
        parts.append(
            f'<div class="later" data-turns="{esc(names)}" style="{size}">'
            f'<script type="application/gzip">{frozen.packed(html)}</script></div>'
        )
    head = f' class="agent"><h3>↳ {esc(one_line(one.title, 120))}</h3>' if one.parent else ">"
    return f"<div{head}{''.join(parts)}</div>"


def _about(session: Session, one: Thread, turn: Turn) -> str:
    cached = turn.usage.cache_read_input_tokens
    sent = f"{'' if turn.usage.known else '≈'}{one.size(turn):,} tokens"
    sent += f", {cached:,} from the cache" if cached else ""
    took = "no reply" if turn.replied is None else duration(round(turn.replied - turn.asked, 1))
    before = one.turns[turn.number - 2].model if turn.number > 1 else ""
    model = turn.model if turn.model != before else ""
    return " · ".join(filter(None, [_when(session, turn.asked, "%X"), sent, took, model]))


def _read(session: Session) -> Iterator[str]:
    """What is to be said of how the file was read."""
    about = session.about
    if about.warnings:
        first, *others = about.warnings
        more = f", and {len(others)} more" * bool(others)
        yield f"Line {first.line} could not be read: {first.text}{more}."
    kinds = {key[5:]: number for key, number in about.unknown.items() if key.startswith("line ")}
    for what, found in (
        ("Lines of unknown types were kept and not drawn", kinds),
        ("Left out to stay in bounds", about.left_out),
    ):
        said = ", ".join(f"{number:,} {name}" for name, number in found.items())
        yield from [f"{what}: {one_line(said, 200)}."] * bool(found)
