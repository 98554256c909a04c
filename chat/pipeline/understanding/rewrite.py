"""Follow-ups made to stand alone by rule, where no language model does it; pure.

A follow-up is put behind the terms of the questions that it goes on from: back to the nearest one that stands alone
itself. A question that stands alone is left as it is, since rewriting those costs retrieval (SyllabusRAG).
"""

import re
from collections.abc import Sequence

from chat.pipeline.tuning import FEW_WORDS, FOLLOWED_TURNS
from core.terms import topic_words
from knowledge.chunking.periods import asked as asked_periods
from knowledge.chunking.periods import without_periods

#: Words that point at something without pointing back: "is it possible", "gibt es", "this semester".
POINTS_NOWHERE = re.compile(
    r"\b(?:is|are|was|were|will|would|can|could) (?:it|there) (?:be )?"
    r"(?:possible|necessary|required|allowed|mandatory|compulsory|enough|true|any|an?|some)\b"
    r"|\b(?:is|are|will|was|were) there\b|\bthere (?:is|are|was|were)\b"
    r"|\bth(?:is|ese|e same) (?:semester|term|year|month|week|day|summer|winter|time|university)s?\b"
    r"|\b(?:gibt es|es gibt|ist es (?:möglich|nötig|erlaubt|verpflichtend)|muss es|wie geht es)\b"
    r"|\bdies(?:e[mnrs]?)? (?:semesters?|jahre?s?|monate?s?|woche|tage?s?|sommers?|winters?)\b"
    r"|\bwhat else\b(?= .* .* )",
    re.IGNORECASE,
)
POINTS_BACK = re.compile(
    r"\b(?:it|its|itself|they|them|their|theirs|these|those|he|she|his|her|him|there|ones?|same|else|others?|more"
    r"|you said|es|er|ihn|ihm|ihr|ihre[mnrs]?|deren|dessen|denen|dies|diese[mnrs]?|jene[mnrs]?|dort|dorthin|davon"
    r"|dafür|dazu|dabei|darin|daran|darüber|danach|dagegen|hierfür|hierzu|selbe[mnrs]?|gleiche[mnrs]?|weitere[mnrs]?"
    r"|andere[mnrs]?|sonst|noch)\b"
    r"|\bthis\b|\b(?:of|for|about|with|to|in|on|from|is|was|does|do|did|can|after|before|like|and|why) that\b"
    r"|\b(?:that|then|dann)[?.! ]*$|\bdas(?:[?.! ]*$| (?:ist|kostet|geht|gilt|heißt|bedeutet|dauert)\b)",
    re.IGNORECASE,
)
#: "Sie" is whoever is spoken to where it is written large, so only the small one points back.
POINTS_BACK_SMALL = re.compile(r"(?<!^)\bsie\b")
GOES_ON = re.compile(
    r"^\W*(?:and|but|so|also|or|then|what about|how about|why|when|where|how|ok(?:ay)?|yes|no|und|oder|aber|also|dann"
    r"|auch|ja|nein|was ist mit|wie sieht es|wie ist (?:es|das)|warum|wieso|wann|wo)\b(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
#: Whose question is whole although it begins with such a word.
ASKS_ANEW = re.compile(r"^\W*(?:why|when|where|how|warum|wieso|wann|wo)\b", re.IGNORECASE)
#: An indefinite noun brings up something new (Heim 1982), and in a question that begins with such a word it is what is
#: asked about: "How much is a sauna visit?". In others it may be part of what was spoken of: "Is there a fee waiver?".
BRINGS_UP = re.compile(
    r"^\W*(?:(?:how|what|when|where|which|who|why|wie|was|wann|wo|welche[rs]?|wer|warum|wieso)\b|wie ?viel\b)"
    r"(?=.*\b(?:an?|eine?[nmrs]?) \w)",
    re.IGNORECASE | re.DOTALL,
)

#: A thing with its article, then a second half that may point at it: "Where is the library and when is it open?".
NAMES = re.compile(r"\b(?:the|an?|my|der|die|das|de[nms]|eine?[nmrs]?|meine?[nmrs]?) \w{3,}", re.IGNORECASE)
SECOND_HALF = re.compile(r"\b(?:and|or|und|oder)\b", re.IGNORECASE)
PRONOUN = re.compile(r"\b(?:it|they|them|es|er|sie|ihn|ihm|ihr)\b", re.IGNORECASE)


def points_outside(question: str) -> bool:
    """Return whether it refers to what was said before, and names nothing itself that it could mean instead."""
    named = NAMES.search(question)
    half = SECOND_HALF.search(question, named.end()) if named else None
    if half:
        question = question[: half.end()] + PRONOUN.sub(" ", question[half.end() :])
    return has_anaphora(question)


def has_anaphora(question: str) -> bool:
    """Return whether it refers to what was said before."""
    plain = POINTS_NOWHERE.sub(" ", question)
    if POINTS_BACK.search(plain) or POINTS_BACK_SMALL.search(plain):
        return True
    return bool(GOES_ON.match(question)) and not ASKS_ANEW.match(question)


def needs_context(question: str) -> bool:
    """Return whether it can only be understood from what was said before: it points back, or says too little itself."""
    return is_elliptical(question) or has_anaphora(question)


def is_elliptical(question: str) -> bool:
    """Return whether its own words leave open what it is about."""
    own = len(topic_words(question))
    brings_up = own == FEW_WORDS and BRINGS_UP.match(question) and not POINTS_BACK.search(question)
    return own <= FEW_WORDS and not brings_up


def condense_question(question: str, history: Sequence[tuple[str, str]]) -> str:
    """Put a follow-up behind the words that it goes on from; `history` is (role, text), oldest first."""
    asked = [text for role, text in history if role == "user"]
    if not asked or not needs_context(question):
        return question
    own = {word.lower() for word in topic_words(question)}
    turns: list[str] = []
    for text in reversed(asked[-FOLLOWED_TURNS:]):
        turns.insert(0, text)
        if not needs_context(text):
            break
    if asked_periods(question):  # "And in 2027?" no longer means the year before
        turns = [without_periods(text) for text in turns]
    topic: dict[str, str] = {}
    for word in (word for text in turns for word in topic_words(text)):
        if word.lower() not in own:
            topic.setdefault(word.lower(), word)
    return f"{' '.join(topic.values())}: {question}" if topic else question
