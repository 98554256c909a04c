"""Contacts for a student in need: the assistant's own, or those that help everywhere in Germany."""

from collections.abc import Iterable, Sequence

from chat.models import Assistant, EmergencyContact, Need
from chat.protocol.shapes import HelpCard, HelpContact

EVERY = tuple(Need.values)
#: Emergency numbers and helplines in Germany that are free and always or daily open (November 2026), as
#: (kinds of need, name, name in German, phone, page); a new assistant begins with them.
BUILT_IN = (
    (
        EVERY,
        "Emergency services: ambulance, fire",
        "Notruf: Rettungsdienst, Feuerwehr",
        "112",
        "",
    ),
    ((Need.EMERGENCY, Need.ASSAULT), "Police", "Polizei", "110", ""),
    (
        (Need.CRISIS,),
        "TelefonSeelsorge: free, anonymous, day and night",
        "TelefonSeelsorge: kostenlos, anonym, Tag und Nacht",
        "0800 111 0 111",
        "https://www.telefonseelsorge.de",
    ),
    (
        (Need.CRISIS,),
        "TelefonSeelsorge, second number",
        "TelefonSeelsorge, zweite Nummer",
        "116 123",
        "",
    ),
    (
        (Need.ASSAULT,),
        "Violence against women helpline: free, anonymous, day and night, in many languages",
        "Hilfetelefon Gewalt gegen Frauen: kostenlos, anonym, Tag und Nacht, in vielen Sprachen",
        "116 016",
        "https://www.hilfetelefon.de",
    ),
    (
        (Need.ASSAULT,),
        "WEISSER RING, helpline for victims: free, 7 am to 10 pm",
        "WEISSER RING, Opfer-Telefon: kostenlos, 7 bis 22 Uhr",
        "116 006",
        "https://weisser-ring.de",
    ),
)


def built_in(assistant: Assistant) -> list[EmergencyContact]:
    """Return the contacts that a new assistant begins with, not saved."""
    return [
        EmergencyContact(
            assistant=assistant, needs=list(needs), name=name, name_de=german, phone=phone, url=url, position=position
        )
        for position, (needs, name, german, phone, url) in enumerate(BUILT_IN, start=1)
    ]


def list_contacts(assistant: Assistant) -> list[EmergencyContact]:
    """Return the assistant's contacts in order; for a kind of need without any, the built-in ones."""
    own = list(assistant.emergency_contacts.all()) if assistant.pk else []
    missing = {*Need.values}.difference(*(contact.needs for contact in own))
    others = built_in(assistant) if missing else []
    for each in others:
        each.needs = [need for need in each.needs if need in missing]
    return [*own, *others]


def build_card(need: str, contacts: Iterable[EmergencyContact], language: str) -> HelpCard:
    """Return the card for this kind of need."""
    shown: Sequence[HelpContact] = [
        HelpContact(each.name_in(language), each.phone, each.url, each.email) for each in contacts if need in each.needs
    ]
    return HelpCard(need, tuple(shown))
