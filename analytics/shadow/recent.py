"""Recent questions that new matchings of FAQs are tried on (`faqs.matching.signals`)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.access import Staff


def read_recent_questions(collection_id: int, user: "Staff | None", **_signal: Any) -> Sequence[str]:
    """Return the latest distinct questions to assistants that search the collection, without personal data.

    With a user, those of the user's own assistants, if the user may read conversations.
    """
    # Every process connects this at its start; few fit.
    from analytics.privacy import anonymised_texts
    from analytics.shadow.questions import READ, RECENT, asked_questions
    from chat.models import Assistant
    from chat.pipeline.question import build_question
    from knowledge.retrieval.scope import UnknownCollection, build_scope

    if user is not None and not user.has_perm("chat.view_conversation"):
        return ()
    own = Assistant.objects.all() if user is None else Assistant.objects.visible_to(user)
    searching = []
    for assistant in own:
        try:
            scope = build_scope(build_question(assistant, "", "en").collections)
        except UnknownCollection:
            continue
        if collection_id in scope.collection_ids:
            searching.append(assistant.pk)
    asked = asked_questions().filter(conversation__assistant__in=searching).select_related("answer")[:READ]
    return list(dict.fromkeys(anonymised_texts(list(asked))))[:RECENT]
