"""Messages that no page answers: greetings, thanks, questions about the assistant itself, and cries for help.

They are told by their wording and answered with sentences of our own, whatever model there is.
"""

import re
from collections.abc import Sequence

from django.utils.translation import gettext as _

from chat.models import Message

Route = Message.Route
GREETING = re.compile(
    r"(?:hi+|hello|hey+|hiya|good (?:morning|afternoon|evening|day)|greetings|hallo+|hallöchen"
    r"|guten (?:tag|morgen|abend)|moin(?: moin)?|servus|gr(?:ü|ue)(?:ß|ss) (?:gott|dich|sie)|grüezi|salut|bonjour)"
    r"(?:[ ,]+(?:there|you|all|everyone|bot|zusammen|dir|ihnen|how are you|wie geht(?:s|'s| es (?:dir|ihnen))))*",
    re.IGNORECASE,
)
THANKS = re.compile(
    r"(?:ok(?:ay)?|great|super|perfect|perfekt|cool|nice|ah|oh|alles klar|good|gut|yes|ja|no|nein)?[ ,.!]*"
    r"(?:(?:many )?thanks?(?: you)?"
    r"(?: (?:a lot|so much|very much|again|for (?:your|the) (?:help|answer|info(?:rmation)?)))*|thx|ty|cheers"
    r"|(?:vielen |herzlichen |besten )?danke?"
    r"(?: (?:schön|sehr|dir|ihnen|vielmals|für (?:die|deine|ihre) (?:hilfe|antwort|info(?:rmation(?:en)?)?)))*"
    r"|merci|that helps?|that helped|das hilft(?: mir)?)",
    re.IGNORECASE,
)
FAREWELL = re.compile(
    r"(?:good ?bye|bye(?: bye)?|see you(?: later| soon)?|tsch(?:ü|ue)ss?i?|auf wiedersehen|ciao"
    r"|bis (?:dann|bald|später))(?:[ ,]+(?:thanks|thank you|danke))?",
    re.IGNORECASE,
)
ABOUT_ITSELF = re.compile(
    r"(?:(?:so|and|und|also)[ ,]+)?"
    r"(?:what (?:can|do) you (?:do|know|help (?:me )?with|answer)(?: for me| about)?"
    r"|how (?:can|do) you (?:help(?: me)?|work)|(?:who|what) are you|what(?:'s| is) your name"
    r"|who (?:made|built|runs) you"
    r"|are you (?:a |an )?(?:bot|robot|human|person|machine|ai|real(?: person)?|chatbot|computer|chatgpt)"
    r"|(?:wobei|womit|wie) (?:kannst du|können sie) (?:mir )?helfen|was (?:kannst|weißt|machst) du(?: alles)?"
    r"|was (?:können|wissen|machen) sie(?: alles)?|wer (?:bist du|sind sie)|wie (?:heißt du|heißen sie)"
    r"|(?:bist du|sind sie) (?:ein |eine )?(?:bot|roboter|mensch|maschine|ki|chatbot|programm|computer)"
    r"|help|hilfe)",
    re.IGNORECASE,
)
#: Said of oneself only: a question about a counselling service is a question.
CRISIS = re.compile(
    r"\bi(?:'m| am|'ve| have| just)? ?(?:really |going to |gonna |thinking (?:of|about) |want(?:ing)? to |wanna "
    r"|feel like )*(?:kill(?:ing)? myself|end(?:ing)? (?:my life|it all)|hurt(?:ing)? myself|suicidal"
    r"|commit(?:ting)? suicide|(?<=to )die\b(?! of)|(?<=wanna )die\b)"
    r"|\bi (?:do not|don't|dont) want to (?:live|be alive)\b"
    r"|\b(?:werde|will|möchte|könnte|muss|wollte) (?:ich )?mich (?:selbst )?(?:umbringen|töten)\b"
    r"|\bbringe? ich mich (?:noch )?um\b|\bich bringe? mich (?:noch )?um\b"
    r"|\bich (?:will|möchte|werde|könnte|muss|wollte) (?:mich (?:selbst )?(?:umbringen|töten|verletzen)|sterben"
    r"|nicht mehr leben|mir (?:das leben nehmen|etwas antun|was antun)|selbstmord begehen)"
    r"|\bich (?:habe|hab) (?:suizid|selbstmord)(?:gedanken|absichten)\b|\bich bin suizidal\b",
    re.IGNORECASE,
)
EDGES = " \t\n.,!?…:;-()'\"😀🙂😊👍🙏❤️"
#: Suggestions that a description of the assistant names.
EXAMPLES = 3


def route_of(text: str) -> Message.Route | None:
    """What the message plainly is; None for whatever may be a question."""
    if CRISIS.search(text):
        return Route.UNSAFE
    said = " ".join(text.split()).strip(EDGES)
    if any(pattern.fullmatch(said) for pattern in (GREETING, THANKS, FAREWELL)):
        return Route.CHIT_CHAT
    return Route.META if ABOUT_ITSELF.fullmatch(said) else None


def chit_chat_reply(text: str) -> str:
    said = " ".join(text.split()).strip(EDGES)
    if THANKS.fullmatch(said):
        return _("You are welcome. If there is anything else, just ask.")
    if FAREWELL.fullmatch(said):
        return _("Goodbye, and good luck with your studies.")
    if GREETING.fullmatch(said):
        return _("Hello! What would you like to know?")
    return _("I am better at questions about studying here. What would you like to know?")


def self_description(assistant: str, institution: str, suggestions: Sequence[str]) -> str:
    """In Markdown, with a few questions that it answers."""
    text = _(
        "I am %(assistant)s, a program, not a person. I answer questions about %(institution)s from its own pages and "
        "name the page that each answer comes from. Where they hold no answer, I say so. I decide nothing, and I know "
        "nothing about you but what you write here."
    ) % {"assistant": assistant, "institution": institution}
    if suggestions:
        examples = "\n".join(f"- {suggestion}" for suggestion in suggestions[:EXAMPLES])
        text += "\n\n" + _("You can ask, for example:") + "\n\n" + examples
    return text


def unsafe_reply(text: str) -> str:
    """To somebody in need, where to find help now; to anything else, what this is for."""
    if CRISIS.search(text):
        return _(
            "That sounds very hard, and I am only a program: please talk to a person now. In an emergency call 112. "
            "The German TelefonSeelsorge listens at any hour, free of charge and without asking your name: "
            "0800 111 0 111 or 116 123."
        )
    return _("I cannot help with that. I answer questions about studying here.")
