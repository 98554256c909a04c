"""What was deleted is deleted everywhere: files of reports that may hold a conversation go when the conversation does.

Once a deletion, however many conversations it takes: two queries, and a third where there is a file. Deletions hold
a shared lock until they commit, for which `analytics.reports.jobs` waits before it begins a report: a report either
begins after the rows are gone, or is found here.
"""

from typing import Any
from weakref import WeakSet

from django.db.models import Max, Min, Model, Q, QuerySet

from analytics.models import StoredReport
from analytics.reports.storing import drop_files
from chat.models import Conversation, Message, Visitor
from knowledge.locks import Lock, hold_until_commit

State = StoredReport.State
#: Deletions of many rows at once announce each of them.
_DONE: WeakSet[QuerySet[Any]] = WeakSet()


def forget(sender: type[Model], instance: Model, origin: Any = None, **_kwargs: Any) -> None:
    """Receives `pre_delete` of visitors and conversations, in the transaction that deletes them; `origin` is the row or
    the rows that somebody deletes."""
    if isinstance(origin, QuerySet) and origin.model in (Visitor, Conversation):
        if origin in _DONE:
            return
        _DONE.add(origin)
        forget_messages(_messages_of(origin.model, origin.order_by().values("pk")))
    elif origin is instance or not isinstance(origin, (Visitor, Conversation)):
        forget_messages(_messages_of(sender, [instance.pk]))


def forget_messages(messages: QuerySet[Message]) -> None:
    """Deletes the files of reports that may hold one of them, and ends those that are being made."""
    hold_until_commit(Lock.REPORT_ERASURE, shared=True)
    kept = StoredReport.objects.filter(state__in=(State.RUNNING, State.FINISHED))
    if not kept.exists():
        return
    by_assistant: Any = messages.order_by().values_list("conversation__assistant")
    spans = by_assistant.annotate(first=Min("created_at"), last=Max("created_at"))
    may_hold = Q(pk=None)
    for assistant, first, last in spans:
        # Whose assistant was deleted may be in a report of any.
        is_theirs = Q() if assistant is None else Q(is_whole=True) | Q(assistants__contains=[assistant])
        may_hold |= is_theirs & Q(since__lte=last, until__gt=first)
    found = list(kept.filter(may_hold).select_for_update(no_key=True))
    StoredReport.objects.filter(pk__in=[each.pk for each in found]).update(state=State.ERASED)
    drop_files(found)


def _messages_of(model: type[Model], keys: Any) -> QuerySet[Message]:
    lookup = "conversation__visitor__in" if model is Visitor else "conversation__in"
    return Message.objects.filter(**{lookup: keys})
