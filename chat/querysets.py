"""Reads of assistants and of what belongs to them."""

from typing import TYPE_CHECKING

from knowledge.staff_scope import Row, StaffScoped

if TYPE_CHECKING:
    from chat.models import Assistant  # noqa: F401 (named in a base class)


class AssistantQuerySet(StaffScoped["Assistant"]):
    owner = "pk"
    owner_model = "chat.Assistant"


class OfAssistants(StaffScoped[Row]):
    """Sites, conversations and gaps: their assistant's teams look after them."""

    owner = "assistant"
    owner_model = "chat.Assistant"
