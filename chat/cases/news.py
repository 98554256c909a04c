"""Signals of what students do in cases, for those who tell staff; sent inside the transaction that saves it."""

from django.dispatch import Signal

#: A case came to its office, new or passed on; `case`.
case_opened = Signal()
#: The student wrote again; `case`.
case_written = Signal()
