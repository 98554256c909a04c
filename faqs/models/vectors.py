"""Vectors of an FAQ's texts."""

from django.db import models
from pgvector.django import HalfVectorField

from faqs.models.faqs import FAQ
from knowledge.models import Generation


class FAQVector(models.Model):
    """A way to ask (question or phrasing) or the reference answer, with its vector; rewritten by `faqs.indexing`.

    Students' questions are matched to ways to ask; the answer tells which passages of the documents to rank first.
    """

    class Kind(models.TextChoices):
        ASKS = "asks"
        ANSWERS = "answers"

    faq = models.ForeignKey(FAQ, on_delete=models.CASCADE, related_name="vectors")
    kind = models.CharField(max_length=8, choices=Kind, default=Kind.ASKS)
    text = models.TextField()
    generation = models.ForeignKey(Generation, on_delete=models.CASCADE, related_name="+")
    embedding = HalfVectorField()

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return self.text
