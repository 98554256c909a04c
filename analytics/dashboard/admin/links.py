"""From a figure to the conversations behind it."""

import datetime
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from analytics.dashboard.overview import Reach
from analytics.dashboard.visibility import View
from analytics.periods import Period, next_start
from chat.admin.conversation_filters import period_text


@dataclass(frozen=True, slots=True)
class Links:
    """Addresses of lists and rows that this member of staff may open; "" where they may not or nothing is left."""

    view: View
    reach: Reach

    @property
    def are_deleted(self) -> bool:
        """Return whether all conversations of the period are deleted."""
        return self.reach.kept is not None and self.view.period.last < self.reach.kept

    @property
    def may_open(self) -> bool:
        return self.view.by.has_perm("chat.view_conversation") and not self.are_deleted

    def asked(self, **more: str | int) -> str:
        """Link to conversations with a message of the period to which all of `more` applies."""
        return self._asked_in(self.view.period, **more)

    def begun(self, **more: str | int) -> str:
        return self._list(begun=period_text(self.view.period.first, self.view.period.last), **more)

    def step(self, start: datetime.date) -> str:
        """Link to conversations of one day, week or month, as far as the period holds it."""
        last = next_start(start, self.view.step) - datetime.timedelta(days=1)
        return self._asked_in(Period(max(start, self.view.period.first), min(last, self.view.period.last)))

    def _asked_in(self, period: Period, **more: str | int) -> str:
        return self._list(asked=period_text(period.first, period.last), **more)

    def _list(self, **chosen: str | int) -> str:
        if not self.may_open:
            return ""
        narrowed = {
            "assistant__id__exact": self.view.assistant,
            "site": self.view.site,
            "language": self.view.language or None,
        }
        address = {name: value for name, value in (narrowed | chosen).items() if value is not None}
        return f"{reverse('admin:chat_conversation_changelist')}?{urlencode(address)}"

    def faq(self, pk: int) -> str:
        return self._row("faqs", "faq", pk)

    def document(self, pk: int) -> str:
        return self._row("knowledge", "document", pk)

    def gap(self, pk: int) -> str:
        return self._row("analytics", "gap", pk)

    def _row(self, app: str, model: str, pk: int) -> str:
        may = self.view.by.has_perm(f"{app}.view_{model}") or self.view.by.has_perm(f"{app}.change_{model}")
        return reverse(f"admin:{app}_{model}_change", args=[pk]) if may else ""
