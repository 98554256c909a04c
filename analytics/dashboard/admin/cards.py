"""The dashboard's single figures, each with its change and the conversations behind it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from analytics.counts.outcomes import OUTCOMES
from analytics.dashboard.admin.links import Links
from analytics.dashboard.formatting import (
    NOTHING,
    Change,
    change,
    count_text,
    decimal,
    duration,
    money,
    percent,
    suppressed_text,
    waiting_time,
    whole,
)
from analytics.dashboard.overview import Overview
from analytics.dashboard.types import Totals, Written
from analytics.dashboard.worth import weigh
from analytics.models import Assumptions

BETTER, WORSE = 1, -1
#: Which outcomes there should be more of, and less.
WANTED = (BETTER, 0, WORSE, WORSE, WORSE, 0, WORSE)
#: By the column of their count.
CONTACTS: Mapping[str, Promise] = {
    "contact_email": gettext_lazy("E-mail addresses"),
    "contact_phone": gettext_lazy("Telephone numbers"),
    "contact_page": gettext_lazy("Pages of contacts"),
}


@dataclass(frozen=True, slots=True)
class Card:
    label: str
    value: str
    change: Change
    link: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    title: str
    cards: Sequence[Card]


def build_card_groups(found: Overview, links: Links, assumed: Assumptions) -> list[Group]:
    now, before = found.now, found.before
    worth, worth_before = weigh(now, assumed), weigh(before, assumed) if before else None

    def count(label: str, name: str, link: str, *, wanted: int = 0, hint: str = "") -> Card:
        value: int | None = getattr(now, name)
        earlier: int | None = getattr(before, name) if before else None
        compared = change(value, earlier, _said(earlier, whole), wanted=wanted)
        return Card(label, count_text(value), compared, "" if value is None else link, hint)

    def ratio(label: str, name: str, link: str, say: Callable[[float], str]) -> Card:
        value: float | None = getattr(now, name)
        earlier: float | None = getattr(before, name) if before else None
        return Card(label, _said(value, say) or NOTHING, change(value, earlier, _said(earlier, say)), link)

    def stars(label: str) -> Card:
        earlier = before.rating if before else None
        said = suppressed_text() if now.ratings is None else _said(now.rating, decimal) or NOTHING
        compared = change(now.rating, earlier, _said(earlier, decimal), wanted=BETTER)
        return Card(label, said, compared, links.begun(rated=1) if now.ratings else "", _rated(now))

    def time(label: str, name: str, place: int) -> Card:
        value: float | None = getattr(found.spread, name)[place]
        earlier: float | None = getattr(found.spread_before, name)[place] if found.spread_before else None
        hint = _("half were faster") if place == 0 else _("19 of 20 were faster")
        compared = change(value, earlier, _said(earlier, duration), wanted=WORSE)
        return Card(label, duration(value), compared, links.asked(answer="complete"), hint)

    def ended(name: str, said: str, status: str, wanted: int = 0) -> Card:
        return count(said, name, links.asked(answer=status), wanted=wanted, hint=_share(getattr(now, name), now))

    def sentences(label: str, name: str) -> Card:
        share = getattr(now, name) / now.sentences if now.sentences else 0
        hint = _("%(share)s of the model’s sentences") % {"share": percent(share)} if now.sentences else ""
        return count(label, name, "", hint=hint)

    def rightly(label: str) -> Card:
        return replace(ratio(label, "rightly_share", "", percent), hint=judged_text(now.written))

    of_model = Group(
        _("Sentences of the language model"),
        [
            count(_("Written"), "sentences", ""),
            sentences(_("Shown as written"), "sentences_shown"),
            sentences(_("Quoted instead"), "sentences_quoted"),
            sentences(_("Left out"), "sentences_left_out"),
            rightly(_("Right not to show")),
        ],
    )

    def outcome(label: str, name: str, wanted: int = 0) -> Card:
        found_count: int | None = getattr(now, name)
        share = percent(found_count / now.outcomes) if found_count is not None and now.outcomes else ""
        hint = _("%(share)s of these conversations") % {"share": share} if share else ""
        return count(label, name, links.became(name) if found_count else "", wanted=wanted, hint=hint)

    def costs(label: str, name: str, hint: str) -> Card:
        value: float | None = getattr(worth, name)
        earlier: float | None = getattr(worth_before, name) if worth_before else None
        said, said_before = ("" if each is None else money(each, assumed.currency) for each in (value, earlier))
        return Card(label, said or NOTHING, change(value, earlier, said_before, wanted=WORSE), "", hint)

    what_became = Group(
        _("What became of conversations"),
        [outcome(str(label), name, wanted) for (name, label), wanted in zip(OUTCOMES.items(), WANTED, strict=True)],
    )
    of_contacts = Group(
        _("Contacts that students went to"),
        [
            count(str(label), name, "", hint=_("from an answer, or where there was none"))
            for name, label in CONTACTS.items()
        ],
    )
    prices = [
        costs(_("Language model"), "cost", _("at the prices above")),
        costs(_("A conversation"), "cost_a_conversation", _("on average")),
    ]

    def waited(label: str, name: str) -> Card:
        value, earlier = getattr(found.cases, name), getattr(found.cases_before, name)
        seconds, seconds_before = (each.total_seconds() if each else None for each in (value, earlier))
        compared = change(seconds, seconds_before, waiting_time(earlier) if earlier else "", wanted=WORSE)
        return Card(label, waiting_time(value), compared, "", _("half were faster"))

    left, left_before = found.cases, found.cases_before
    compared_count = change(left.count, left_before.count, _said(left_before.count, whole))
    compared_help = change(left.helped, left_before.helped, _said(left_before.helped, percent), wanted=BETTER)
    of_offices = Group(
        _("Questions to offices"),
        [
            Card(_("Left with an office"), count_text(left.count), compared_count, ""),
            waited(_("First reply, usually"), "first_reply"),
            waited(_("Closed, usually"), "closed"),
            Card(_("It helped"), _said(left.helped, percent) or NOTHING, compared_help, "", _("of those who said so")),
        ],
    )
    once_a_day = _("counted once a day")
    return [
        Group(
            _("Use"),
            [
                count(_("Visitors"), "visitors", links.asked(), hint=once_a_day),
                count(_("New visitors"), "newcomers", links.begun(), hint=_("counted once, when they agree")),
                count(_("Conversations"), "conversations", links.begun()),
                count(_("Questions"), "questions", links.asked()),
                count(_("Messages"), "messages", links.asked(), hint=_("questions and answers")),
                ratio(_("Questions per conversation"), "questions_a_conversation", links.asked(), decimal),
            ],
        ),
        Group(
            _("Answers"),
            [
                ended("answered", _("Answered"), "complete", BETTER),
                ended("abstained", _("No answer given"), "abstained", WORSE),
                ended("asked_back", _("Asked back"), "clarifying"),
                ended("failed", _("Failed"), "failed", WORSE),
                ended("stopped", _("Stopped by students"), "stopped", WORSE),
            ],
        ),
        *([what_became] if now.outcomes or now.confirmed is None else []),
        *([of_contacts] if now.shows_contacts or (before and before.shows_contacts) else []),
        *([of_model] if now.sentences or (before and before.sentences) else []),
        Group(
            _("Opinions"),
            [
                count(_("Thumbs up"), "thumbs_up", links.asked(feedback="up"), wanted=BETTER),
                count(_("Thumbs down"), "thumbs_down", links.asked(feedback="down"), wanted=WORSE),
                stars(_("Stars, 1 to 5")),
            ],
        ),
        *([of_offices] if left.count != 0 or left_before.count else []),
        Group(
            _("Speed and language model"),
            [
                time(_("First words, usually"), "first_token", 0),
                time(_("First words, slow"), "first_token", 1),
                time(_("Whole answer, usually"), "total", 0),
                time(_("Whole answer, slow"), "total", 1),
                count(_("Tokens read"), "prompt_tokens", links.asked(), hint=_("by the language model")),
                count(_("Tokens written"), "answer_tokens", links.asked(), hint=_("by the language model")),
                *(prices if worth.cost is not None else []),
            ],
        ),
    ]


def judged_text(written: Written) -> str:
    """Say how many sentences a share is of; empty if staff judged none."""
    said = ngettext("of %(count)s judged sentence", "of %(count)s judged sentences", written.judged)
    return said % {"count": whole(written.judged)} if written.judged else ""


def _said(value: float | None, say: Callable[[float], str]) -> str:
    return "" if value is None else say(value)


def _rated(totals: Totals) -> str:
    if not totals.ratings:
        return ""
    said = ngettext("of %(count)s rated conversation", "of %(count)s rated conversations", totals.ratings)
    return said % {"count": whole(totals.ratings)}


def _share(count: int, totals: Totals) -> str:
    ended = totals.answered + totals.abstained + totals.failed + totals.stopped + totals.asked_back
    return _("%(share)s of all answers") % {"share": percent(count / ended)} if ended else ""
