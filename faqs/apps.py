from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class FAQsConfig(AppConfig):
    name = "faqs"
    verbose_name = _("FAQs")

    def ready(self) -> None:
        """A new generation of the index is not whole without the FAQs' vectors."""
        from faqs.indexing import FOLLOWER
        from knowledge.indexing.generations import followers

        followers.append(FOLLOWER)
