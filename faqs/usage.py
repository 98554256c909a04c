"""Recent usage of an FAQ."""

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count, F, Q
from django.utils import timezone

from faqs.models import FAQ

RECENT = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Usage:
    """Answers of the last days that it influenced, those of them that cite it or its documents, and their thumbs."""

    matched: int
    cited: int
    up: int
    down: int


def count_usage(faq: FAQ) -> Usage:
    recent = Q(answers__created_at__gte=timezone.now() - RECENT)
    document = "answers__citations__document"
    cites = Q(**{f"{document}__faq_sources__faq": F("pk")}) | Q(**{f"{document}__answer_page__faq": F("pk")})
    counts = FAQ.objects.filter(pk=faq.pk).aggregate(
        matched=Count("answers", filter=recent, distinct=True),
        cited=Count("answers", filter=recent & cites, distinct=True),
        up=Count("answers", filter=recent & Q(answers__feedback__value=1), distinct=True),
        down=Count("answers", filter=recent & Q(answers__feedback__value=-1), distinct=True),
    )
    return Usage(**counts)
