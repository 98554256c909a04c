"""From a figure to what is behind it: the conversations, or a report of the answers where only that may be read."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlencode

from django.urls import reverse

from analytics.dashboard.overview import Reach
from analytics.dashboard.visibility import View
from analytics.periods import Period, next_start
from chat.admin.conversation_filters import period_text

EXPORT_REPORTS = "analytics.export_reports"
#: The field of a report's form for what conversations are narrowed by.
REPORT_FIELDS = {
    "assistant__id__exact": "assistants",
    "site": "site",
    "language": "language",
    "answer": "statuses",
    "feedback": "thumbs",
    "outcomes": "outcomes",
    "topics": "topics",
}


@dataclass(frozen=True)
class Links:
    """Addresses of lists and rows that this member of staff may open; "" where they may not or nothing is left.

    A page has hundreds of links, so that what is the same for all is found out once.
    """

    view: View
    reach: Reach

    @cached_property
    def are_deleted(self) -> bool:
        """Return whether all conversations of the period are deleted."""
        return self.reach.kept is not None and self.view.period.last < self.reach.kept

    @cached_property
    def reads_conversations(self) -> bool:
        return self.view.by.has_perm("chat.view_conversation")

    @property
    def may_open(self) -> bool:
        """Return whether there are conversations of the period that the reader may open."""
        return self.reads_conversations and not self.are_deleted

    def asked(self, **more: str | int) -> str:
        """Link to conversations with a message of the period to which all of `more` applies."""
        return self._asked_in(self.view.period, **more)

    def begun(self, **more: str | int) -> str:
        return self._conversations(begun=period_text(self.view.period.first, self.view.period.last), **more)

    def step(self, start: datetime.date) -> str:
        """Link to conversations of one day, week or month, as far as the period holds it."""
        last = next_start(start, self.view.step) - datetime.timedelta(days=1)
        return self._asked_in(Period(max(start, self.view.period.first), min(last, self.view.period.last)))

    def _asked_in(self, period: Period, **more: str | int) -> str:
        if self.reads_conversations:
            return self._conversations(asked=period_text(period.first, period.last), **more)
        return self._report(period, more)

    def _conversations(self, **chosen: str | int) -> str:
        if not self.may_open:
            return ""
        return f"{self._list}?{urlencode(self._narrowed(chosen))}"

    @cached_property
    def _list(self) -> str:
        return reverse("admin:chat_conversation_changelist")

    def _report(self, period: Period, chosen: Mapping[str, str | int]) -> str:
        """Link to a new report of these answers, which masks and hides as its reader's rights say."""
        wanted = self._narrowed(chosen)
        if self.are_deleted or not self.view.by.has_perm(EXPORT_REPORTS) or not wanted.keys() <= REPORT_FIELDS.keys():
            return ""
        fields = {REPORT_FIELDS[name]: value for name, value in wanted.items()}
        days = {"span": "fixed", "first": period.first.isoformat(), "last": period.last.isoformat()}
        return f"{reverse('admin:analytics_report_add')}?{urlencode(days | fields)}"

    def _narrowed(self, chosen: Mapping[str, str | int]) -> dict[str, str | int]:
        narrowed = {
            "assistant__id__exact": self.view.assistant,
            "site": self.view.site,
            "language": self.view.language or None,
        }
        return {name: value for name, value in {**narrowed, **chosen}.items() if value is not None}

    def became(self, outcome: str) -> str:
        """Link to a new report of the period's answers in conversations with this outcome."""
        return self._report(self.view.period, {"outcomes": outcome})

    def answers_of(self, topic: int) -> str:
        """Link to a new report of the period's answers to a topic."""
        return self._report(self.view.period, {"topics": topic})

    def faq(self, pk: int) -> str:
        return self._row("faqs", "faq", pk)

    def document(self, pk: int) -> str:
        return self._row("knowledge", "document", pk)

    def gap(self, pk: int) -> str:
        return self._row("analytics", "gap", pk)

    def topic(self, pk: int) -> str:
        """Link to the topic in this view."""
        view = self.view
        chosen = {"from": view.period.first, "to": view.period.last, "site": view.site, "language": view.language}
        return f"{reverse('topic', args=[pk])}?{urlencode({name: value for name, value in chosen.items() if value})}"

    def _row(self, app: str, model: str, pk: int) -> str:
        may = self.view.by.has_perm(f"{app}.view_{model}") or self.view.by.has_perm(f"{app}.change_{model}")
        return reverse(f"admin:{app}_{model}_change", args=[pk]) if may else ""
