from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class ChatConfig(AppConfig):
    name = "chat"
    verbose_name = _("Chat")

    def ready(self) -> None:
        """Write the built-in retrieval profiles down again after every migration, check what staff answer, and
        announce what they publish and what students leave with offices."""
        from chat.cases.news import case_opened
        from chat.pipeline.guardrails.linked_pages import warn_of_pages
        from chat.pipeline.guardrails.written_answers import warn
        from chat.pipeline.retrieval.profiles import write_built_in
        from chat.webhooks.cases import announce_opened
        from chat.webhooks.faqs import announce_published
        from faqs.answers.checks import answer_checked
        from faqs.versions.history import faqs_published

        post_migrate.connect(write_built_in, sender=self)
        answer_checked.connect(warn, dispatch_uid="chat.written_answers")
        answer_checked.connect(warn_of_pages, dispatch_uid="chat.linked_pages")
        case_opened.connect(announce_opened, dispatch_uid="chat.webhooks")
        faqs_published.connect(announce_published, dispatch_uid="chat.webhooks")
