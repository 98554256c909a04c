"""A change of an answer: its text was checked on the day of the change, and an office has to sign it."""

from collections.abc import Mapping
from datetime import date

from django.utils import timezone
from django.utils.translation import gettext as _

from faqs.models import FAQ

SIGNED = ("answer", "office")


def redate(faq: FAQ, before: Mapping[str, str]) -> bool:
    """Date a reworded answer today, unless another day was entered; return whether that replaced an earlier day.

    `before` are the FAQ's values of `ANSWER_FIELDS` until now, as `faqs.versions.snapshots.read_answer` returns them.
    An earlier day belongs to the earlier text: nobody has checked the new one on it.
    """
    was, today = before["answer_checked_on"], timezone.localdate()
    is_entered = faq.answer_checked_on is not None and faq.answer_checked_on.isoformat() != was
    is_reworded = any(text != before[f"answer_{code}"].strip() for code, text in faq.written_answers.items())
    if is_reworded and not is_entered:
        faq.answer_checked_on = today
    faq.date_answer()
    return is_reworded and not is_entered and _is_other(was, today)


def list_unsigned(faq: FAQ, before: Mapping[str, str] | None = None) -> list[str]:
    """Return the languages of answers without an office; with `before` only those that were changed since."""
    return [
        code
        for code in faq.written_answers
        if not faq.office(code).strip() and (before is None or _is_changed(faq, code, before))
    ]


def redated_message() -> str:
    """Say that a reworded answer got a new date."""
    return _(
        "The answer has another text, so students now read that it was checked today. "
        "If the office checked it on another day, enter that day."
    )


def unsigned_message() -> str:
    """Ask for the office that signs an answer."""
    return _("Write which office answers: students see it with the answer.")


def _is_changed(faq: FAQ, code: str, before: Mapping[str, str]) -> bool:
    return any(str(getattr(faq, f"{name}_{code}")).strip() != before[f"{name}_{code}"].strip() for name in SIGNED)


def _is_other(was: str, day: date) -> bool:
    return was not in {"", day.isoformat()}
