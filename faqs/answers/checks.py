"""Warnings for whoever saves an answer; other apps register what they can find out."""

from dataclasses import dataclass
from typing import Any, cast

from django.dispatch import Signal

from faqs.models import FAQ


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning about the answer in one language, or about the linked documents if that is empty; it stops nothing."""

    language: str
    message: str


#: Sent with `faq` and `with_pages`; a receiver returns a list of `Warned`.
answer_checked = Signal()


def list_warnings(faq: FAQ, *, with_pages: bool = True) -> list[Warned]:
    """Return what to warn of in the FAQ's answers, which may not be saved yet. Raise what a receiver raises.

    With pages the answers are compared with those that say most about the question, which takes a search; without an
    answer the linked pages are compared with the question.
    """
    lists = cast("list[tuple[Any, list[Warned]]]", answer_checked.send(sender=FAQ, faq=faq, with_pages=with_pages))
    return [warned for _receiver, found in lists for warned in found]
