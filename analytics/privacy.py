"""PII masking: personal data is removed from a question before others read it; pure.

Conservative: only what looks like an address, a long number, or a name after words that introduce one. Figures that a
question is about (deadlines, amounts, module numbers) stay.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from chat.models import Message
from core.text import nfc
from knowledge.words.readings import Step

#: A word is tried from its beginning alone: a long one without an address takes time in proportion to its length.
E_MAIL = re.compile(
    r"(?<![\w.+-])[\w.+-]++\s?(?:@|\(at\)|\[at\])\s?[\w-]+(?:\s?(?:\.|\(dot\)|\[dot\])\s?[\w-]+)*\.?[a-z]{2,}",
    re.IGNORECASE,
)
#: Student and matriculation numbers, however they are introduced.
LABELLED_NUMBER = re.compile(
    r"(?P<label>\b(?:matrikel(?:nummer|nr\.?|[- ]?no\.?)?|matr\.?(?:[- ]?nr\.?)?|matriculation(?: number| no\.?| id)?|"
    r"student(?:en)?(?:[- ]?(?:id|number|no\.?|nummer))|bewerber(?:nummer|[- ]?nr\.?)|applicant (?:number|id|no\.?)|"
    r"application (?:number|id|no\.?)|kundennummer|aktenzeichen)"
    r"(?:\s*\b(?:ist|is|lautet)\b)?\s*[:#]?\s*)(?P<number>(?:\b[a-z]{1,3})?[- ]?\d[\d -]{2,}\d)",
    re.IGNORECASE,
)
IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z\d]{4}){3,7}(?: ?[A-Z\d]{1,3})?\b")
#: A phone number begins with + or 0 and has 7 digits or more; dates and amounts do not.
PHONE = re.compile(r"(?<![\w.,/-])(?:\+|\(?0)\(?\d?(?:[ ()/.-]{0,3}\d){6,14}(?!\w)")
DATE_OR_TIME = re.compile(r"\d{1,2}[./]\s?\d{1,2}(?!\d)")
#: Digits in a row that are no year, no amount and no module: matriculation numbers have 6 to 10.
LONG_NUMBER = re.compile(r"(?<![\w.,/:-])\d{6,10}(?![\w:/-]|[.,]\d)")
#: A name's parts begin with a capital letter, whatever the words before do.
WORD = r"[A-ZÄÖÜÀ-ÞĀ-Ž][\w’'-]*"
PARTICLE = r"(?:(?:von|van|de|der|den|zu|al|el|bin|di|da|la|le)\s+)"
FULL_NAME = rf"{WORD}(?:\s+{PARTICLE}{{0,2}}{WORD}){{0,3}}"
INTRODUCED = re.compile(
    rf"(?P<before>\b(?i:ich\s+hei(?:ß|ss)e|hei(?:ß|ss)e\s+ich|mein\s+name\s+(?:ist|lautet)|mein\s+name:|"
    rf"my\s+name\s+is|my\s+name['’]s|my\s+name:|i\s+am\s+called|i['’]?m\s+called|name:)\s+)(?P<name>{FULL_NAME})"
)
#: "I am Anna Schmidt": of two capital words or more, since "I am German" tells no name.
NO_NAME = r"(?:\w+\s+)?(?:Student|Stud|Master|Bachelor|Erasmus|Bewerber|Applicant|Doktorand|PhD)"
TWO_NAMES = rf"(?!{NO_NAME}){WORD}\s+{PARTICLE}{{0,2}}{WORD}(?:\s+{WORD})?"
#: Only with a comma, a full stop or "and" behind: "I am Master Student" goes on otherwise.
PRESENTED = re.compile(
    rf"(?P<before>(?:^|[,.!?]\s*)(?i:(?:hello|hi|hey|hallo|guten\s+tag|good\s+morning|moin)[,!.]?\s+)"
    rf"(?i:i\s+am|i['’]m|ich\s+bin|hier\s+ist|this\s+is)\s+)(?P<name>{TWO_NAMES})(?=\s*(?:[,.!;:]|$|\s(?:and|und)\b))"
)
#: Uncapitalised, as people type: after the words that are followed by nothing but a name.
TYPED = re.compile(
    r"(?P<before>\b(?:ich\s+hei(?:ß|ss)e|mein\s+name\s+ist|my\s+name\s+is)\s+)(?P<name>[^\W\d_][\w’'-]*"
    r"(?:\s(?!(?:und|and)\b)[^\W\d_][\w’'-]*(?=\s*(?:[,.!?;]|$|\s(?:und|and)\b)))?)",
    re.IGNORECASE,
)
SIGNED = re.compile(
    rf"(?P<before>(?i:\b(?:(?:mit\s+)?(?:freundlichen|besten|vielen|lieben|herzlichen)\s+grü(?:ß|ss)en?|viele\s+grü(?:ß|ss)e|liebe\s+grü(?:ß|ss)e|"
    rf"beste\s+grü(?:ß|ss)e|lg|mfg|vg|(?:kind|best|warm)\s+regards|best\s+wishes|regards|sincerely|cheers)\b)[,.!]?\s+)"
    rf"(?P<name>{FULL_NAME})(?=[\s.!]*$)"
)
#: A person with a title; an office has none.
TITLED = re.compile(
    rf"(?P<before>\b(?:Herrn?|Frau|Mr\.?|Mrs\.?|Ms\.?|Prof(?:essor(?:in)?)?\.?|Dr\.?)\s+(?:(?:Prof\.?|Dr\.?)\s+)*)(?P<name>(?!Prof|Dr\b){FULL_NAME})"
)
#: Which group of a pattern tells who asked, and what is said in its place.
TELLING: tuple[tuple[re.Pattern[str], int | str, str], ...] = (
    (E_MAIL, 0, "[e-mail]"),
    (IBAN, 0, "[number]"),
    (LABELLED_NUMBER, "number", "[number]"),
    (PHONE, 0, "[phone]"),
    (LONG_NUMBER, 0, "[number]"),
    *((pattern, "name", "[name]") for pattern in (SIGNED, INTRODUCED, PRESENTED, TITLED, TYPED)),
)
#: Shorter parts of a name, such as “de”, are words of the language too.
LEAST_OF_A_NAME = 3
#: One letter, whichever way it is written.
SHARP_S = re.compile("ß|ss", re.IGNORECASE)


@lru_cache(maxsize=4_096)
def mask_pii(text: str) -> str:
    """Return the question on one line with [name], [e-mail], [phone] and [number] for personal data."""
    text = nfc(text)
    text = SIGNED.sub(r"\g<before>[name]", text.strip())
    text = " ".join(text.split())
    text = E_MAIL.sub("[e-mail]", text)
    text = IBAN.sub("[number]", text)
    text = LABELLED_NUMBER.sub(r"\g<label>[number]", text)
    text = PHONE.sub(lambda found: found[0] if DATE_OR_TIME.match(found[0]) else "[phone]", text)
    text = LONG_NUMBER.sub("[number]", text)
    for names in (INTRODUCED, PRESENTED, TITLED, TYPED):
        text = names.sub(r"\g<before>[name]", text)
    return text


def remove_pii(text: str, said: Iterable[str]) -> str:
    """Replace the student's personal data in the text by [name] and the like."""
    placeholders = dict(piece for earlier in said for piece in _find_personal_data(earlier))
    if placeholders:
        text = nfc(text)
    for piece in sorted(placeholders, key=len, reverse=True):
        if piece.casefold() in text.casefold():
            spelled = SHARP_S.sub("(?:ß|ss)", re.escape(piece))
            text = re.sub(rf"(?<!\w){spelled}(?!\w)", placeholders[piece], text, flags=re.IGNORECASE)
    return text


@lru_cache(maxsize=4_096)
def _find_personal_data(text: str) -> tuple[tuple[str, str], ...]:
    """Return a writer's personal data, each with its placeholder; an answer may hold a part of a name alone."""
    return tuple(_pieces(" ".join(nfc(text).split())))


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    if mask_pii(text) == text:
        return
    for pattern, group, said in TELLING:
        for found in pattern.finditer(text):
            piece = found[group].strip()
            yield piece, said
            if said == "[name]":
                yield from ((part, said) for part in piece.split() if len(part) >= LEAST_OF_A_NAME)


def standalone_text(message: Message) -> str:
    """Return the question as it stands alone, on one line, in the student's own words."""
    return undo_spelling(message.answer.rewritten or message.text, message.answer.readings)


def undo_spelling(text: str, readings: Sequence[Mapping[str, Any]]) -> str:
    """Return the text on one line with the words that the student wrote, where they were read as misspelt.

    `readings` are the answer's. The pages lacked such a word: the one that was read instead may mean something else.
    """
    text = " ".join(text.split())
    for reading in readings:
        if reading["step"] == Step.SPELLING:
            for read in reading["read_as"]:
                text = re.sub(rf"\b{re.escape(read)}\b", reading["word"].replace("\\", ""), text, flags=re.IGNORECASE)
    return text


def anonymised_texts(questions: Sequence[Message]) -> list[str]:
    """Return each question as it stands alone, without personal data.

    That is what was found in it, or anywhere in what the student wrote beside it: a rewritten question may hold a
    name from an earlier one.
    """
    said = defaultdict(list)
    written = Message.objects.filter(
        role=Message.Role.USER, conversation__in={question.conversation_id for question in questions}
    )
    for conversation, text in written.order_by("pk").values_list("conversation", "text"):
        said[conversation].append(text)
    return [remove_pii(mask_pii(standalone_text(question)), said[question.conversation_id]) for question in questions]
