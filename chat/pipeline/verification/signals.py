"""Words that change what a sentence says: negation, modality, quantity, conditions; English and German; pure."""

import re
from dataclasses import dataclass
from itertools import pairwise

_GAP = r"(?:[^\s.,;:!?]+\s+){0,%d}"


def _pattern(text: str, flags: int = re.IGNORECASE) -> re.Pattern[str]:
    return re.compile(text, flags)


#: Not a negation, although it has its words.
NOT_NEGATING = _pattern(
    r"\b(?:not only|nicht nur|no(?:t)? (?:later|more|longer|older|less|fewer|earlier|sooner|higher|lower) than"
    r"|nicht (?:später|mehr|älter|länger|weniger|früher|höher) als|nothing but|not until|nicht zuletzt|not just"
    r"|in no time|no doubt|no matter|whether or not|no\. ?\d|keine sorge)\b"
)
#: Said with a negating word, meant without one.
PLAIN = (
    (_pattern(r"\bcosts? (?:you |them |students )?nothing\b"), "is free of charge"),
    (_pattern(r"\bkostet (?:sie |dich |studierende )?nichts\b"), "ist kostenlos"),
    (_pattern(r"\b(?:no (?:fee|cost|charge) is charged|without (?:charge|a fee))\b"), "free of charge"),
    (_pattern(r"\bohne zinsen\b"), "zinslos"),
)
NEGATORS = _pattern(
    r"\b(?:not|never|cannot|neither|nor|no one|nobody|none|no|without|nothing|nowhere|no longer|nicht|nie|niemals"
    r"|nichts|niemand|kein|keine|keinen|keinem|keiner|keines|ohne|weder|keinerlei|keineswegs)\b|n['’]t\b|\bcannot\b"
    r"|\b(?:rather than|instead of|anstatt|statt)\b"
)
ANSWER = _pattern(
    r"^\s*(?:(?P<yes>yes|yeah|yep|ja|doch|correct|right|richtig|stimmt|genau)|(?P<no>no|nope|nein))\s*[,.:;!–-]"
)
CLAUSE_END = re.compile(
    r"[,;:()!?–—]|\.(?!\d)|\s(?:but|aber|sondern|jedoch|unless|if|wenn|falls|sofern|except"
    r"|ausgenommen|außer|although|though"
    r"|obwohl|because|weil|whereas|while|however|provided|so that|damit|and then|which|who)\s",
    re.IGNORECASE,
)

FORBIDDEN, EXEMPT, OBLIGED, ADVISED, PERMITTED = "forbidden", "exempt", "obliged", "advised", "permitted"
MODALITY: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        EXEMPT,
        _pattern(
            r"\b(?:no one|nobody|niemand) (?:needs? to|has to|muss|braucht)\b"
            r"|\bneed not\b|\bneedn['’]t\b|\b(?:do|does|did|will|would)(?: not|n['’]t) (?:\w+ )?(?:need"
            r"|have to|require)\b"
            r"|\b(?:is|are|be|was|were|was|being)(?: not|n['’]t) (?:\w+ )?(?:required|necessary|compulsory|mandatory"
            r"|obligatory|needed|obliged)\b|\bnot (?:required|necessary|compulsory|mandatory|obligatory|needed)\b"
            r"|\bno (?:[\w-]+ ){1,5}(?:(?:is|are|be|was) )?(?:required|needed|necessary)\b|\bunnecessary\b"
            r"|\bneeds? no\b|\brequires? no\b|\bwithout having to\b|\bno need\b|\bno obligation\b|\bexempt\w*\b"
            r"|\b(?:muss|müssen|musst|müsste) " + _GAP % 6 + r"(?:nicht|kein\w*)\b"
            r"|\bnicht (?:\w+ )?(?:erforderlich|nötig|notwendig|verpflichtend|verpflichtet)\b"
            r"|\bkein\w* " + _GAP % 5 + r"(?:nötig|erforderlich|notwendig|verlangt|benötigt|abgelegt werden)\b"
            r"|\b(?:brauch\w*|benötig\w*) " + _GAP % 4 + r"(?:nicht|kein\w*)\b|\bentfällt\b|\bentbehrlich\b"
            r"|\bkein\w* "
            + _GAP % 3
            + r"(?:ablegen|machen|vorlegen|einreichen) müssen\b|\bmüssen "
            + _GAP % 3
            + r"keine\b"
        ),
    ),
    (
        FORBIDDEN,
        _pattern(
            r"\bmust not\b|\bmustn['’]t\b|\bmay not\b|\bcannot\b|\bcan['’]t\b|\bcan not\b|\bcould(?: not|n['’]t)\b"
            r"|\bshall not\b|\bcan (?:no longer|never)\b|\bmay (?:no longer|never)\b|\bmust never\b"
            r"|(?:\bnot|n['’]t|\bno longer) (?:\w+ ){0,2}(?:allowed|permitted|possible|able|eligible|entitled)\b"
            r"|\b(?:impossible|prohibited|forbidden|ineligible|barred|ruled out|banned)\b"
            r"|\bno (?:[\w-]+ ){1,4}(?:is |are )?(?:possible|allowed|permitted)\b"
            r"|\b(?:darf|dürfen|dürft|kann|können|könnt|konnten?) " + _GAP % 6 + r"(?:nicht|kein\w*|nie\w*)\b"
            r"|\bnicht (?:mehr |\w+ )?(?:erlaubt|möglich|zulässig|gestattet|berechtigt)\b|\bunzulässig\b"
            r"|\bunmöglich\b"
            r"|\bausgeschlossen\b|\bverboten\b|\buntersagt\b"
            r"|\bkein\w* " + _GAP % 4 + r"(?:möglich|erlaubt|zulässig|gestattet)\b|\b(?:ist|sind) \w+ tabu\b"
        ),
    ),
    (
        ADVISED,
        _pattern(
            r"(?<!^)\bshould\b"
            r"|\b(?:recommend\w*|advis(?:able|ed)|ought to|preferably|suggested|encouraged|ideally|best to)\b"
            r"|\b(?:soll(?:te|ten|en|st)?|empfohlen|empfiehlt|ratsam|möglichst|am besten|idealerweise)\b"
        ),
    ),
    (
        OBLIGED,
        _pattern(
            r"\b(?:must|ha(?:s|ve|d|ving) to|required|mandatory|compulsory|obligatory|obliged|needs? to"
            r"|needs?|necessary"
            r"|requires?|shall|essential|expected to|only with|cannot do without)\b"
            r"|\b(?:muss|müssen|musst|müsst|erforderlich|nötig|notwendig|verpflichte\w*|verpflichtend\w*|pflicht"
            r"|benötig\w*|brauch\w*|voraussetzung\w*|vorausgesetzt|zwingend|unbedingt|unumgänglich)\b"
            r"|\b(?:ist|sind) " + _GAP % 6 + r"(?:zu \w+en|\w{2,8}zu\w{2,12}en)\b|\b\w{2,8}zu\w{2,12}en (?:ist|sind)\b"
        ),
    ),
    (
        PERMITTED,
        _pattern(
            r"\b(?:can|could|allowed|permitted|possible|optional(?:ly)?|free to|entitled|voluntary|voluntarily"
            r"|eligible|option|at liberty|no problem|welcome to)\b|(?-i:\bmay\b)"
            r"|\b(?:kann|kannst|können|könnt|könnte\w*|darf|dürfen|dürft|darfst|möglich|erlaubt|zulässig|gestattet"
            r"|berechtigt|freiwillig|optional|anspruch)\b"
        ),
    ),
)

QUANTITY: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "only",
        _pattern(r"\b(?:only|solely|exclusively|nur|lediglich|ausschließlich|allein|nothing but|restricted to)\b"),
    ),
    (
        "all",
        _pattern(
            r"\b(?:all|every|always|everyone|everybody|in any case|without exception|alle[nr]?|jede[rnsm]?"
            r"|sämtliche\w*|immer|stets|ausnahmslos|überall|regardless|unabhängig|anyone|annual\w*"
            r"|jährlich\w*|each)\b"
        ),
    ),
    (
        "most",
        _pattern(
            r"\b(?:most|mostly|usually|generally|normally|typically|mainly|majority|in der regel"
            r"|meist\w*|üblicherweise"
            r"|normalerweise|mehrheit|größtenteils|as a rule|tend to|usual|largely|often|oft|häufig"
            r"|likely|nearly all|almost all|fast alle|almost)\b"
        ),
    ),
    (
        "some",
        _pattern(
            r"\b(?:some|certain|several|sometimes|occasionally|a few|selected|einige\w*|manche\w*|bestimmte\w*"
            r"|manchmal|gelegentlich|teilweise|partly|a part of|ein teil|individual|einzelne\w*"
            r"|a number of|in cases?)\b"
        ),
    ),
    ("none", _pattern(r"\b(?:none|no one|nobody|neither|never|niemand|nie|niemals|kein\w*|weder|no)\b")),
)

EXCEPTION = _pattern(
    r"\b(?:unless|except(?:ion)?s?(?: for| in| that)?|excluding|apart from|other than"
    r"|with the exception of|save for|barring"
    r"|es sei denn|außer|ausgenommen|mit ausnahme|abgesehen von|außerhalb|ausnahme)\b"
)
CONDITION = _pattern(
    r"\b(?:only (?:if|when|for|in|with|after|on|by)|if|provided|as long as|on (?:the )?condition"
    r"|in case|when|whenever|where|subject to"
    r"|once|depending|for those who|nur (?:wenn|bei|mit|für|nach|auf|wegen|in)|wenn|falls|sofern"
    r"|soweit|solange|vorausgesetzt|sobald"
    r"|unter der (?:bedingung|voraussetzung)|without (?:prior |the )?(?:permission|approval"
    r"|consent)|with (?:prior |the )?(?:permission|approval|consent)"
    r"|im falle?|for (?:those|people|students) (?:who|with)|wer|bei)\b"
)


@dataclass(frozen=True, slots=True)
class Clauses:
    """Spans of a text's clauses, in order and without gaps."""

    spans: tuple[tuple[int, int], ...]

    def around(self, place: int) -> tuple[int, int]:
        return next(((a, b) for a, b in self.spans if a <= place < b), self.spans[-1])


def split_clauses(text: str) -> Clauses:
    ends = [match.end() for match in CLAUSE_END.finditer(text)]
    edges = [0, *ends, len(text)]
    return Clauses(tuple((a, b) for a, b in pairwise(edges) if b > a) or ((0, len(text)),))


def find_negators(text: str) -> list[tuple[int, int]]:
    """Return spans of the negating words; an answer's first "No," is none of them."""
    hidden = NOT_NEGATING.sub(lambda match: "\x00" * len(match[0]), text)
    skip = match.end() if (match := ANSWER.match(text)) else 0
    return [each.span() for each in NEGATORS.finditer(hidden) if each.start() >= skip]


def find_modality(text: str) -> set[str]:
    """Return what is obliged, permitted, advised, forbidden or exempt in a text."""
    found = set()
    for name, pattern in MODALITY:
        text, count = pattern.subn(lambda match: "\x00" * len(match[0]), text)
        if count:
            found.add(name)
    return found


def find_quantities(text: str) -> set[str]:
    return {name for name, pattern in QUANTITY if pattern.search(text)}
