"""Events about FAQs."""

from collections.abc import Sequence

from django.conf import settings
from django.urls import reverse

from chat.models import Assistant, Webhook
from chat.models.webhooks import WebhookEvent
from chat.webhooks.announce import announce
from faqs.answers.pages import address_of
from faqs.models import FAQ, main_language
from knowledge.models import Collection


def announce_published(faq_ids: Sequence[int], **_: object) -> None:
    """Receive `faqs_published`: announce each FAQ for the assistants that can answer with it."""
    hooks = Webhook.objects.taking(WebhookEvent.FAQ_PUBLISHED)
    assistants = list(Assistant.objects.filter(webhooks__in=hooks).distinct().prefetch_related("collections"))
    if not assistants:
        return
    usual = set(Collection.objects.filter(searched_by_default=True, for_evaluation=False).values_list("pk", flat=True))
    searched = {row.pk: {each.pk for each in row.collections.all()} or usual for row in assistants}
    for faq in FAQ.objects.with_parts().filter(pk__in=faq_ids).order_by("pk"):
        stands_in = {source.document.collection_id for source in faq.sources.all()}
        if faq.written_answers and faq.collection_id:
            stands_in.add(faq.collection_id)
        screen = reverse("admin:faqs_faq_change", args=[faq.pk])
        announce(
            WebhookEvent.FAQ_PUBLISHED,
            key=f"{faq.pk} {faq.updated_at.isoformat()}",
            assistants=[pk for pk, collections in searched.items() if not stands_in or stands_in & collections],
            data={
                "faq": faq.pk,
                "question": faq.question,
                "languages": sorted({main_language(faq.language), *faq.written_answers}),
                "documents": [
                    *(address_of(faq.pk, language) for language in sorted(faq.written_answers)),
                    *(source.document.url for source in faq.sources.all()),
                ],
                "url": f"{settings.PUBLIC_URL}{screen}",
            },
        )
