"""Configuration of the app."""

from django.apps import AppConfig
from django.db.models.signals import pre_delete
from django.utils.translation import gettext_lazy as _


class AnalyticsConfig(AppConfig):
    name = "analytics"
    verbose_name = _("Analytics")

    def ready(self) -> None:
        from analytics.cases.services import connect
        from analytics.contradictions.answers import warn_of_languages
        from analytics.counts.refresh import hold_frozen
        from analytics.models import Review
        from analytics.reports.files import forget
        from analytics.reviews.erasure import forget_with_review
        from analytics.shadow.recent import read_recent_questions
        from chat.models import Assistant, Conversation, Visitor
        from faqs.answers.checks import answer_checked
        from faqs.matching.signals import questions_wanted

        connect()
        answer_checked.connect(warn_of_languages, dispatch_uid="analytics.contradictions.answers")
        questions_wanted.connect(read_recent_questions, dispatch_uid="analytics.shadow.recent")
        for model in (Visitor, Conversation):
            pre_delete.connect(forget, sender=model, dispatch_uid="analytics.reports.files")
        pre_delete.connect(forget_with_review, sender=Review, dispatch_uid="analytics.reviews.erasure")
        pre_delete.connect(hold_frozen, sender=Assistant, dispatch_uid="analytics.counts.refresh")
