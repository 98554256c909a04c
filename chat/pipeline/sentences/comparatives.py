"""Recognises questions that compare, English and German: only all rows of a table together answer one; pure.

Superlatives have endings that some nouns and verbs have too; those are listed. German nouns begin with a capital. The
lists and rules below also leave out those that students write in small letters.
"""

import re

from core.language import detect_language


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Words that ask for a comparison whatever stands beside them.
WORDS = re.compile(
    r"\b(?:best|worst|most|least|maximum|cheaper|worse|compar\w+|differen\w+|versus|vs|overview"
    r"|teurer|billiger|günstiger|schlechter|vergleich\w*|unterschied\w*|überblick"
    r"|(?:höch|niedrig|teuer|billig|günstig|läng|kürze|frühe|späte|klein)ste[mnrs]?|größte[mnrs]?)\b",
    re.IGNORECASE,
)
#: A least or latest value is asked for, and no comparison.
BOUNDS = re.compile(
    r"\bat (?:least|most|best|worst|the (?:very )?(?:latest|earliest|most|least))\b|\bmost (?:likely|of)\b"
    r"|\blatest (?:news|versions?|updates?|information|info|editions?|dates?)\b",
    re.IGNORECASE,
)
ENGLISH_SUPERLATIVE = re.compile(r"\b[a-z]{2,}est\b", re.IGNORECASE)
NO_ENGLISH_SUPERLATIVES = _words("""
    arrest attest budapest bequest chest conquest contest crest detest digest divest earnest ernest everest fest forest
    guest harvest honest infest ingest inquest interest invest jest lest manifest midwest modest molest nest northwest
    pest pretest priest protest quest reinvest request rest retest self-interest southwest suggest tempest test unrest
    vest west zest
""")
#: The weak forms, which stand behind an article.
GERMAN_SUPERLATIVE = re.compile(r"\b(?:am|der|die|das|den|dem|des|im|vom|zum|zur)\s+([a-zäöüß]{2,}(?:s|ß)ten?)\b")
#: Ordinals, participles ("verpasste") and nouns ("juristen", "kosten", "gäste"); "meiste" and "genauste" are none.
NO_GERMAN_SUPERLATIVE = re.compile(
    r"(?:(?:aller)?erste|nächste|naechste|(?:.*(?:zig|ßig|ssig|hundert|tausend))ste|.*[^rö]sste|.*(?<!e)iste|.*(?<!a)uste"
    r"|.*(?:o|ä|ü)ste|.*(?<!a)aste|(?:.?[^b])?este|.*proteste|.*(?:dien|gun|kün|ern)ste|(?:wür|bür|für|for|dur)ste|ängste"
    r"|mu(?:ss|ß)te|.*fa(?:ss|ß)te)n?"
)
#: "am nächsten Montag" asks for a day.
NEAREST = re.compile(r"\bam nächsten(?=\s*(?:[?.!,]|$|(?:an|bei|beim|zu|zum|zur|liegt|ist|gelegen)\b))", re.IGNORECASE)
#: What is compared with a figure is a condition: "older than 30", "mehr als drei Mal".
NO_FIGURE = (
    r"(?!\s+\d|\s+(?:one|two|three|four|five|six|ten|just|only|nur|ein(?:e[mnrs]?)?|zwei|drei|vier|fünf|sechs|zehn)\b)"
)
THAN = re.compile(
    rf"\b(?:more|less|fewer)\b(?:\s+[\w-]+){{0,4}}\s+than\b{NO_FIGURE}"
    rf"|\b(?!rather|other)[a-z]{{2,}}er than\b{NO_FIGURE}"
    rf"|\b(?:mehr|weniger)\b(?:\s+[\w-]+){{0,4}}\s+als\b{NO_FIGURE}",
    re.IGNORECASE,
)
GERMAN_THAN = re.compile(rf"\b([a-zäöüß]{{2,}}er)\s+als\b{NO_FIGURE}")
NO_GERMAN_COMPARATIVES = _words("""
    aber bewerber bruder computer dozenter entweder fächer immer jeder keiner kinder lehrer leider master nummer oder
    partner semester sommer später unter vater wieder weder winter zimmer über älter früher
""")
#: "Which is larger?", "Is the ticket or the car better?"
CHOICE = re.compile(
    r"\b(?:which|what|who|welche\w*|was|wer)\b[^?]{0,60}\b(?:(?:bett|larg|bigg|small|long|short|high|low|fast|quick|slow"
    r"|easi|hard|old|young|new|near|clos|strict)er(?! education)|besser"
    r"|(?:größ|klein|läng|kürz|höh|niedrig|schnell|leicht|ält|jüng|neu|näh)er)\b"
    r"|\bor\b[^?]*\bbetter\b|\bbetter\b[^?]*\bor\b|\boder\b[^?]*\bbesser\b|\bbesser\b[^?]*\boder\b",
    re.IGNORECASE,
)


def asks_to_compare(question: str) -> bool:
    """Return whether only several things together answer a question: it has a comparative or superlative."""
    text = BOUNDS.sub(" ", question)
    if any(pattern.search(text) for pattern in (WORDS, NEAREST, THAN, CHOICE)):
        return True
    language = detect_language(question)
    english = (match[0].lower() for match in ENGLISH_SUPERLATIVE.finditer(text))
    if language != "de" and any(word not in NO_ENGLISH_SUPERLATIVES for word in english):
        return True
    superlatives = (match[1] for match in GERMAN_SUPERLATIVE.finditer(text))
    if language != "en" and any(not NO_GERMAN_SUPERLATIVE.fullmatch(word) for word in superlatives):
        return True
    comparatives = (match[1] for match in GERMAN_THAN.finditer(text))
    return any(word not in NO_GERMAN_COMPARATIVES for word in comparatives)
