"""Permissions for what students get: publishing, and changing or retiring what is published."""

from typing import TYPE_CHECKING

from faqs.models import FAQ

if TYPE_CHECKING:
    from core.access import Staff

Status = FAQ.Status
#: What everybody who may change FAQs may make of one.
BEFORE_PUBLISHING = (Status.DRAFT, Status.IN_REVIEW)


def may_publish(user: "Staff") -> bool:
    return user.has_perm("faqs.publish_faq")


def may_make(user: "Staff", status: str) -> bool:
    """Return whether one may give an FAQ that status, and so change one that has it."""
    return may_publish(user) or status in BEFORE_PUBLISHING
