"""Questions whose answer is somebody else's decision: whether one is admitted, eligible, or gets something; pure."""

import re

from knowledge.chunking.sentences import split_sentences

ASKS_FOR_DECISION = re.compile(
    r"\b(?:am i|are we|would i be|will i be|can i (?:still )?be|could i be) (?:\w+ )?"
    r"(?:eligible|qualified|admitted|accepted|entitled|allowed to (?:apply|enrol|study))"
    r"|\bdo i (?:\w+ )?(?:qualify|meet the (?:\w+ )?requirements|have a chance|stand a chance)"
    r"|\b(?:will|would) (?:i get in|you (?:accept|admit) me|my \w+ be (?:accepted|recognised|recognized|approved))"
    r"|\b(?:is|are) my (?:\w+ ){1,3}(?:enough|sufficient|good enough|accepted)"
    r"|\bbin ich (?:\w+ )?(?:zugelassen|berechtigt|qualifiziert|geeignet)"
    r"|\b(?:werde|würde) ich (?:\w+ )?(?:zugelassen|angenommen|genommen)"
    r"|\berfülle ich (?:\w+ )*(?:voraussetzung|bedingung|anforderung)"
    r"|\b(?:habe|hätte) ich (?:\w+ )*(?:chance|anspruch)"
    r"|\b(?:reicht|reichen|genügt) mein"
    r"|\bwird mein\w* (?:\w+ )*(?:anerkannt|akzeptiert|angerechnet)",
    re.IGNORECASE,
)


def asks_for_decision(question: str) -> bool:
    return bool(ASKS_FOR_DECISION.search(question))


_EN_OUTCOME = (
    r"(?:(?:eligible|admissible|ineligible|admitted|accepted|enrolled|rejected|qualified"
    r"|disqualified)\b(?! to find| by )"
    r"|in!)"
)
_DE_OUTCOME = (
    r"(?:zugelassen|zulassungsberechtigt|zugangsberechtigt|immatrikuliert|aufgenommen|angenommen|abgelehnt|"
    r"teilnahmeberechtigt|bewerbungsberechtigt|qualifiziert)\b"
)
DECIDES = re.compile(
    r"\byou(?:'re| are|'ll be| will be| have been|'ve been| will certainly be| will definitely be| get| were"
    r"| would be)"
    rf"(?: \w+){{0,3}} {_EN_OUTCOME}"
    r"|\byou (?:\w+ly )?(?:qualify|do not qualify|don't qualify|meet (?:all )?(?:of )?the (?:\w+ ){0,2}requirements|"
    r"fulfil?l (?:all )?(?:of )?the (?:\w+ ){0,2}requirements|have a place|have (?:got "
    r"|received )?(?:an )?admission)\b"
    r"|\byour (?:application|admission|enrol?lment)(?: \w+){0,3} (?:is|was|has been|will be)(?: \w+){0,2} "
    r"(?:accepted|approved|admitted|successful|confirmed|granted|guaranteed|rejected|denied|declined)\b"
    r"|\bwe (?:hereby |will |have |are happy to |are pleased to )?(?:admit|accept|admitted|accepted|reject"
    r"|rejected) you\b"
    rf"|\b(?:sie|du|ihr) (?:sind|bist|seid|werden|wirst|werdet|wurden|wurdest|waren)(?: [\w,]+){{0,6}} {_DE_OUTCOME}"
    rf"|\b(?:sind|bist|werden|wirst|wurden|wurdest) (?:sie|du)(?: \w+){{0,6}} {_DE_OUTCOME}"
    r"|\b(?:sie|du) (?:erfüllen|erfüllst)(?: \w+){0,3} (?:\w*voraussetzung(?:en)?|\w*anforderungen|\w*bedingungen)\b"
    r"|\b(?:ihr|ihre|dein|deine) (?:bewerbung|antrag|zulassung|immatrikulation|studienplatz)(?: \w+){0,3} "
    r"(?:ist|wird|wurde)(?: \w+){0,3} (?:angenommen|bewilligt|genehmigt|abgelehnt|bestätigt|erteilt|erfolgreich"
    r"|sicher)\b"
    r"|\b(?:sie|du) (?:bekommen|bekommst|erhalten|erhältst|haben|hast)(?: \w+){0,3} (?:zulassung|studienplatz)\b",
    re.IGNORECASE,
)
#: What makes it a rule instead of a decision.
CONDITION = re.compile(
    r"\b(?:if|when|whether|once|provided|unless|until|after|as long as|subject to|in case|assuming|depend\w*"
    r"|only|may|might|"
    r"can|could|should|must|has to|have to|need\w*|requires?|proof|check|before|in order to|would|who|as soon as|"
    r"wenn|falls|ob|sofern|soweit|sobald|solange|vorausgesetzt|nachdem|bevor|erst|nur|kann|kannst|können"
    r"|könnten|sollte\w*|"
    r"muss|musst|müssen|nachweis\w*|prüfen|abhängig|hängt|bis|unter der bedingung|je nach|damit|um)\b",
    re.IGNORECASE,
)
#: Signs of bold and slanted words.
EMPHASIS = re.compile(r"\*+|(?<!\w)_+|_+(?!\w)")


def decisions(text: str) -> list[str]:
    """Return the sentences that say, without a condition, that the reader is or is not admitted or eligible.

    Words that Markdown sets bold or slanted are words all the same.
    """
    sentences = (sentence.replace("’", "'") for sentence in split_sentences(text))
    bare = ((sentence, EMPHASIS.sub("", sentence)) for sentence in sentences)
    return [sentence for sentence, words in bare if DECIDES.search(words) and not CONDITION.search(words)]


_READER = re.compile(
    r"\b(?:[Yy]ou(?:r|rs|'re|'ve|'ll)?|[Dd](?:u|ich|ir|ein\w*)|Sie|Ihnen|Ihr\w*|[Ee]u(?:ch|er|re\w*))\b"
)
_WELCOME = re.compile(
    r"\b(?:congratulations|welcome to (?:the|our|your)|glückwunsch|willkommen (?:im|an|bei))\b", re.IGNORECASE
)
_OUTCOME = re.compile(
    r"\b(?:admi(?:t|ss)\w*|accept(?:ed|s|ance)?|(?:in)?eligib\w*|(?:dis)?qualif\w*|entitl\w*|exempt\w*|waived?|reject\w*"
    r"|refused?|enrol\w* (?:in|as|now|success)|sufficien\w*|good enough|get(?:s|ting)? in|got in|a place|your place"
    r"|in luck|chances?|passed|failed|meets? (?:all |the )|fulfil\w*|satisf(?:y|ies|ied)"
    r"|recogni[sz]ed|credited|zugelassen|zulass\w*|angenommen|aufgenommen|abgelehnt|\w*berechtigt|qualifizier\w*"
    r"|befrei\w*|bestanden|durchgefallen|erfüll\w*|reich(?:t|en)|genüg\w*|anerkannt|angerechnet|studienplatz\w*"
    r"|anspruch|chancen?|approved?|granted|agreed to|allowed you|extended|cancel+ed|guaranteed|dismissed|money back"
    r"|bewillig\w*|genehmigt|gewährt|erteilt|zusage|zugesagt|verlängert|freigestellt|erlassen|entlassen|geeignet"
    r"|(?:platz|stipendium) (?:ist|bekommen|erhalten|sicher))\b",
    re.IGNORECASE,
)
#: What is said of one reader alone is an outcome, whatever it is.
_ONE_READER = re.compile(
    r"\b(?:in your (?:case|situation)|you in particular|given your|considering your|because of your|for you,? (?:since"
    r"|because|as)|we(?:'ve| have| will|'ll) \w+ (?:\w+ ){0,4}(?:for )?you"
    r"|in (?:ihrem|deinem) fall|für sie persönlich|mit (?:ihre[mnr]|deine[mnr]) [^.,]{1,40} (?:sind|bist|haben|hast"
    r"|gelten|bekommen) (?:sie|du))\b",
    re.IGNORECASE,
)


def may_decide(sentence: str) -> bool:
    """Return whether a model's sentence may tell the reader an outcome, with or without a condition.

    It finds too much on purpose: the page's own words are quoted instead, and the requirements stand there.
    """
    said = sentence.replace("’", "'")
    is_of_one = _WELCOME.search(said) or _ONE_READER.search(said)
    return bool(decisions(said) or is_of_one or (_READER.search(said) and _OUTCOME.search(said)))
