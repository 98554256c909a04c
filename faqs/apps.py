from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class FAQsConfig(AppConfig):
    name = "faqs"
    verbose_name = _("FAQs")

    def ready(self) -> None:
        from faqs.indexing import build_in
        from knowledge.indexing.generations import generation_built

        generation_built.connect(build_in, dispatch_uid="faqs.indexing")
