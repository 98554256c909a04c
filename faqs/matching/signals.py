"""Signals of matching, apart from what fits: every process connects them at its start."""

from django.dispatch import Signal

#: Sent with `collection_id` and `user`: a receiver returns the recent questions to assistants that search the
#: collection, without personal data; with a user, those that the user may read. FAQs know no conversations.
questions_wanted = Signal()
