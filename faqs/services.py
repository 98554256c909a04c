"""What staff do to FAQs: check, save, queue after commit."""

from collections.abc import Iterable

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from faqs.models import FAQ
from faqs.tasks import index_faq
from knowledge.queueing import queue_after_commit


def index_saved_faq(*, faq: FAQ) -> None:
    """Has an FAQ indexed that a form saved; called once, when its phrasings and sources are saved too.

    Who saved it saw its documents as they are now.
    """
    faq.sources.update(verified_at=timezone.now())
    queue_after_commit(index_faq, faq.pk)


@transaction.atomic
def set_faq_status(*, faqs: Iterable[FAQ], status: str) -> int:
    """Publishes, retires or sends back; matching heeds it at once. Returns how many changed.

    Raises ValidationError when one to be published has no document: nothing is changed then.
    """
    changed = [faq for faq in faqs if faq.status != status]
    for faq in changed:
        if status == FAQ.Status.PUBLISHED and not faq.sources.exists():
            raise ValidationError(_("“%(faq)s” has no document yet: link one, then publish it.") % {"faq": faq})
        faq.status = status
        faq.save(update_fields=["status", "updated_at"])
        queue_after_commit(index_faq, faq.pk)
    return len(changed)
