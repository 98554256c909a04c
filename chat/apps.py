from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class ChatConfig(AppConfig):
    name = "chat"
    verbose_name = _("Chat")

    def ready(self) -> None:
        """Write the built-in retrieval profiles down again after every migration: they are the code's."""
        from chat.pipeline.retrieval.profiles import write_built_in

        post_migrate.connect(write_built_in, sender=self)
