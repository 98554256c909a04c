"""Messages that no page answers: greetings, thanks and questions about the assistant itself, recognised by their
wording; and the built-in replies to them, to cries for help and to abuse.
"""

import re
from collections.abc import Sequence

from django.utils.translation import gettext as _

from chat.events import Contact
from chat.models import Message

Route = Message.Route
HOW_ARE_YOU = (
    r"(?:(?:and|und|na)[ ,]+)?(?:how (?:are|r) (?:you|u)(?: doing)?|how(?:['’]s| is) it going|what['’]?s up"
    r"|wie geht(?:['’]?s| es)(?: (?:dir|ihnen))?)(?: (?:today|heute|so))?"
)
GREETING = re.compile(
    r"(?:(?:hi+|hello|hey+|hiya|good (?:morning|afternoon|evening|day)|greetings|hallo+|hallöchen"
    r"|guten (?:tag|morgen|abend)|moin(?: moin)?|servus|gr(?:ü|ue)(?:ß|ss) (?:gott|dich|sie)|grüezi|salut|bonjour)"
    rf"(?:[ ,!]+(?:there|you|all|everyone|bot|zusammen|dir|ihnen|{HOW_ARE_YOU}))*|{HOW_ARE_YOU})",
    re.IGNORECASE,
)
ACKNOWLEDGED = (
    r"(?:(?:ah|oh|ok(?:ay)?|great|super|perfect|perfekt|cool|nice|good|gut|alles klar|got it|i see|understood"
    r"|verstanden|verstehe|sehr gut|very good)[ ,.!]*)+"
)
THANKS = re.compile(
    rf"(?:{ACKNOWLEDGED}|(?:{ACKNOWLEDGED}|(?:yes|ja|no|nein)[ ,.!]*)?"
    r"(?:(?:(?:many )?thanks?(?: you)?"
    r"(?: (?:a lot|so much|very much|again"
    r"|for (?:your|the|this|that)(?: \w+)? (?:help|answer|reply|info(?:rmation)?)))*"
    r"|thx|ty|cheers|(?:vielen |herzlichen |besten )?danke?"
    r"(?: (?:schön|sehr|dir|ihnen|vielmals"
    r"|für (?:die|deine|ihre)(?: \w+)? (?:hilfe|antwort|info(?:rmation(?:en)?)?)))*|merci)"
    r"(?:[ ,.!]+that helps?|[ ,.!]+that helped|[ ,.!]+(?:this|that|it)(?: was|['’]?s| is)(?: \w+)?"
    r" (?:helpful|great|useful|good|nice)|[ ,.!]+das (?:hilft|hat (?:mir )?(?:sehr )?geholfen"
    r"|war (?:sehr )?(?:hilfreich|gut|nett)))?"
    r"|(?:that|this|it) helps?|(?:that|this|it) helped|das hilft(?: mir)?|das hat (?:mir )?(?:sehr )?geholfen))",
    re.IGNORECASE,
)
#: Said of an answer or of the assistant; "Is that right?" is a question.
DISPLEASED = re.compile(
    r"(?:(?:no|nein|but|aber)[ ,.!]+)?"
    r"(?:(?:you(?:['’]?re| are)|(?:that|this|it)(?:['’]?s| is| was)|du bist|sie sind|das (?:ist|war))"
    r"(?:(?: (?:so|really|very|totally|completely|just|an?|echt|total|sehr|ganz|ein|doch))*"
    r" (?:useless|stupid|dumb|wrong|bad|rubbish|nonsense|idiot|dumm|doof|blöd|nutzlos|falsch|schlecht|unsinn|quatsch)"
    r"| (?:not|nicht)(?: (?:really|very|sehr|wirklich))?"
    r" (?:right|true|correct|helpful|useful|what i (?:asked|meant|wanted)"
    r"|richtig|hilfreich|was ich (?:gefragt|gemeint) habe))"
    r"|(?:das )?stimmt (?:so )?nicht|wrong|falsch"
    r"|(?:that|this|it) (?:does not|doesn['’]?t|did not|didn['’]?t) help(?: me)?"
    r"|das (?:hilft|bringt) (?:mir )?(?:nicht|nichts|gar nichts)(?: weiter)?|fuck(?: (?:you|off))?|shit|scheiße|idiot)",
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
LANGUAGES = r"(?:english|german|englisch|deutsch)"
ABOUT_LANGUAGES = re.compile(
    rf"(?:can|do) you (?:also )?(?:speak|understand|know|write|answer in) {LANGUAGES}"
    rf"|(?:kannst|sprichst|verstehst) du (?:auch )?{LANGUAGES}(?: (?:sprechen|verstehen))?"
    rf"|(?:können|sprechen|verstehen) sie (?:auch )?{LANGUAGES}(?: (?:sprechen|verstehen))?",
    re.IGNORECASE,
)
WANTS_PERSON = re.compile(
    r"(?:please |bitte )?(?:(?:can|could|may) i|i(?: want|['’]?d like| would like| need) to)"
    r" (?:talk|speak|chat|write) (?:to|with) (?:an? )?(?:real |actual )?"
    r"(?:human(?: being)?|person|people|somebody|someone)(?: please)?"
    r"|(?:kann|könnte|darf) ich (?:bitte )?mit (?:einem|einer)(?: echten| richtigen)?"
    r" (?:menschen|person|mitarbeiter(?:in)?) (?:sprechen|reden|schreiben)"
    r"|ich (?:will|möchte|würde gern(?:e)?) (?:bitte )?mit (?:einem|einer)(?: echten| richtigen)?"
    r" (?:menschen|person|mitarbeiter(?:in)?) (?:sprechen|reden)",
    re.IGNORECASE,
)
EDGES = " \t\n.,!?…:;-()'\"😀🙂😊👍🙏❤️"
#: Suggestions that a description of the assistant names.
EXAMPLES = 3


def route_of(text: str) -> Message.Route | None:
    """What the message plainly is; None for whatever may be a question."""
    said = _said(text)
    if any(pattern.fullmatch(said) for pattern in (GREETING, THANKS, FAREWELL, DISPLEASED)):
        return Route.CHIT_CHAT
    about_itself = (ABOUT_ITSELF, ABOUT_LANGUAGES, WANTS_PERSON)
    return Route.META if any(pattern.fullmatch(said) for pattern in about_itself) else None


def wants_person(text: str) -> bool:
    return bool(WANTS_PERSON.fullmatch(_said(text)))


def chit_chat_reply(text: str) -> str:
    said = _said(text)
    if DISPLEASED.fullmatch(said):
        return _("I am sorry that this did not help. Please ask again in other words, or say more of what it is about.")
    if THANKS.fullmatch(said):
        return _("You are welcome. If there is anything else, just ask.")
    if FAREWELL.fullmatch(said):
        return _("Goodbye, and good luck with your studies.")
    if GREETING.fullmatch(said):
        return _("Hello! What would you like to know?")
    return _("I am better at questions about studying here. What would you like to know?")


def person_reply(contact: Contact | None) -> str:
    """Who helps, to somebody who would rather speak to a person."""
    if contact is None:
        return _("I am a program and cannot put you through to anybody. The university’s own pages name its offices.")
    named = ", ".join(part for part in (contact.name, contact.email, contact.url) if part)
    return _("I am a program and cannot put you through to anybody, but people help you here: %(contact)s") % {
        "contact": named
    }


def self_description(assistant: str, institution: str, suggestions: Sequence[str], languages: Sequence[str]) -> str:
    """In Markdown, with a few questions that it answers."""
    text = _(
        "I am %(assistant)s, a program, not a person. I answer questions about %(institution)s from its own pages and "
        "name the page that each answer comes from. Where they hold no answer, I say so. I decide nothing, and I know "
        "nothing about you but what you write here."
    ) % {"assistant": assistant, "institution": institution}
    if len(languages) > 1:
        text += " " + _("Write in English or in German; I answer in the language of your question.")
    if suggestions:
        examples = "\n".join(f"- {suggestion}" for suggestion in suggestions[:EXAMPLES])
        text += "\n\n" + _("You can ask, for example:") + "\n\n" + examples
    return text


def _said(text: str) -> str:
    return " ".join(text.split()).strip(EDGES)


def abuse_reply() -> str:
    return _("I cannot help with that. I answer questions about studying here.")


def help_reply(route: str) -> str:
    """Return what to do now, for somebody in this kind of need, in Markdown."""
    if route == Route.EMERGENCY:
        return _(
            "**If somebody is in danger, call 112 now.** I am only a program and cannot call for you.\n\n"
            "- Get yourself to safety first, and warn others.\n"
            "- Say where you are, what has happened, and how many people are hurt. Wait for questions.\n"
            "- In a fire: leave by the stairs, never by the lift, and close doors behind you.\n"
            "- Somebody does not breathe: the person at 112 tells you step by step what to do until help comes."
        )
    if route == Route.ASSAULT:
        return _(
            "I am sorry that this is happening. It is not your fault, and you do not have to go through it alone. I am "
            "only a program: these people listen and help, in confidence.\n\n"
            "- **If you are in danger now, call 110.**\n"
            "- You decide what happens next: you can get advice and medical help without going to the police.\n"
            "- After an assault a hospital can secure traces in confidence. Go soon, and keep your clothes.\n"
            "- Keep messages and pictures, and write down what happened and when."
        )
    return _(
        "That sounds very hard, and it is good that you say it. I am only a program: please talk to a person now. "
        "These people listen at any hour and do not ask for your name.\n\n"
        "- **If you or somebody else is in danger now, call 112.**\n"
        "- Go to somebody near you, or ask them to come. You need not be alone with this.\n"
        "- If you are worried about somebody: stay with them, listen, ask them directly, and call for help together."
    )
