from django.apps import AppConfig
from django.db.models.signals import post_delete
from django.utils.translation import gettext_lazy as _


class FAQsConfig(AppConfig):
    name = "faqs"
    verbose_name = _("FAQs")

    def ready(self) -> None:
        from faqs.answers.pages import delete_document
        from faqs.indexing import build_in
        from faqs.models import AnswerPage
        from knowledge.indexing.generations import generation_built

        generation_built.connect(build_in, dispatch_uid="faqs.indexing")
        post_delete.connect(delete_document, sender=AnswerPage, dispatch_uid="faqs.answers.pages")
