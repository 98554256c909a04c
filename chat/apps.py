from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class ChatConfig(AppConfig):
    name = "chat"
    verbose_name = _("Chat")

    def ready(self) -> None:
        """The built-in retrieval profiles are the code's: every migration writes them down again."""
        from chat.pipeline.retrieval.profiles import write_built_in

        post_migrate.connect(write_built_in, sender=self)
