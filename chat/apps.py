from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class ChatConfig(AppConfig):
    name = "chat"
    verbose_name = _("Chat")

    def ready(self) -> None:
        """Write the built-in retrieval profiles down again after every migration, and check what staff answer."""
        from chat.pipeline.guardrails.written_answers import warn
        from chat.pipeline.retrieval.profiles import write_built_in
        from faqs.answers.checks import answer_checked

        post_migrate.connect(write_built_in, sender=self)
        answer_checked.connect(warn, dispatch_uid="chat.written_answers")
