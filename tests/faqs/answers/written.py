"""FAQs whose answer staff wrote, found by questions."""

import datetime
from typing import Any

from faqs.indexing import sync_faq
from faqs.models import FAQ
from faqs.services import index_saved_faq, set_faq_status
from knowledge.indexing.documents import sync_pending
from tests.factories import FAQFactory

QUESTION = "Can I rent a locker in the library?"
PARAPHRASE = "Is it possible to rent a locker at the library?"
ANSWER = "Yes, for a deposit of **20 euros**:\n\n- at the desk on the ground floor\n- for one semester at a time"
GERMAN = "Ja, gegen **20 Euro** Pfand am Tresen im Erdgeschoss."
CHECKED = datetime.date(2026, 3, 3)


def written(*, status: str = "published", phrasings: tuple[str, ...] = (), **values: Any) -> FAQ:
    """Return an FAQ with an answer, published and indexed."""
    given = {
        "question": QUESTION,
        "answer_en": ANSWER,
        "office_en": "the University Library",
        "office_de": "der Universitätsbibliothek",
        "answer_checked_on": CHECKED,
        **values,
    }
    faq: FAQ = FAQFactory(phrasings=phrasings, **given)
    index_saved_faq(faq=faq)
    if status != "draft":
        set_faq_status(faqs=[faq], status=status)
    sync_faq(faq.pk)
    sync_pending()
    return faq
