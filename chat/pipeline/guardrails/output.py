"""Finds what an answer may not hold, whatever the model was made to write; pure.

The last of the fences: it knows what the model was told and what it was given, and looks at what came out. What stands
in a source is the university's own; what stands in none was made up, or planted by a text that steers the model
(Greshake et al. 2023; OWASP LLM02 and LLM07, 2025). Nothing here changes an answer.
"""

import html
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from chat.pipeline.guardrails import figures
from chat.pipeline.guardrails.addresses import emails, hosts, links, normal, phones, without_links
from chat.pipeline.guardrails.eligibility import decisions
from core.terms import WORD
from knowledge.guardrails.deobfuscation import decoded
from knowledge.guardrails.injection import flag_document

Kind = Literal["link", "contact", "markup", "system_prompt", "figure", "decision"]

#: So many words of the rules in a row are no coincidence.
LEAKED_WORDS = 8
#: Characters of a stream's end that are looked at again: more than LEAKED_WORDS of the rules, or an address.
TAIL = 160
#: Without one of these a piece begins or ends no address and no markup.
SUSPICIOUS = re.compile(
    r"[<>@!|()\[\]{}&\\]|\w[.:/]\w|\+\d|\d[ /-]\d|www|hxxp|\b(?:dot|punkt|at|data|href|src)\b", re.IGNORECASE
)
#: The beginning of a tag, an image or a program's own mark, before its end has come.
BEGUN_MARKUP = re.compile(r"<[a-z/!?|]|!\[", re.IGNORECASE)

#: A text without one of these hides no other, once all that a browser resolves is resolved (`decoded`).
HIDING = re.compile(r"[\w+/-]{16}|[0-9a-fA-Fx\\%,: ]{20}|[%&]")

FENCE = re.compile(r"<<[0-9a-f]{8}>>", re.IGNORECASE)
MARKER = re.compile(r"\[\d{1,3}(?:[ \t]*[,;][ \t]*\d{1,3})*\]")
LIST_NUMBER = re.compile(r"^[ \t]*(?P<number>\d{1,2})[.)](?=[ \t])", re.MULTILINE)

IMAGE = re.compile(r"!\[(?:[^\[\]]|\[[^\[\]]{0,300}\]){0,600}\](?:\([^)\n]{0,2000}\)|\[[^\]\n]{0,300}\])?")
DATA = re.compile(r"\bdata:\s?(?:[\w.+-]{1,60}/[\w.+-]{1,60}|;|,)", re.IGNORECASE)
HANDLER = re.compile(r"(?<![\w-])(?:on[a-z]{3,40}|srcdoc|style|href|src)\s?=\s?[\"']", re.IGNORECASE)
#: `<https://…>` and `<name@…>` are links.
TAG = re.compile(
    r"</?(?!\w+:/|[\w.+-]+@)(?P<name>[a-z][\w:-]{0,60})(?P<rest>[\s/][^<>]{0,2000})?(?P<end>>?)"
    r"|<!--|<!\[CDATA|<[!?][a-z]",
    re.IGNORECASE,
)
ELEMENT = re.compile(
    r"a|abbr|address|applet|area|article|aside|audio|b|base|body|br|button|canvas|center|"
    r"code|col|dd|details|dialog|div|dl|dt|em|embed|fieldset|font|footer|form|frame|"
    r"frameset|h1|h2|h3|h4|h5|h6|head|header|hr|html|i|iframe|image|img|input|ins|"
    r"isindex|kbd|label|li|link|main|map|marquee|math|mark|menu|meta|nav|noscript|object|"
    r"ol|optgroup|option|output|p|param|picture|plaintext|pre|q|s|script|section|select|"
    r"small|source|span|strike|strong|style|sub|summary|sup|svg|table|tbody|td|template|"
    r"textarea|tfoot|th|thead|title|tr|track|tt|u|ul|var|video|xml|xmp|xss"
)


@dataclass(frozen=True, slots=True)
class Violation:
    """A part that must not reach a student; `text` is for staff and tests, never for logs."""

    kind: Kind
    text: str


class OutputGuard:
    """Checks one answer, whole or word by word as it is streamed.

    `system` is everything the model was told that is neither source nor question, `sources` are the texts it was given
    and the addresses they stand at, `question` what the student said. A source that speaks to the model
    (`knowledge.guardrails.injection.flag_document`) vouches for no address.
    """

    def __init__(self, *, system: str, sources: Sequence[str], question: str) -> None:
        given = [_visible(source) for source in sources]
        self._sources = sources
        self._addresses = [_addresses(source) for source in given]
        self._flagged: dict[int, bool] = {}
        self._known = [_spaced(text) for text in (*given, _visible(question))]
        self._keys = {key for text in self._known for key in figures.keys(text)}
        allowed = {run for text in self._known for run in _runs(text)}
        self._rules = _runs(system) - allowed
        self._tail = ""

    def check(self, answer: str) -> tuple[Violation, ...]:
        """All violations of a complete answer, by kind; empty where it may be shown."""
        text = _visible(answer)
        return tuple(
            dict.fromkeys(
                [
                    *self._bad_links(text),
                    *self._bad_contacts(text),
                    *_markup(text),
                    *self._leaks(text),
                    *self._bad_figures(text),
                    *(Violation("decision", sentence) for sentence in decisions(text)),
                ]
            )
        )

    def check_piece(self, piece: str) -> tuple[Violation, ...]:
        """Find what must not be shown for a moment in the next words: links, contacts, markup, rules.

        Only the end of what came before is looked at again, so that a word costs the same however long the answer is.
        A piece with a violation is not shown, so nothing after it is compared with it.
        """
        looked_at = self._tail + MARKER.sub("", piece)
        text = _visible(looked_at)
        violations = list(self._leaks(text))
        if SUSPICIOUS.search(piece):
            violations += [*self._bad_links(text), *self._bad_contacts(text), *_markup(text)]
        violations += [Violation("markup", begun) for begun in BEGUN_MARKUP.findall(piece)]
        if not violations:
            self._tail = _end_of(looked_at)
        return tuple(dict.fromkeys(violations))

    def _bad_links(self, text: str) -> Iterator[Violation]:
        for shown, link in links(text):
            if not self._vouched(normal(link)):
                yield Violation("link", shown)

    def _bad_contacts(self, text: str) -> Iterator[Violation]:
        for email in emails(text):
            if not self._vouched(email.casefold()):
                yield Violation("contact", email)
        for phone in phones(text):
            if not self._vouched(_digits(phone)):
                yield Violation("contact", phone)

    def _vouched(self, address: str) -> bool:
        """Return whether a source has it that does not speak to the model: such a one could plant it."""
        holders = (at for at, addresses in enumerate(self._addresses) if address in addresses)
        return any(not self._speaks_to_model(at) for at in holders)

    def _speaks_to_model(self, at: int) -> bool:
        if at not in self._flagged:
            self._flagged[at] = bool(flag_document(self._sources[at]))
        return self._flagged[at]

    def _leaks(self, text: str) -> Iterator[Violation]:
        for fence in FENCE.finditer(text):
            yield Violation("system_prompt", fence[0])
        for said in (text, *(decoded(text) if HIDING.search(text) else ())):
            if leaked := sorted(_runs(said) & self._rules):
                yield Violation("system_prompt", " ".join(leaked[0]))

    def _bad_figures(self, text: str) -> Iterator[Violation]:
        text = without_links(text)
        for phone in phones(text):
            text = text.replace(phone, " ")
        text = LIST_NUMBER.sub(_unless_date, FENCE.sub(" ", MARKER.sub(" ", text)))
        for figure in figures.figures(text):
            held = any(reading <= self._keys for reading in figure.readings) or _stands(figure.text, self._known)
            if not (held or figure.is_count):
                yield Violation("figure", figure.text)


def _end_of(text: str) -> str:
    """Its last TAIL characters, from a whole word on."""
    end = text[-TAIL:]
    return end if len(text) <= TAIL else end[end.find(" ") + 1 :]


def _visible(text: str) -> str:
    """As a browser would understand it: compatibility forms and entities resolved, invisible characters gone."""
    if text.isascii() and "&" not in text:
        return text  # nothing to resolve, and this is asked for every word that is streamed
    resolved = unicodedata.normalize("NFKC", html.unescape(text))
    return "".join(character for character in resolved if unicodedata.category(character) != "Cf")


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _addresses(source: str) -> set[str]:
    """Everything that a source vouches for: links and their hosts, e-mail addresses, telephone numbers."""
    linked = {normal(link) for _, link in links(source)}
    return {
        *linked,
        *hosts(linked),
        *(email.casefold() for email in emails(source)),
        *(_digits(phone) for phone in phones(source)),
    }


def _digits(phone: str) -> str:
    """Without what differs between a call from here and one from abroad."""
    return re.sub(r"^(?:\+|00)\d\d|^0", "", re.sub(r"[^\d+]", "", phone.replace("(0)", "")))


def _stands(text: str, sources: Sequence[str]) -> bool:
    """Return whether a source has it as it is, not as a part of a longer figure."""
    pattern = re.compile(rf"(?<!\d)(?<!\d[.,:]){re.escape(_spaced(text))}(?!\d|[.,:]\d)")
    return any(pattern.search(source) for source in sources)


def _unless_date(number: re.Match[str]) -> str:
    """Drop a list's number; "15." before a month stays."""
    return number[0] if figures.DAY_MONTH.match(number.string, number.start("number")) else " "


def _markup(text: str) -> Iterator[Violation]:
    for pattern in (IMAGE, DATA, HANDLER):
        for match in pattern.finditer(text):
            yield Violation("markup", match[0])
    for tag in TAG.finditer(text):
        name, closed = (tag["name"] or "").lower(), bool(tag["end"])
        is_known = bool(ELEMENT.fullmatch(name)) and (closed or len(name) > 2)  # "if a <b" compares
        if not name or is_known or "=" in (tag["rest"] or "") or (closed and "-" in name):
            yield Violation("markup", tag[0])


def _runs(text: str) -> set[tuple[str, ...]]:
    words: list[str] = WORD.findall(text.casefold())
    return {tuple(words[at : at + LEAKED_WORDS]) for at in range(len(words) - LEAKED_WORDS + 1)}
