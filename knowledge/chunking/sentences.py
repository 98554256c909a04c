"""Sentences of English and German prose and of Markdown lines, as spans of the text they stand in.

A list item, a table row, a heading line and a block between blank lines are units of their own; inside a unit a
sentence ends at a token that closes with `.`, `!`, `?` or an ellipsis and is neither an abbreviation nor a number that
belongs to what follows. Only the end of a whitespace-separated token is looked at, so dots inside decimals, times,
URLs and e-mail addresses never count. In doubt two sentences stay one. The cost is linear in the text.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_TOKEN = re.compile(r"\S+")
_LINE = re.compile(r"[^\n]+")
_MONTHS = (
    "Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember"
    "|January|February|March|May|June|July|October|December"
)
_BULLET = re.compile(rf"[\s>]*(?:[-*+•]\s|1[.)]\s(?!\s*(?:{_MONTHS})\b))")
_NUMBERED = re.compile(rf"[\s>]*\d{{1,9}}[.)]\s(?!\s*(?:{_MONTHS})\b)")
_ROW_OR_HEADING = re.compile(r"[\s>]*(?:\||#{1,6}\s)")
_CLOSERS = ")]}\"'‘’“”»«*_`"
_OPENERS = "([{\"'‘’“„«»*_`#>~¿¡"
_STOPS = ".!?…"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Never the last word of a sentence.
_ABBREVIATIONS = _words("""
    dr prof mr mrs ms st nr abschn approx ausg bspw bzgl bzw ca cf dgl dipl einschl engl evtl exkl gem ggf ggfs hl hrsg
    apl inkl insb insbes jr lt max mind min mio mrd od priv sog sr stellv tel univ vgl viz vs zzgl hs dept
    habil ing jur nat oec pol rer
    jan feb febr apr jun jul aug sep sept okt oct nov dez dec d.h e.g i.d.r i.e u.a v.a z.b
""")
# Only behind a title or one another: "Dr. med. dent. Ada Lovelace", but "She likes math. Then".
_TITLES = _words("dr prof mag dipl doz priv.-doz")
_DEGREES = _words("""
    agr biol cult dent em emer forest habil hc hum ing iur jur litt math med medic mont mult nat oec paed päd pharm phil
    pol publ rer ret sc silv soc techn theol troph vet
""")
# Abbreviations only in front of a number: "No. 5" and "Art. 2", but "The answer is no. Then".
_BEFORE_NUMBER = _words("""
    no nos art abs fig pp sec ch chap vol para kap ziff bd abb tab pos rn sem eq ed bldg rm
    mo di mi do fr sa so mon tue wed thu fri sat sun mar
""")
_ORDINAL = re.compile(r"\d{1,2}|(?:[0-2]?\d|3[01])\.(?:0?[1-9]|1[0-2])|[IVXLC]{2,5}")  # "15.", "15.07.", "XIV."
_DOTTED = re.compile(r"[^\W\d_]{1,3}(?:\.[^\W\d_]{1,3})+")  # "U.S.", "Ph.D.", "M.Sc.", "m.w.N."
_FIGURE_BEHIND = re.compile(r"\(\d{1,4}\)[;,]")  # "Willkommen! (12); Recht (6)": a sentence does not begin so
_MARKER = re.compile(r"\d{1,3}|[^\W\d_]")  # "1." or "a." at the head of a unit numbers it
# A capital here is no noun's: after an ordinal or a dotted abbreviation such a word does open a sentence.
_STARTERS = _words("""
    The This That These Those It He She We You They There If In For To At On Please When Where How What A An
    Then However After Before But All Der Die Das Den Dem Des Ein Eine Einen Einer Es Er Wir Ihr Sie Man Dies Diese
    Dieser Dieses Dann Danach Wenn Bei Bitte Im Am Zum Zur Für Mit Nach Falls Hier Alle Auch Wer Wie Wo Was Siehe
""")


def split_sentences(text: str) -> list[str]:
    """Split `text` into sentences, in order and unchanged, without the whitespace around them."""
    return [text[start:end] for start, end in sentence_spans(text)]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return half-open spans of the sentences in characters: in order, disjoint, covering all but whitespace."""
    spans: list[tuple[int, int]] = []
    for unit_start, unit_end in _units(text):
        tokens = [match.span() for match in _TOKEN.finditer(text, unit_start, unit_end)]
        first = 0
        in_title = False
        for index, (start, end) in enumerate(tokens):
            following = text[slice(*tokens[index + 1])] if index + 1 < len(tokens) else None
            in_title = _is_title(text[start:end], behind_title=in_title)
            if following is None or (not in_title and _closes(text[start:end], following, opening=index == first)):
                spans.append((tokens[first][0], end))
                first = index + 1
    return spans


def _units(text: str) -> Iterator[tuple[int, int]]:
    """Yield spans of lines that belong together: wrapped prose is one unit, an item with its wrapped lines another."""
    start = end = 0
    in_list = closed = False
    for line in _LINE.finditer(text):
        content = line.group()
        blank = not content.strip(" \t\r\f\v>")
        apart = line.start() > end + 1 or closed  # a blank line or a row lies between
        row = _ROW_OR_HEADING.match(content) is not None
        item = _BULLET.match(content) is not None
        if not item and (in_list or apart or start == end):
            item = _NUMBERED.match(content) is not None
        if start < end and (apart or row or item):
            yield start, end
            start = line.start()
        in_list = item or (in_list and not apart and not row)
        closed = row or blank
        end = line.end()
    if start < end:
        yield start, end


def _is_title(token: str, *, behind_title: bool) -> bool:
    """Return whether the token is an abbreviated title ("Prof.", "Mag."), or goes on one ("med.", "h.")."""
    stem = token.lstrip(_OPENERS).removesuffix(".")
    if not token.endswith("."):
        return False
    is_degree = stem in _DEGREES or (len(stem) == 1 and stem.islower())
    return (stem.istitle() and stem.casefold() in _TITLES) or (behind_title and is_degree)


def _closes(token: str, following: str, *, opening: bool) -> bool:
    """Decide whether a sentence ends with `token`, given the token after it; `opening`: it is its sentence's first."""
    core = token.rstrip(_CLOSERS)
    next_word = following.lstrip(_OPENERS)
    if not core or core[-1] not in _STOPS or next_word[:1].islower() or _FIGURE_BEHIND.fullmatch(following):
        return False
    stem = core.rstrip(_STOPS).lstrip(_OPENERS)
    if core[len(core.rstrip(_STOPS)) :] != ".":
        return bool(stem)
    word = stem.casefold()
    if word.rpartition("-")[2] in _ABBREVIATIONS or word.endswith("str") or (opening and _MARKER.fullmatch(stem)):
        return False
    if word in _BEFORE_NUMBER:
        return not next_word[:1].isdigit()
    if _ORDINAL.fullmatch(stem) or _DOTTED.fullmatch(stem):
        return next_word.rstrip(",;:" + _CLOSERS) in _STARTERS
    return not (len(stem) == 1 and stem.isalpha())


#: Marks of a line that are not part of its text: quotes, bullets, numbers of items, boxes to tick.
MARKERS = re.compile(r"(?:>\s*|[-*+•]\s+|\d{1,9}[.)]\s+|\[[ xX]\]\s+)+")
HEADING = re.compile(r"#{1,6}\s")
TABLE_RULE = re.compile(r"\|?[\s|:-]*-[\s|:-]*")
#: Bounded, so that unclosed brackets take time in proportion to their number.
LINK = re.compile(r"!?\[([^\]]{0,500})\]\([^)]{0,2000}\)")
SIGNS = re.compile(r"\*+|`+|\||<[^>]{0,200}>")
WORD = re.compile(r"[^\W\d_]{2}")


@dataclass(frozen=True, slots=True)
class Sentence:
    """`text` is the passage's own, from `begin` up to `end`."""

    begin: int
    end: int
    text: str


def sentences(text: str, heading_path: Sequence[str] = ()) -> list[Sentence]:
    """List the sentences, list items and table rows of a passage that say something, in order.

    Headings, a table's header and rule, and text without words, such as a marker alone, are left out.
    """
    spans = sentence_spans(text)
    found = []
    for index, (start, end) in enumerate(spans):
        marker = MARKERS.match(text, start, end)
        begin = marker.end() if marker else start
        said = text[begin:end]
        heads_table = index + 1 < len(spans) and _is_rule(text[slice(*spans[index + 1])])
        if HEADING.match(said) or _is_rule(said) or heads_table or said in heading_path[-1:]:
            continue
        if WORD.search(spoken(said)):
            found.append(Sentence(begin, end, said))
    return found


def in_context(title: str, heading_path: Sequence[str], text: str) -> str:
    """Build the embedder's input of a passage or unit: it needs to know where the text stands."""
    return "\n".join((title, " › ".join(heading_path), text))


def spoken(markdown: str) -> str:
    """Strip emphasis, cell borders and the addresses of links, which mean nothing to an embedder."""
    return " ".join(SIGNS.sub(" ", LINK.sub(r"\1", markdown)).split())


def _is_rule(line: str) -> bool:
    return "|" in line and TABLE_RULE.fullmatch(line) is not None
