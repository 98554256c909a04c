"""Replies in our own words: to greetings, to questions about the assistant, and to cries for help."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from chat.models import Kind, Message
from chat.protocol.shapes import Contact

#: Suggestions that a description of the assistant names.
EXAMPLES = 3


def small_talk_reply(kind: Kind | None, contact: Contact | None) -> str:
    """Return the reply to a message that no page answers; `kind` is None if a language model told that it is one."""
    match kind:
        case Kind.GREETING:
            return _("Hello! What would you like to know?")
        case Kind.THANKS:
            return _("You are welcome. If there is anything else, just ask.")
        case Kind.GOODBYE:
            return _("Goodbye, and good luck with your studies.")
        case Kind.COMPLAINT:
            return complaint_reply(contact)
        case Kind.INSULT:
            return abuse_reply()
        case _:
            return _("I am better at questions about studying here. What would you like to know?")


def complaint_reply(contact: Contact | None) -> str:
    """Return what somebody can do whom the last answer did not help."""
    text = _("I am sorry that this did not help. Please ask again in other words, or say more of what it is about.")
    if contact:
        text += " " + _("If that does not help either, people help you here: %(contact)s") % {"contact": named(contact)}
    return text


def person_reply(contact: Contact | None) -> str:
    """Return who helps, to somebody who would rather speak to a person."""
    if contact is None:
        return _("I am a program and cannot put you through to anybody. The university’s own pages name its offices.")
    return _("I am a program and cannot put you through to anybody, but people help you here: %(contact)s") % {
        "contact": named(contact)
    }


def named(contact: Contact) -> str:
    """Join what a contact has."""
    return ", ".join(part for part in (contact.name, contact.email, contact.url) if part)


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


def abuse_reply() -> str:
    return _("I cannot help with that. I answer questions about studying here.")


def help_reply(route: str) -> str:
    """Return what to do now, for somebody in this kind of need, in Markdown."""
    if route == Message.Route.EMERGENCY:
        return _(
            "**If somebody is in danger, call 112 now.** I am only a program and cannot call for you.\n\n"
            "- Get yourself to safety first, and warn others.\n"
            "- Say where you are, what has happened, and how many people are hurt. Wait for questions.\n"
            "- In a fire: leave by the stairs, never by the lift, and close doors behind you.\n"
            "- Somebody does not breathe: the person at 112 tells you step by step what to do until help comes."
        )
    if route == Message.Route.ASSAULT:
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
