"""The top of the dashboard: four figures with their change, and one sentence in words."""

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from analytics.dashboard.admin.cards import BETTER, WORSE, Card
from analytics.dashboard.admin.links import Links
from analytics.dashboard.formatting import (
    NOTHING,
    Change,
    change,
    percent,
    suppressed_text,
    whole,
    working_time,
)
from analytics.dashboard.overview import Overview
from analytics.dashboard.types import LEAST_RATED, Totals
from analytics.dashboard.worth import Worth, weigh
from analytics.models import Assumptions


@dataclass(frozen=True, slots=True)
class Headline:
    sentence: str
    cards: tuple[Card, ...]


def build_headline(found: Overview, links: Links, assumed: Assumptions, other: str = "") -> Headline:
    """Return the headline; `other` is the name of what is compared, if that is not the period before."""
    now, before = found.now, found.before
    worth, worth_before = weigh(now, assumed), weigh(before, assumed) if before else None
    return Headline(
        _compared(now, worth, other, before, worth_before) if other else _sentence(now, before, worth),
        (
            _conversations(now, before, links),
            resolution_card(now, before),
            _saved(now, worth, worth_before),
            _without_answer(now, before, links),
        ),
    )


def _conversations(now: Totals, before: Totals | None, links: Links) -> Card:
    earlier = before.conversations if before else None
    compared = change(now.conversations, earlier, "" if earlier is None else whole(earlier))
    asked = ngettext("%(count)s question", "%(count)s questions", now.questions) % {"count": whole(now.questions)}
    return Card(_("Conversations"), whole(now.conversations), compared, links.begun(), asked)


def resolution_card(now: Totals, before: Totals | None) -> Card:
    """Return the resolution rate; its hint says between which shares it must lie."""
    rate, earlier = now.resolution_rate, before.resolution_rate if before else None
    compared = change(rate, earlier, "" if earlier is None else percent(earlier), wanted=BETTER)
    bounds = now.resolved_bounds
    hint = ""
    if bounds and rate is None:
        hint = _("rated conversations are too few: %(count)s are needed") % {"count": LEAST_RATED}
    elif bounds:
        low, high = map(percent, bounds)
        hint = _("%(low)s said so, nothing speaks against %(high)s") % {"low": low, "high": high}
    said = suppressed_text() if now.confirmed is None else NOTHING if rate is None else percent(rate)
    return Card(_("Resolved"), said, compared, "", hint)


def _saved(now: Totals, worth: Worth, before: Worth | None) -> Card:
    earlier = before.minutes if before else None
    compared = change(worth.minutes, earlier, "" if earlier is None else working_time(earlier), wanted=BETTER)
    said = suppressed_text() if now.confirmed is None else working_time(worth.minutes)
    return Card(_("Work saved"), said, compared, "", _("for staff, by the assumption below"))


def _without_answer(now: Totals, before: Totals | None, links: Links) -> Card:
    share, earlier = now.abstained_share, before.abstained_share if before else None
    compared: Change = change(share, earlier, "" if earlier is None else percent(earlier), wanted=WORSE)
    said = NOTHING if share is None else percent(share)
    return Card(_("Without an answer"), said, compared, links.asked(answer="abstained"), _("of all answers"))


def _compared(now: Totals, worth: Worth, other: str, before: Totals | None, worth_before: Worth | None) -> str:
    mine = _sentence(now, None, worth)
    if before is None or before.is_empty or worth_before is None:
        return mine
    return f"{mine} {other}: {_sentence(before, None, worth_before)}"


def _sentence(now: Totals, before: Totals | None, worth: Worth) -> str:
    if now.resolution_rate is None or worth.minutes is None:
        begun = ngettext(
            "Students began %(count)s conversation.", "Students began %(count)s conversations.", now.conversations
        )
        return begun % {"count": whole(now.conversations)}
    told = {
        "count": whole(now.conversations),
        "share": percent(now.resolution_rate),
        "saved": working_time(worth.minutes),
        "points": "",
    }
    earlier = before.resolution_rate if before else None
    points = 0 if earlier is None else round(now.resolution_rate * 100) - round(earlier * 100)
    told["points"] = whole(abs(points))
    if points > 0:
        said = ngettext(
            "Of %(count)s conversations %(share)s were resolved, %(points)s point more than in the period before; "
            "that saved staff about %(saved)s of work.",
            "Of %(count)s conversations %(share)s were resolved, %(points)s points more than in the period before; "
            "that saved staff about %(saved)s of work.",
            abs(points),
        )
    elif points < 0:
        said = ngettext(
            "Of %(count)s conversations %(share)s were resolved, %(points)s point less than in the period before; "
            "that saved staff about %(saved)s of work.",
            "Of %(count)s conversations %(share)s were resolved, %(points)s points less than in the period before; "
            "that saved staff about %(saved)s of work.",
            abs(points),
        )
    elif earlier is not None:
        said = _(
            "Of %(count)s conversations %(share)s were resolved, as in the period before; that saved staff about "
            "%(saved)s of work."
        )
    else:
        said = _("Of %(count)s conversations %(share)s were resolved; that saved staff about %(saved)s of work.")
    return said % told
