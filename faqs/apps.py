from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class FAQsConfig(AppConfig):
    name = "faqs"
    verbose_name = _("FAQs")
