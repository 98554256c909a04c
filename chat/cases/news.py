"""Signals of what happens in cases, for those who tell staff; sent inside the transaction that saves it."""

from django.dispatch import Signal

#: A case came to its office, new or passed on; `case`.
case_opened = Signal()
#: The student wrote again; `case`.
case_written = Signal()
#: The office replied to it or closed it, so that it waits no more; `case`.
case_settled = Signal()
